//! Libraries that are loaded between a program and the system (`LD_PRELOAD`). They are compiled when a test needs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;

/// Compiles `shim/NAME.c` into `folder`, and returns the path of the library.
pub fn compile(name: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("shim").join(name).with_extension("c");
    let library = folder.join(name).with_extension("so");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    let status = command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status()?;
    ensure!(status.success(), "the C compiler ended with {status}");
    Ok(library)
}
