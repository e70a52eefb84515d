//! Reads the defaults.

use toml::Table;

/// The text of `default.toml`: the defaults, and the manual.
pub const DEFAULT: &str = include_str!("../default.toml");

/// The defaults as a table. It has every key, and its values have the types of the settings.
pub(crate) fn defaults() -> Table {
    DEFAULT.parse().unwrap_or_else(|error| panic!("default.toml: {error}"))
}
