//! Sitemaps as others wrote them, from the tests of crawler-commons.

use std::path::{Path, PathBuf};
use std::process::Command;

use frontier::sitemap::{Kind, Sitemap};
use url::Url;

/// How many pages and sitemaps each file names.
const FILES: [(&str, usize, usize); 17] = [
    ("atom.xml", 1, 0),
    ("sitemap.ns.xml", 2, 0),
    ("sitemap-with-bom.txt", 2, 0),
    ("do-not-visit.txt", 1, 0),
    ("sitemap.txt", 2, 0),
    ("sitemap.badns.xml", 2, 0),
    ("xmlSitemap.gz", 5, 0),
    ("sitemap.index.xml", 0, 15),
    ("sitemap.txt.gz", 5, 0),
    ("extension/sitemap-mobile.xml", 3, 0),
    ("extension/sitemap-news.xml", 2, 0),
    ("extension/sitemap-videos-tvshow.xml", 1, 0),
    ("extension/sitemap-images.xml", 1, 0),
    ("extension/pagemaps-sitemap.xml", 2, 0),
    ("extension/shinpaideshou-news-sitemap.xml", 3, 0),
    ("extension/sitemap-links.xml", 3, 0),
    ("extension/sitemap-videos.xml", 3, 0),
];

#[test]
fn crawler_commons() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sitemaps/sitemaps.tar.xz");
    if !archive.exists() {
        return println!("skipped: no {}", archive.display());
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert!(Command::new("tar").arg("xf").arg(&archive).arg("-C").arg(dir.path()).status().unwrap().success());
    let base = Url::parse("https://www.example.com/sitemap").unwrap();
    for (name, pages, sitemaps) in FILES {
        let path: PathBuf = dir.path().join("sitemaps").join(name);
        let body = std::fs::read(&path).unwrap();
        let entries: Vec<_> = Sitemap::open(&body, &base).collect();
        let count = |kind| entries.iter().filter(|entry| entry.kind == kind).count();
        assert_eq!((count(Kind::Page), count(Kind::Sitemap)), (pages, sitemaps), "{name}: {entries:#?}");
    }
    let body = std::fs::read(dir.path().join("sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml")).unwrap();
    let entries: Vec<_> = Sitemap::open(&body, &base).collect();
    let text = String::from_utf8(body).unwrap();
    assert_eq!(entries.len(), text.matches("<url>").count());
    assert!(entries.iter().all(|entry| entry.lastmod.is_some() && entry.loc.path().starts_with('/')));
}
