//! The cargo commands in documents and in comments must name packages and targets that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use regex::Regex;
use serde_json::Value;

/// The targets of each package of the workspace.
fn targets(root: &Path) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().context("packages")?;
    let of = |package: &Value| package["targets"].as_array().into_iter().flatten().map(name).collect();
    Ok(packages.iter().map(|package| (name(package), of(package))).collect())
}

/// The commands in a text that name a package or a target that does not exist.
fn wrong(text: &str, targets: &BTreeMap<String, BTreeSet<String>>) -> anyhow::Result<Vec<String>> {
    let command = Regex::new(r#"cargo (?:run|test|bench|build|clippy|doc)\b[^`"\n|&]*"#)?;
    let package = Regex::new(r"(?:-p|--package)[ =]([\w-]+)")?;
    let target = Regex::new(r"--(?:bin|example|bench|test)[ =]([\w-]+)")?;
    let is_wrong = |line: &&str| {
        let named: Vec<_> = package.captures_iter(line).map(|found| found[1].to_owned()).collect();
        let known = |name: &str| match &named[..] {
            [] => targets.values().any(|targets| targets.contains(name)),
            named => named.iter().filter_map(|package| targets.get(package)).any(|targets| targets.contains(name)),
        };
        !named.iter().all(|package| targets.contains_key(package))
            || !target.captures_iter(line).all(|found| known(&found[1]))
    };
    Ok(command.find_iter(text).map(|found| found.as_str()).filter(is_wrong).map(str::to_owned).collect())
}

#[test]
fn every_cargo_command_in_a_document_names_what_is_there() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the root")?;
    let targets = targets(root)?;
    let (mut folders, mut read, mut found) = (vec![root.to_owned()], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !matches!(name.as_str(), "target" | ".git" | "node_modules") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "md" || end == "rs" || end == "py") {
                read += 1;
                let text = std::fs::read_to_string(&path)?;
                found.extend(wrong(&text, &targets)?.into_iter().map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    assert!(read > 100, "only {read} files");
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

#[test]
fn a_command_that_names_what_is_not_there_is_found() -> anyhow::Result<()> {
    let targets = targets(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    // The two halves are joined here, so that the other test does not find this command in this file.
    let command = |rest: &str| format!("run `{} {rest}` first", "cargo run --release");
    assert_eq!(wrong(&command("-p tests --bin choosing -- real"), &targets)?, Vec::<String>::new());
    for rest in ["-p nobody --bin choosing", "-p tests --bin nothing", "--example nothing"] {
        assert_eq!(wrong(&command(rest), &targets)?.len(), 1, "{rest}");
    }
    Ok(())
}
