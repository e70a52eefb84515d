//! The crawler, the pipe, and the filter over the crawl's own archive must judge the same pages in the same order
//! alike.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use crawler::demo::web::Web;
use dedup_stage::store::Memory;
use serde_json::{Value, json};
use tests::crawl::{crawl, lines, settings, text};
use tests::pipe::{Pipe, program};
use url::{Position, Url};

/// The fields that are compared.
const FIELDS: [&str; 5] = ["verdict", "duplicate_of", "distance", "resemblance", "simhash"];

#[test]
fn crawler_pipe_and_archive_agree() -> anyhow::Result<()> {
    for mode in ["drop", "keep"] {
        let web = Arc::new(Web::demo(6));
        let dir = tempfile::tempdir()?;
        let settings = settings(&[("output.warc", "true"), ("dedup.on-duplicate", mode), ("limits.max-pages", "600")])?;
        let (_, stats) = crawl(&web, dir.path(), Memory::default(), &settings)??;
        let pages = lines(dir.path(), "pages.jsonl")?;
        assert!(stats.exact > 0 && stats.near > 0 && pages.len() > 300, "{stats:?}");

        let mut pipe = Pipe::start(&["run", "--on-duplicate", mode])?;
        for page in &pages {
            let url: Url = text(page, "url").parse()?;
            let target = &url[Position::BeforePath..Position::AfterQuery];
            let Some(answer) = web.answer(url.host_str().unwrap_or_default(), target) else { continue };
            let line = json!({"url": url.as_str(), "status": answer.status, "content_type": answer.content_type, "body": answer.body});
            compare(page, &pipe.ask(&line)?, "pipe");
        }

        let mut archives: Vec<_> = std::fs::read_dir(dir.path().join("warc"))?
            .map(|entry| Ok(entry?.path()))
            .collect::<anyhow::Result<_>>()?;
        archives.retain(|path| path.to_string_lossy().ends_with(".warc.gz"));
        archives.sort();
        let output =
            Command::new(program()).arg("warc").args(&archives).arg("-o").arg(dir.path().join("again")).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut archived = BTreeMap::new();
        for line in output.stdout.split_inclusive(|byte| *byte == b'\n') {
            let verdict: Value = serde_json::from_slice(line)?;
            archived.insert(text(&verdict, "url").to_owned(), verdict);
        }
        assert_eq!(archived.len(), pages.len());
        for page in &pages {
            let verdict = &archived[text(page, "url")];
            // A revisit record has no body, so it gets no fingerprint.
            let mut verdict = verdict.clone();
            if page["verdict"] == "exact" {
                verdict["simhash"] = page["simhash"].clone();
            }
            compare(page, &verdict, "archive");
        }
    }
    Ok(())
}

fn compare(page: &Value, other: &Value, whose: &str) {
    for field in FIELDS {
        assert_eq!(page[field], other[field], "{field} of {}, crawler beside {whose}", page["url"]);
    }
}
