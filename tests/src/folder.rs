//! Folders of HTML pages: the pages by path, and the words between their tags.

use std::collections::BTreeMap;
use std::path::Path;

/// The HTML pages of a folder and its subfolders, by path.
pub fn pages(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    read(folder, folder, &mut pages)?;
    Ok(pages)
}

fn read(base: &Path, folder: &Path, pages: &mut BTreeMap<String, String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(base, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let html = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            pages.insert(path.strip_prefix(base)?.to_string_lossy().into_owned(), html);
        }
    }
    Ok(())
}

/// The words between the tags, in lower case, without scripts and styles.
pub fn words(html: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = &rest[at..];
        let hidden = ["script", "style"].into_iter().find(|name| rest[1..].starts_with(name));
        let end = hidden.and_then(|name| rest.find(&format!("</{name}")));
        rest = &rest[end.unwrap_or(0)..];
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
    }
    text.push_str(rest);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
