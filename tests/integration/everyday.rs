//! What sites say about the use of their pages, and what they say in common formats (PDF files, feeds): from the server
//! into the outputs.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tests::crawl::{Crawled, lines, text};
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing};

fn page<'a>(crawled: &'a Crawled, url: &str) -> &'a Value {
    let found = crawled.pages.iter().find(|page| text(page, "url") == url);
    found.unwrap_or_else(|| panic!("{url} is not among {:?}", crawled.urls()))
}

fn with(answer: Answer, name: &'static str, value: &str) -> Answer {
    let (status, mut fields, body) = answer;
    fields.push((name, value.to_owned()));
    (status, fields, body)
}

/// A site that speaks of use in every place where a site can.
fn careful(asked: &Asked) -> Answer {
    let say = |n: u64| format!("<p>{}</p>", words(n, 200));
    match asked.target.as_str() {
        "/robots.txt" => {
            let rules = "User-agent: *\nContent-Usage: /closed/ train-ai=n\nAllow: /\n";
            (200, vec![("content-type", "text/plain".into())], rules.into())
        }
        "/.well-known/tdmrep.json" => {
            let rules = json!([{"location": "/mined/", "tdm-reservation": 1}]).to_string();
            (200, vec![("content-type", "application/json".into())], rules.into_bytes())
        }
        "/" => html(
            "<a href=/closed/a>a</a><a href=/mined/b>b</a><a href=/header>c</a><a href=/meta>d</a><a href=/open>e</a>",
        ),
        "/closed/a" => html(say(1)),
        "/mined/b" => html(say(2)),
        "/header" => with(html(say(3)), "x-robots-tag", "noai"),
        "/meta" => html(format!(
            "<title>Kept</title><meta name=robots content='noarchive, noai'><link rel=license href=/l>{}",
            say(4)
        )),
        "/open" => html(say(5)),
        _ => missing(),
    }
}

#[test]
fn without_a_purpose_everything_is_recorded_and_nothing_decided() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(careful)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://c.test/", &[])?;
    let said = |path: &str| page(&crawled, &format!("http://c.test{path}"))["permissions"].clone();
    assert_eq!(said("/closed/a"), json!({"train-ai": {"robots.txt": "n"}}));
    assert_eq!(said("/header"), json!({"x-robots-tag": ["noai"]}));
    assert_eq!(said("/meta"), json!({"robots-meta": ["noarchive", "noai"], "licences": ["http://c.test/l"]}));
    assert_eq!((said("/open"), said("/mined/b")), (Value::Null, Value::Null));
    assert!(told.of("c.test", "/.well-known/tdmrep.json").is_empty(), "nobody has asked for it");
    Ok(())
}

#[test]
fn what_is_forbidden_for_a_purpose_is_not_fetched_or_not_kept() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(careful)?, tempfile::tempdir()?);
    let keys = [("access.purpose", "train"), ("output.warc", "true"), ("output.text", "true")];
    let crawled = told.crawl(dir.path(), "http://c.test/", &keys)?;
    for path in ["/closed/a", "/mined/b"] {
        assert!(told.of("c.test", path).is_empty(), "{path}");
        let url = format!("http://c.test{path}");
        let skipped = crawled.skipped.iter().find(|skipped| text(skipped, "url") == url);
        assert_eq!(skipped.map(|skipped| text(skipped, "reason")), Some("purpose"), "{path}");
    }
    for (path, why) in [("/header", "not stored: noai (header)"), ("/meta", "not stored: noai (meta)")] {
        let page = page(&crawled, &format!("http://c.test{path}"));
        assert_eq!(
            (text(page, "error"), &page["simhash"], &page["title"]),
            (why, &Value::Null, &Value::Null),
            "{path}"
        );
    }
    assert_eq!(crawled.stats.not_kept, 2);
    let why = run(&["why", &dir.path().to_string_lossy(), "http://c.test/meta"])?;
    assert!(why.contains("may not be used for the purpose of this crawl"), "{why}");
    let texts = lines(dir.path(), "text.jsonl")?;
    let index = std::fs::read_to_string(dir.path().join("warc/index.cdxj"))?;
    for (path, is_kept) in [("/header", false), ("/meta", false), ("/open", true)] {
        let url = format!("http://c.test{path}");
        assert_eq!(texts.iter().any(|line| text(line, "url") == url), is_kept, "{path}");
        assert_eq!(index.contains(&format!("\"url\":\"{url}\"")), is_kept, "{path} in {index}");
    }
    // The same site for a purpose to which it does not object.
    let other = tempfile::tempdir()?;
    let crawled = told.crawl(other.path(), "http://c.test/", &[("access.purpose", "search")])?;
    assert_eq!(crawled.pages.iter().filter(|page| page["simhash"].is_string()).count(), 5);
    assert_eq!(crawled.stats.not_kept, 0);
    Ok(())
}

/// Catches a crawler that takes a failed answer for an empty `tdmrep.json` although it asks for the file again.
#[test]
fn a_reservation_holds_although_the_first_request_for_it_fails() -> anyhow::Result<()> {
    let failed = AtomicU32::new(0);
    let site = move |asked: &Asked| match asked.target.as_str() {
        "/" => html("<a href=/mined/b>b</a><a href=/.well-known/tdmrep.json>c</a><a href=/open>e</a>"),
        "/.well-known/tdmrep.json" if failed.fetch_add(1, Ordering::Relaxed) != 1 => (500, Vec::new(), Vec::new()),
        _ => careful(asked),
    };
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let keys = [("access.purpose", "mine"), ("limits.patience", "20s")];
    let crawled = told.crawl(dir.path(), "http://c.test/", &keys)?;
    assert!(told.of("c.test", "/.well-known/tdmrep.json").len() > 1);
    assert!(crawled.urls().contains(&"http://c.test/open"), "{:?}", crawled.urls());
    assert!(told.of("c.test", "/mined/b").is_empty(), "{:?}", told.asked());
    Ok(())
}

/// A PDF file of one page with this text and a link.
fn pdf(text: &str, link: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
    let annotation = format!("<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI ({link}) >> >>");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /Annots [{annotation}] >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let (mut bytes, mut places) = (b"%PDF-1.4\n".to_vec(), Vec::new());
    for (n, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", n + 1).into_bytes());
    }
    let start = bytes.len();
    bytes.extend(b"xref\n0 6\n0000000000 65535 f \n");
    bytes.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
    bytes.extend(format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
    bytes
}

/// A site with files and feeds. Each of them alone leads to one page.
fn library(asked: &Asked) -> Answer {
    let typed = |kind: &str, body: Vec<u8>| (200, vec![("content-type", kind.to_owned())], body);
    match asked.target.as_str() {
        "/" => html(
            "<a href=/rss>r</a><a href=/json>j</a><a href=/read.md>m</a><a href=/paper.pdf>p</a><a href=/sheet.xlsx>x</a><a href=/bad.pdf>b</a><a href=/bytes>f</a><a href=/api>a</a><a href=/bytes.pdf>c</a><a href=/bytes.bin>d</a>",
        ),
        "/bytes" => typed(
            "application/octet-stream",
            b"<rss><channel><item><link>http://l.test/by-bytes</link></item></channel></rss>".to_vec(),
        ),
        "/api" => {
            let feed = json!({"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://l.test/by-an-api"}]});
            typed("application/json", feed.to_string().into_bytes())
        }
        "/bytes.pdf" => typed("application/octet-stream", pdf(&words(3, 100), "http://l.test/by-pdf-of-bytes")),
        "/bytes.bin" => typed("application/octet-stream", vec![7; 100_000]),
        "/rss" => typed(
            "application/rss+xml",
            b"<rss><channel><item><link>http://l.test/by-rss</link></item></channel></rss>".to_vec(),
        ),
        "/json" => {
            let feed = json!({"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://l.test/by-json"}]});
            typed("application/feed+json", feed.to_string().into_bytes())
        }
        "/read.md" => {
            typed("text/markdown", format!("# Read\n\n[on](/by-markdown)\n\n{}\n", words(1, 100)).into_bytes())
        }
        "/paper.pdf" => typed("application/pdf", pdf(&words(2, 100), "http://l.test/by-pdf")),
        "/bad.pdf" => typed("application/pdf", b"%PDF-1.4 and nothing else".to_vec()),
        "/sheet.xlsx" => typed("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"PK".to_vec()),
        target if target.starts_with("/by-") => {
            html(format!("<h1>{target}</h1><p>{}</p>", words(target.len() as u64, 100)))
        }
        _ => missing(),
    }
}

/// A feed or a PDF file is read whatever type its server gives; of other bytes nothing is kept. No archive asks for the
/// bodies here.
#[test]
fn feeds_and_files_are_known_by_their_first_bytes() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(library)?, tempfile::tempdir()?);
    let (out, connect_to) = (dir.path().join("crawl"), told.settings(&[])?.fetch.connect_to.remove(0));
    let flags = ["--allow-private", "--delay", "0s", "--address-delay", "0s", "--patience", "1s", "-q"];
    let begin = ["crawl", "http://l.test/", "--dir", &out.to_string_lossy(), "--connect-to", &connect_to];
    run(&[&begin[..], &flags].concat())?;
    let pages = lines(&out, "pages.jsonl")?;
    let page = |path: &str| {
        let found = pages.iter().find(|page| text(page, "url") == format!("http://l.test{path}"));
        found.unwrap_or_else(|| panic!("{path} is not among {pages:?}"))
    };
    for path in ["/by-rss", "/by-bytes", "/by-an-api", "/by-pdf-of-bytes"] {
        assert_eq!(text(page(path), "verdict"), "unique", "{path}");
    }
    for (path, links) in [("/rss", 1), ("/bytes", 1), ("/api", 1), ("/bytes.bin", 0)] {
        let page = page(path);
        let said = (&page["links"], text(page, "verdict"), &page["simhash"], &page["error"], &page["truncated"]);
        let expected = (&json!(links), "unjudged", &Value::Null, &Value::Null, &json!(false));
        assert_eq!(said, expected, "{path}");
    }
    assert_eq!(page("/bytes.bin")["bytes"], 0);
    Ok(())
}

/// Runs the built program. Returns its stdout.
fn run(arguments: &[&str]) -> anyhow::Result<String> {
    let run = Command::new(beside("crawler-under-test")?).args(arguments).output()?;
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    Ok(String::from_utf8(run.stdout)?)
}

#[test]
fn feeds_and_files_lead_on_and_their_text_is_exported() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(library)?, tempfile::tempdir()?);
    let out = dir.path().join("crawl");
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let path = out.to_string_lossy().into_owned();
    run(&[
        "crawl",
        "http://l.test/",
        "--dir",
        &path,
        "--connect-to",
        &connect_to,
        "--allow-private",
        "--delay",
        "0s",
        "--address-delay",
        "0s",
        "--patience",
        "1s",
        "--text",
        "--markdown",
        "--warc",
        "-q",
    ])?;
    let pages = lines(&out, "pages.jsonl")?;
    let urls: Vec<&str> = pages.iter().map(|page| text(page, "url")).collect();
    for path in ["/by-rss", "/by-json", "/by-markdown", "/by-pdf"] {
        assert!(urls.contains(&format!("http://l.test{path}").as_str()), "{path}: {urls:?}");
    }
    let paper = pages.iter().find(|page| text(page, "url").ends_with("paper.pdf")).expect("the paper");
    assert!(paper["words"].as_u64() > Some(90) && paper["simhash"].is_string(), "{paper}");
    let error =
        |name: &str| pages.iter().find(|page| text(page, "url").ends_with(name)).map(|page| text(page, "error"));
    assert_eq!(error("sheet.xlsx"), Some("not_read: a file of an office program"));
    assert!(error("bad.pdf").is_some_and(|error| error.starts_with("not_read: ")), "{:?}", error("bad.pdf"));
    assert_eq!((error("paper.pdf"), error("read.md")), (Some(""), Some("")));
    let report: Value = serde_json::from_str(&run(&["report", &path, "--json"])?)?;
    assert_eq!(report["documents_unread"], 2, "{report}");
    assert_eq!(report["failures"]["documents_unread"], 2, "{report}");
    // Files of other kinds are stored whole in the archive.
    let index = std::fs::read_to_string(out.join("warc/index.cdxj"))?;
    assert!(index.contains("sheet.xlsx") && index.contains("spreadsheetml"), "{index}");

    let texts = exported(&path, &["--what", "text"])?;
    assert!(texts.iter().any(|line| text(line, "text").contains(words(2, 100).split(' ').next().unwrap_or_default())));
    let markdown = exported(&path, &["--what", "markdown"])?;
    assert!(markdown.iter().any(|line| text(line, "markdown").contains("# /by-rss")), "{markdown:?}");
    let file = markdown.iter().find(|line| text(line, "url").ends_with("read.md")).expect("the Markdown file");
    assert!(text(file, "markdown").starts_with("# Read\n\n[on](/by-markdown)\n"), "as it is: {file}");
    let table = run(&["export", &path, "--what", "skipped", "--format", "csv"])?;
    assert_eq!(table, "url,reason,source,rule,detail,known\r\n", "a table without rows");
    let table = run(&["export", &path, "--what", "pages", "--format", "csv"])?;
    assert!(table.starts_with("url,visit,status") && table.lines().count() == pages.len() + 1, "{table}");
    run(&["export", &path, "--what", "wacz"])?;
    assert!(std::fs::metadata(out.join("crawl.wacz"))?.len() > 1_000);
    let full = Command::new(beside("crawler-under-test")?)
        .args(["export", &path, "--what", "wacz", "-o", "/dev/full"])
        .output()?;
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(full.status.code() == Some(1) && said.contains("No space left"), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "one message, of the program: {said}");
    Ok(())
}

/// A site with a page to which only a sitemap leads.
fn listed(asked: &Asked) -> Answer {
    let typed = |kind: &str, body: &str| (200, vec![("content-type", kind.to_owned())], body.into());
    match asked.target.as_str() {
        "/robots.txt" => typed("text/plain", "User-agent: *\nSitemap: http://s.test/map.xml\n"),
        "/map.xml" => typed("text/xml", "<urlset><url><loc>http://s.test/alone</loc></url></urlset>"),
        "/" | "/alone" => html(format!("<p>{} {}</p>", asked.target, words(asked.target.len() as u64, 60))),
        _ => missing(),
    }
}

#[test]
fn why_tells_a_seed_from_what_only_a_sitemap_names() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(listed)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://s.test/", &[("scope.sitemaps", "true")])?;
    let why = |url: &str| run(&["why", &dir.path().to_string_lossy(), url]);
    let (seed, alone) = (why("http://s.test/")?, why("http://s.test/alone")?);
    assert!(seed.contains("  a seed\n") && !seed.contains("first named by a sitemap"), "{seed}");
    assert!(!alone.contains("  a seed\n") && alone.contains("first named by a sitemap"), "{alone}");
    Ok(())
}

fn exported(dir: &str, what: &[&str]) -> anyhow::Result<Vec<Value>> {
    let arguments: Vec<&str> = ["export", dir].into_iter().chain(what.iter().copied()).collect();
    run(&arguments)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Two pages that say the same.
fn twins(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/" => html("<a href=/a>a</a><a href=/b>b</a>"),
        "/a" | "/b" => html(format!("<p>{}</p>", words(7, 200))),
        _ => missing(),
    }
}

#[test]
fn one_copy_of_a_cluster_is_exported_unless_all_are_wanted() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(twins)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://t.test/", &[("output.text", "true")])?;
    let path: &Path = dir.path();
    let path = path.to_string_lossy();
    let twin = crawled.pages.iter().find(|page| page["duplicate_of"].is_string()).expect("a duplicate");
    let urls = |lines: &[Value]| lines.iter().map(|line| text(line, "url").to_owned()).collect::<Vec<_>>();
    let one = urls(&exported(&path, &["--what", "text"])?);
    let all = urls(&exported(&path, &["--what", "text", "--all"])?);
    assert!(
        !one.contains(&text(twin, "url").to_owned()) && one.contains(&text(twin, "duplicate_of").to_owned()),
        "{one:?}"
    );
    assert_eq!(all.len(), one.len() + 1);
    let clusters = exported(&path, &["--what", "clusters"])?;
    assert_eq!(clusters, [json!({"representative": twin["duplicate_of"], "pages": [twin["url"]]})]);

    // An export that fails must not damage any file.
    let code = |more: &[&str]| -> anyhow::Result<Option<i32>> {
        let mut program = Command::new(beside("crawler-under-test")?);
        Ok(program.arg("export").arg(dir.path()).args(more).output()?.status.code())
    };
    let (pages, out) = (dir.path().join("pages.jsonl"), dir.path().join("out"));
    let (before, out_of) = (std::fs::read(&pages)?, out.to_string_lossy().into_owned());
    assert_eq!(code(&["-o", &pages.to_string_lossy()])?, Some(2));
    assert_eq!(std::fs::read(&pages)?, before, "it is a file of the crawl itself");
    assert_eq!(code(&["--what", "markdown", "-o", &out_of])?, Some(2), "there is no Markdown");
    assert!(!out.exists(), "nothing was exported");
    assert_eq!(code(&["--what", "wacz", "--format", "csv"])?, Some(2));
    assert_eq!(code(&["-o", &out_of])?, Some(0));
    assert_eq!(std::fs::read(&out)?, before);
    Ok(())
}

/// Catches a run without `--text` that cuts the text that an earlier run has written.
#[test]
fn a_run_without_text_leaves_the_text_of_earlier_runs_alone() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(careful)?, tempfile::tempdir()?);
    let run = |text: &str, pages: &str| {
        told.crawl(dir.path(), "http://c.test/", &[("output.text", text), ("limits.max-pages", pages)])
    };
    run("true", "3")?;
    let before = lines(dir.path(), "text.jsonl")?;
    assert!(!before.is_empty());
    run("false", "4")?;
    run("true", "10")?;
    let after = lines(dir.path(), "text.jsonl")?;
    assert!(after.starts_with(&before) && after.len() > before.len(), "{} before, {} after", before.len(), after.len());
    Ok(())
}
