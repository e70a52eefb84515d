//! Typed settings. `default.toml` is both the defaults and the manual: every key is there, with its comment.

mod load;
mod settings;
mod units;

pub use settings::{
    Dedup, Fetch, Focus, Limits, OnDuplicate, Output, Politeness, Progress, Robots, Scope, ScopeKind, Settings, Urls,
};
pub use units::{Duration, Size};
