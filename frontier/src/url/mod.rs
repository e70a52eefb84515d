//! The life of a URL: its states, the table of the changes that are allowed, and the only code that changes a state.
//!
//! A URL is in exactly one state ([`State`]). Its record lies under its identity in [`crate::spaces::URLS`]; memory
//! holds one byte for it ([`Standing`]). A URL that is queued and was never visited has no such record: its queue entry
//! takes its place, because ten million queued URLs need no second record. Every change of state goes through
//! [`Urls::change`] or [`Urls::queue`]. Both refuse a change that the table ([`table`]) does not have.

pub mod compact;
mod counters;
mod forbidden;
mod life;
mod standing;
mod stored;
mod table;
mod urls;
mod waiting_urls;

pub use counters::Counters;
pub use life::{End, HoldCause, KeptLink, State, Visit};
pub use standing::{EndedAs, Note, Standing};
pub use urls::{Urls, held_for, pair};
pub use waiting_urls::{WaitPlace, waiting};
