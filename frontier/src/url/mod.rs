//! The life of a URL: one record, one table of transitions, and the only code that writes either.
//!
//! A URL stands in exactly one state ([`State`]). Its record lies under its identity in [`crate::spaces::URLS`]; memory holds
//! one byte of it ([`Standing`]). A URL that was never visited and is queued has no record of its own: its queue entry is
//! one already, and ten million queued URLs need no second. Every change goes through [`Urls::change`], which refuses
//! whatever the table ([`table`]) does not have.

pub mod compact;
mod counters;
mod life;
mod standing;
mod stored;
mod table;
mod urls;

pub use counters::Counters;
pub use life::{Cause, End, Kept, State, Visit};
pub use standing::{Ended, Note, Standing};
pub use urls::{Urls, held_for, pair};
