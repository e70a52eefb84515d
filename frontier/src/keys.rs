//! How URLs become identities: see [`dedup_stage::url::Keys`].

pub use dedup_stage::url::Keys;
