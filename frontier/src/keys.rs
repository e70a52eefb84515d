pub use dedup_stage::url::Keys;
