//! Trials end, whatever their pages are. A trial without a result would keep all other links of its kind waiting.

use tests::crawl::text;
use tests::scripted::words;
use tests::told::{Asked, Told, html, missing};

/// The number of links that only the second of two pages with the same text has.
const LINKS: usize = 12;

/// Catches trials that have no result because their page is a file, or has too little text to teach anything.
#[test]
fn trials_of_short_pages_and_of_files_end() -> anyhow::Result<()> {
    for kind in ["short", "file"] {
        let told = Told::new(move |request: &Asked| {
            let same = words(1, 300);
            let number = request.target.trim_start_matches("/n/").parse::<u64>();
            match (request.target.as_str(), number) {
                ("/", _) => html("<a href=/a>a</a> <a href=/b>b</a>"),
                ("/a", _) => html(format!("<p>{same}</p>")),
                ("/b", _) => html(
                    format!("<p>{same}</p>")
                        + &(0..LINKS).map(|n| format!("<a href=/n/{n}>on</a> ")).collect::<String>(),
                ),
                (_, Ok(number)) if kind == "short" => html(format!("<p>{}</p>", words(number + 50, 4))),
                (_, Ok(number)) => (200, vec![("content-type", "image/png".into())], words(number, 40).into_bytes()),
                _ => missing(),
            }
        })?;
        let dir = tempfile::tempdir()?;
        let crawled = told.crawl(dir.path(), "http://a.test/", &[("dedup.rescue", "0%")])?;
        let tried = crawled.pages.iter().filter(|page| text(page, "url").contains("/n/")).count();
        println!("{kind}: {tried} of {LINKS}");
        assert!(tried > 2, "{kind}: {tried}");
    }
    Ok(())
}
