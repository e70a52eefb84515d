//! The answer of the programs to `--version`.

/// The version, and the commit that was built if it is known: `0.1.0 (0123456789ab)`.
pub fn version() -> &'static str {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const WITH_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("COMMIT"), ")");
    if env!("COMMIT").is_empty() { VERSION } else { WITH_COMMIT }
}
