//! Finds the commit that is built. `--version` shows it.
//!
//! A debug build does not look for the commit. Every crate depends on this one, so each commit would make Cargo build
//! all of them again.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let is_debug = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let found = || if is_debug { None } else { of_package().or_else(of_checkout) };
    let commit = std::env::var("COMMIT").ok().or_else(found);
    println!("cargo::rustc-env=COMMIT={}", commit.unwrap_or_default());
}

/// The commit of a package from a registry. `cargo package` wrote it to a file of the package.
fn of_package() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, after) = info.split_once("\"sha1\": \"")?;
    Some(short(after))
}

/// The commit of a checkout, from git.
fn of_checkout() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // A repository of another project may contain these sources, for example in the packaging of a distribution. Its
    // commit is not ours.
    let root = git(&["rev-parse", "--show-toplevel"])?;
    Path::new(&root).join("config/build.rs").exists().then_some(())?;
    for name in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--path-format=absolute", "--git-path", name])?);
    }
    git(&["rev-parse", "HEAD"]).map(|commit| short(&commit))
}

fn short(commit: &str) -> String {
    commit.chars().take_while(char::is_ascii_hexdigit).take(12).collect()
}
