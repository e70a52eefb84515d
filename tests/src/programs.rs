//! The programs of this package that others of it run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The program of this package with this name: for a test the one that Cargo built before it, for a program one that is built
/// now, like itself.
pub fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let folder = this.parent().context("a folder")?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    if folder.ends_with("deps") {
        // Tests lie one folder deeper than programs.
        return Ok(folder.with_file_name(file));
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "tests", "--bin", name]);
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    ensure!(cargo.status()?.success(), "cargo build failed");
    Ok(folder.join(file))
}
