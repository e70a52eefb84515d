//! The defaults.

use toml::Table;

/// The defaults, and the manual.
pub const DEFAULT: &str = include_str!("../default.toml");

/// The defaults as a table; its keys are the keys there are, and its values have the types they take.
pub(crate) fn defaults() -> Table {
    DEFAULT.parse().unwrap_or_else(|error| panic!("default.toml: {error}"))
}
