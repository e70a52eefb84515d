//! The static site server.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use tests::background::Background;
use tests::client::get;
use tests::site::{Noise, Sites};

const PAGE: &str = "<html><body><a href=\"b.html#x\">b</a> <a href=\"http://other.test/b.html\">o</a></body></html>";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("site/sub")).unwrap();
    fs::write(folder.path().join("secret.html"), "secret").unwrap();
    let site = folder.path().join("site");
    fs::write(site.join("index.html"), PAGE).unwrap();
    fs::write(site.join("sub/index.html"), "sub").unwrap();
    fs::write(site.join("a b.txt"), "spaced").unwrap();
    symlink("index.html", site.join("inside.html")).unwrap();
    symlink("../secret.html", site.join("outside.html")).unwrap();
    folder
}

fn start(folder: &tempfile::TempDir, noise: Noise) -> Background {
    let sites = Sites::new([("a.test".to_owned(), folder.path().join("site"))], noise).unwrap();
    Background::start(|listener| Arc::new(sites).run(listener)).unwrap()
}

#[test]
fn maps_hosts_to_folders_and_folders_to_their_index() {
    let folder = folder();
    let server = start(&folder, Noise::default());
    let get = |host, target| get(server.address(), host, target, "").unwrap();
    assert_eq!(get("a.test", "/").text(), PAGE);
    assert_eq!(get("A.TEST:80", "/?query").text(), PAGE);
    assert_eq!(get("a.test", "/").header("content-type"), Some("text/html"));
    assert_eq!(get("a.test", "/sub/").text(), "sub");
    let moved = get("a.test", "/sub");
    assert_eq!((moved.status, moved.header("location")), (301, Some("/sub/")));
    assert_eq!(get("a.test", "/a%20b.txt").text(), "spaced");
    assert_eq!(get("a.test", "/none.html").status, 404);
    assert_eq!(get("b.test", "/").status, 421);
}

#[test]
fn follows_links_inside_the_folder_only() {
    let folder = folder();
    let server = start(&folder, Noise::default());
    let status = |target| get(server.address(), "a.test", target, "").unwrap().status;
    assert_eq!(status("/inside.html"), 200);
    assert_eq!(status("/outside.html"), 404);
    assert_eq!(status("/../secret.html"), 404);
    assert_eq!(status("/%2e%2e/secret.html"), 404);
}

#[test]
fn answers_conditional_requests() {
    let folder = folder();
    let server = start(&folder, Noise::default());
    let ask = |headers: &str| get(server.address(), "a.test", "/", headers).unwrap();
    let first = ask("");
    let (etag, changed) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    assert_eq!(ask(&format!("If-None-Match: {etag}\r\n")).status, 304);
    assert_eq!(ask(&format!("If-None-Match: \"other\", W/{etag}\r\n")).status, 304);
    assert_eq!(ask(&format!("If-Modified-Since: {changed}\r\n")).status, 304);
    assert_eq!(ask("If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n").status, 200);
    assert_eq!(ask(&format!("If-None-Match: \"other\"\r\nIf-Modified-Since: {changed}\r\n")).status, 200);
}

#[test]
fn adds_noise_where_asked_for() {
    let folder = folder();
    let server = start(&folder, Noise { ads: true, timestamps: true, sessions: true, ..Noise::default() });
    let ask = |target| get(server.address(), "a.test", target, "").unwrap();
    let (first, second) = (ask("/").text(), ask("/").text());
    assert_ne!(first, second);
    assert!(first.contains("Offer") && first.contains("Served on"));
    assert!(first.contains("<a href=\"b.html?sid=") && first.contains("#x\">"));
    assert!(first.contains("<a href=\"http://other.test/b.html\">"), "other sites' links are left alone");
    assert!(ask("/?sid=kept").text().contains("<a href=\"b.html?sid=kept#x\">"));
    assert_eq!(ask("/").header("etag"), None);
}
