//! What the programs answer to `--version`.

/// The version, and the commit it was built from where that is known: `0.1.0 (0123456789ab)`.
pub fn version() -> &'static str {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const WITH_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("COMMIT"), ")");
    if env!("COMMIT").is_empty() { VERSION } else { WITH_COMMIT }
}
