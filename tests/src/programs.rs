//! The programs of this package that tests and other programs run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The path of the program of this package with this name. In a test it is the one that Cargo built before the test. In
/// a program it is built now, with the same profile as that program.
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
