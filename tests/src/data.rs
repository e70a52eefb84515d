//! Test data that others made. It stays outside the repository; if it is absent, tests are skipped and print the
//! reason.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// A file or folder of the shared data. If it is absent, prints so and returns `None`.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if !path.exists() {
        println!("skipped: {} is absent", path.display());
        return None;
    }
    Some(path)
}

/// The folder below `target/` into which an archive of the shared data is unpacked. The first caller unpacks it.
pub fn unpacked(archive: &str) -> anyhow::Result<Option<PathBuf>> {
    let Some(source) = shared(archive) else { return Ok(None) };
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/data");
    let done = base.join(archive);
    if !done.exists() {
        std::fs::create_dir_all(done.parent().context("a folder")?)?;
        let fresh = tempfile::tempdir_in(&base)?;
        let status = Command::new("tar").arg("-xJf").arg(&source).arg("-C").arg(fresh.path()).status()?;
        ensure!(status.success(), "tar could not unpack {}", source.display());
        // If another process was faster, its folder is used.
        if let Err(error) = std::fs::rename(fresh.path(), &done) {
            ensure!(done.exists(), "{error}");
        }
    }
    Ok(Some(done))
}

/// The folder of the documentation site `name`, such as `postgresql-15`.
pub fn docs(name: &str) -> anyhow::Result<Option<PathBuf>> {
    let archive = name.split('-').next().context("a name")?;
    Ok(unpacked(&format!("docs/{archive}.tar.xz"))?.map(|folder| folder.join(name)))
}

/// The pages of a documentation site to which links lead, as paths in the site, and the path of its front page.
pub fn reachable(name: &str) -> anyhow::Result<Option<Vec<String>>> {
    #[derive(serde::Deserialize)]
    struct Site {
        reachable_html: Vec<String>,
    }
    let Some(file) = shared("docs/reachable.json") else { return Ok(None) };
    let sites: std::collections::BTreeMap<String, Site> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let site = sites.get(name).with_context(|| format!("{name} is not in reachable.json"))?;
    let prefix = format!("{name}/");
    Ok(Some(site.reachable_html.iter().map(|path| path.trim_start_matches(&prefix).to_owned()).collect()))
}
