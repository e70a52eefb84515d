//! What a crawl directory holds, in the forms of other programs: WACZ, and tables as CSV. The command `crawler export` calls
//! these; they read outputs of a crawl alone, nothing of its state.

pub mod csv;
mod wacz;

pub use wacz::of_crawl as wacz_of_crawl;
