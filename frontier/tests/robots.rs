//! robots.txt against the suites of others: Google's parser, crawler-commons, 2,090 files from the web, and robotxt.

use std::path::{Path, PathBuf};
use std::process::Command;

use frontier::robots::{Answer, RobotsRules};
use serde_json::Value;
use url::{Position, Url};

/// The shared test data, or `None` with a reason printed where it is absent.
fn data(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(path);
    let found = path.exists().then_some(path.clone());
    if found.is_none() {
        println!("skipped: no {}", path.display());
    }
    found
}

/// The files of an archive, by name.
fn files(archive: &str) -> Vec<(String, Vec<u8>)> {
    let Some(archive) = data(archive) else { return Vec::new() };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let done = Command::new("tar").arg("xf").arg(&archive).arg("-C").arg(dir.path()).status().unwrap();
    assert!(done.success());
    let mut files: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn rules(body: &[u8], token: &str) -> RobotsRules {
    let url = Url::parse("https://a.example/robots.txt").unwrap();
    RobotsRules::read(&Answer { url: &url, status: 200, retry_after: None, body, at: 0 }, token)
}

fn allowed(body: &[u8], token: &str, path: &str) -> bool {
    rules(body, token).allowed(&Url::parse("https://a.example/").unwrap().join(path).unwrap())
}

/// Where we answer otherwise than the suite says, and why.
fn deviation(case: &Value) -> Option<&'static str> {
    let (test, url) = (case["test"].as_str()?, case["url"].as_str()?);
    let robots = case["robots"].as_str()?;
    match test {
        "ID_Encoding" if url.ends_with("/ツ") => Some("no such URL is ever compared: parsing one has escaped it"),
        "ID_Encoding" if robots.contains("%62%61%7A") && url.ends_with("/baz") => {
            Some("RFC 9309, section 2.2.2: an escaped octet and the octet are equal")
        }
        "GoogleOnly_LineTooLong" if url.contains("/x//") => {
            Some("the extract lost the long lines of this test; ours is in robots/tests.rs")
        }
        _ => None,
    }
}

/// RFC 9309, section 2.2.2: of the longest rules that match, the one that allows counts, in whatever order they stand.
#[test]
fn of_rules_of_one_length_the_one_that_allows_counts() {
    for rules in ["Allow: /pa\nDisallow: /pa", "Disallow: /pa\nAllow: /pa", "Disallow: /p*\nAllow: /pa"] {
        let file = format!("User-agent: *\n{rules}\n");
        assert!(allowed(file.as_bytes(), "once", "/page"), "{rules}");
    }
    assert!(!allowed(b"User-agent: *\nAllow: /p\nDisallow: /pa\n", "once", "/page"), "the longer one counts");
}

#[test]
fn google() {
    let Some(path) = data("robots/google_robots_test.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (mut agree, mut deviate) = (0, 0);
    for case in &cases {
        let url = match case["url"].as_str().unwrap() {
            "" => Url::parse("http://foo.bar/").unwrap(),
            url => Url::parse(url).unwrap(),
        };
        let ours = rules(case["robots"].as_str().unwrap().as_bytes(), case["agent"].as_str().unwrap()).allowed(&url);
        if ours == case["allowed"].as_bool().unwrap() {
            assert_eq!(deviation(case), None, "listed as a deviation, but is none: {case}");
            agree += 1;
        } else {
            let reason = deviation(case).unwrap_or_else(|| panic!("we say {ours}: {case}"));
            println!("deviates: {reason}: {case}");
            deviate += 1;
        }
    }
    println!("{agree} of {} as Google's parser, {deviate} deviate", cases.len());
    assert_eq!((agree, deviate), (139, 6));
}

#[test]
fn crawler_commons() {
    let files = files("robots/odd.tar.xz");
    if files.is_empty() {
        return;
    }
    let file = |name: &str| &files.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}")).1;
    for (name, token, path, expected) in [
        ("rfc9309-example-rule-group-merging.txt", "ExampleBot", "/foo", false),
        ("rfc9309-example-rule-group-merging.txt", "ExampleBot", "/bar", false),
        ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", true),
        ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif", false),
        ("crawl-delay-group-merging.txt", "mybot", "/private/x", false),
        ("crawl-delay-group-merging.txt", "yourbot", "/login/", false),
        ("crawl-delay-group-merging.txt", "otherbot", "/login/", true),
        ("directive-typos-robots.txt", "bot", "/desallow/", false),
        ("directive-typos-robots.txt", "bot", "/dissalow/", false),
        ("directive-typos-robots.txt", "bot", "/x", true),
        ("format-errors-robots.txt", "x", "/x", true),
        ("many-user-agents.txt", "wget", "/", false),
        ("many-user-agents.txt", "once-crawler", "/", true),
        ("robots-with-utf8-bom.txt", "foobot", "/profile", false),
        ("robots-with-utf16le-bom.txt", "foobot", "/profile", false),
        ("robots-with-utf16be-bom.txt", "foobot", "/profile", false),
        ("malformed-path.txt", "foobot", "/wiki/Wikipedia_talk:Mediation_Committee/", false),
        ("dos-line-endings.txt", "foobot", "/ads/x", true),
    ] {
        let (body, text) = (file(name), String::from_utf8_lossy(file(name)));
        assert_eq!(allowed(body, token, path), expected, "{name} {token} {path}\n{text}");
    }
}

/// Real files: none panics, the store gives each back, and rules for us are found in most.
#[test]
fn real() {
    let files = files("robots/real.tar.xz");
    let paths = ["/", "/index.html", "/a/b/c?d=e&f=g", "/search?q=x", "/wp-admin/", "/%E3%83%84/*$", "/robots.txt"];
    let (mut with_rules, mut most) = (0, (0, String::new()));
    for (name, body) in &files {
        let rules = rules(body, "once-crawler");
        for path in paths {
            rules.allowed(&Url::parse("https://a.example/").unwrap().join(path).unwrap());
        }
        let bytes = rules.to_bytes();
        assert_eq!(RobotsRules::from_bytes(&bytes).as_ref(), Some(&rules), "{name}");
        let count = String::from_utf8(bytes).unwrap().lines().filter(|line| line.contains("allow: ")).count();
        with_rules += usize::from(count > 0);
        most = most.max((count, name.clone()));
    }
    println!("{} files, {with_rules} with rules for us, most in {}: {}", files.len(), most.1, most.0);
    assert!(files.is_empty() || (files.len() == 2_090 && with_rules > 1_000));
}

/// On real files, our answers and those of an independent parser. It is known to differ in two things: it puts a slash
/// before a rule that begins with `*`, and it lets a Crawl-delay end a list of agents, which RFC 9309 (section 2.2.4)
/// does not.
#[test]
fn robotxt() {
    let files = files("robots/real.tar.xz");
    let paths = ["/", "/index.html", "/a/b/c?d=e&f=g", "/search?q=x", "/wp-admin/x.php", "/cgi-bin/", "/api/v1?x=1"];
    let (mut compared, mut differ) = (0, 0);
    for (name, body) in &files {
        let (ours, theirs) = (rules(body, "once-crawler"), robotxt::Robots::parse(body, "once-crawler"));
        for path in paths {
            let url = Url::parse("https://a.example/").unwrap().join(path).unwrap();
            compared += 1;
            if ours.allowed(&url) != theirs.is_allowed(&url[Position::BeforePath..]) {
                let text = String::from_utf8_lossy(body).to_lowercase();
                assert!(text.contains("allow: *") || name == "bitbucket.org", "{name} {path}: {}", ours.allowed(&url));
                differ += 1;
            }
        }
    }
    println!("{compared} answers compared, {differ} differ");
}
