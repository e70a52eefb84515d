//! What the outputs of a crawl hold, in other forms: main text, clusters, tables as CSV, WACZ. The command `crawler export`
//! calls these; they read outputs of a crawl alone, nothing of its state.

mod clusters;
mod csv;
mod texts;
mod wacz;

pub use clusters::write as write_clusters;
pub use csv::Table;
pub use texts::write as write_texts;
pub use wacz::of_crawl as wacz_of_crawl;
