//! Typed settings. `default.toml` is both the defaults and the manual: every key is there, with its comment.
//!
//! Settings are built in layers, the weakest first: the defaults, a profile, files, the environment, flags. See
//! [`Layers`].

pub mod bounds;
mod check;
mod connect_to;
mod defaults;
mod deprecated;
mod error;
mod flags;
mod layers;
mod nearest;
mod profiles;
mod rotate;
mod secrets;
mod settings;
mod units;
mod version;

pub use connect_to::{ConnectTo, Target};
pub use defaults::DEFAULT;
pub use deprecated::DEPRECATED;
pub use error::{ConfigError, Origin};
pub use flags::flags;
pub use layers::Layers;
pub use nearest::nearest;
pub use profiles::PROFILES;
pub use rotate::{Rotate, Rotation};
pub use secrets::without_user;
pub use settings::{
    Access, Dedup, Fetch, Focus, Limits, LogFormat, OnDuplicate, Output, Politeness, Priority, Progress, Refresh,
    Robots, Scope, ScopeKind, Settings, Switch, Urls,
};
pub use units::{Duration, Share, Shares, Size};
pub use version::version;
