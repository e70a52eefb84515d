//! The outputs of a crawl in other forms: main text, clusters, tables as CSV and Parquet, WACZ. The command `crawler
//! export` calls these. All except the link graph read only outputs of a crawl, and nothing of its state.

mod clusters;
pub mod columns;
mod csv;
mod latest;
mod links;
#[cfg(feature = "arrow")]
mod parquet;
mod texts;
mod wacz;

#[cfg(feature = "arrow")]
pub use self::parquet::ParquetTable;
pub use clusters::write as write_clusters;
pub use csv::Table;
pub use links::{Link, Links, write as write_links};
pub use texts::write as write_texts;
pub use wacz::{Missing, of_crawl as wacz_of_crawl};
