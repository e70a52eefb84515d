//! Writes the main text of pages as `OUT/ours/NAME.txt` (and `.md`), and what the crate `dom_smoothie` gives for it
//! alone as `OUT/dom_smoothie/NAME.txt`, for `tests/peers/extract/bench.py`: `main_text PAGES OUT`, where PAGES has one
//! folder a page with `source.html` in it.

use std::path::Path;
use std::time::Instant;

use crawler::extract::{extract, markdown, text};
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pages, out] = arguments.as_slice() else {
        eprintln!("usage: main_text PAGES OUT");
        std::process::exit(2);
    };
    let mut sources = Vec::new();
    for folder in std::fs::read_dir(pages)? {
        let folder = folder?.path();
        if let Ok(html) = std::fs::read(folder.join("source.html")) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            sources.push((name, String::from_utf8_lossy(&html).into_owned()));
        }
    }
    let url = Url::parse("http://pages.example/").expect("a URL");
    let ours = |html: &str| {
        let main = extract(html, &url);
        (text::write(&main), markdown::write(&main))
    };
    write(Path::new(out), "ours", &sources, ours)?;
    let theirs = |html: &str| {
        let config = Config { text_mode: TextMode::Formatted, ..Config::default() };
        let article = Readability::new(html, Some(url.as_str()), Some(config)).and_then(|mut reader| reader.parse());
        (article.map(|article| article.text_content.to_string()).unwrap_or_default(), String::new())
    };
    write(Path::new(out), "dom_smoothie", &sources, theirs)
}

/// Runs one tool over all pages, and notes the seconds it took.
fn write(
    out: &Path,
    tool: &str,
    sources: &[(String, String)],
    extract: impl Fn(&str) -> (String, String),
) -> std::io::Result<()> {
    let folder = out.join(tool);
    std::fs::create_dir_all(&folder)?;
    let started = Instant::now();
    let texts: Vec<(String, String)> = sources.iter().map(|(_, html)| extract(html)).collect();
    std::fs::write(out.join(format!("{tool}.seconds")), started.elapsed().as_secs_f64().to_string())?;
    for ((name, _), (text, markdown)) in sources.iter().zip(texts) {
        std::fs::write(folder.join(format!("{name}.txt")), text)?;
        if !markdown.is_empty() {
            std::fs::write(folder.join(format!("{name}.md")), markdown)?;
        }
    }
    Ok(())
}
