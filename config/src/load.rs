//! From files to settings: layers of TOML over the defaults, and errors that name the nearest known key.

use crate::Settings;

/// The defaults, and the manual.
pub const DEFAULT: &str = include_str!("../default.toml");

/// Reads complete settings from TOML.
pub(crate) fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}
