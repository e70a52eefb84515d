//! URL keys through the public interface: each rule, idempotence on every input, and the test suites of other projects.

use std::collections::BTreeMap;

use dedup_stage::url::{Canonicalizer, KeyHasher, resolve};
use proptest::prelude::*;
use serde_json::Value;
use url::{Host, Url};

fn key(canonicalizer: &Canonicalizer, url: &str) -> String {
    canonicalizer.key(&Url::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))).as_str().to_owned()
}

fn with(change: impl FnOnce(&mut config::Urls)) -> Canonicalizer {
    let mut urls = config::Settings::default().urls;
    change(&mut urls);
    Canonicalizer::new(&urls)
}

/// A rule, named by its switch: a URL on a.example, its key, and its key if the rule is switched off.
const RULES: [(&str, &str, &str, &str); 16] = [
    ("drop_user", "http://me:secret@a.example/", "http://a.example/", "http://me:secret@a.example/"),
    ("drop_host_dot", "http://a.example.:81/b", "http://a.example:81/b", "http://a.example.:81/b"),
    ("normalize_escapes", "http://a.example/%7eb%2fc|", "http://a.example/~b%2Fc%7C", "http://a.example/%7eb%2fc|"),
    ("normalize_escapes", "http://a.example/?a=b%20c%3a", "http://a.example/?a=b+c:", "http://a.example/?a=b%20c%3a"),
    (
        "drop_sessions",
        "http://a.example/b;jsessionid=1;v=2/c",
        "http://a.example/b;v=2/c",
        "http://a.example/b;jsessionid=1;v=2/c",
    ),
    ("drop_sessions", "http://a.example/;JSESSIONID=1", "http://a.example/", "http://a.example/;JSESSIONID=1"),
    (
        "drop_sessions",
        "http://a.example/(S(lit3py55t21z5v55vlm25s55))/b",
        "http://a.example/b",
        "http://a.example/(S(lit3py55t21z5v55vlm25s55))/b",
    ),
    (
        "drop_sessions",
        "http://a.example/?PHPSESSID=1&b=2",
        "http://a.example/?b=2",
        "http://a.example/?PHPSESSID=1&b=2",
    ),
    (
        "drop_sessions",
        "http://a.example/?sid=0123456789abcdef",
        "http://a.example/",
        "http://a.example/?sid=0123456789abcdef",
    ),
    (
        "drop_tracking",
        "http://a.example/?utm_source=b&id=3&gclid=c",
        "http://a.example/?id=3",
        "http://a.example/?gclid=c&id=3&utm_source=b",
    ),
    ("drop_tracking", "http://a.example/?UTM_Source=b", "http://a.example/", "http://a.example/?UTM_Source=b"),
    ("drop_empty", "http://a.example/?", "http://a.example/", "http://a.example/?"),
    ("drop_empty", "http://a.example/?&a&&", "http://a.example/?a", "http://a.example/?&&&a"),
    ("drop_empty", "http://a.example/?utm_source=x&", "http://a.example/", "http://a.example/?"),
    ("sort_query", "http://a.example/?b=2&a=9&b=1", "http://a.example/?a=9&b=2&b=1", "http://a.example/?b=2&a=9&b=1"),
    ("sort_query", "http://a.example/?a-b=1&a=2", "http://a.example/?a=2&a-b=1", "http://a.example/?a-b=1&a=2"),
];

#[test]
fn each_rule_has_its_switch() {
    for (switch, url, on, off) in RULES {
        assert_eq!(key(&Canonicalizer::default(), url), on, "{url}");
        let without = with(|urls| match switch {
            "drop_user" => urls.drop_user = false,
            "drop_host_dot" => urls.drop_host_dot = false,
            "normalize_escapes" => urls.normalize_escapes = false,
            "drop_sessions" => urls.drop_sessions = false,
            "drop_tracking" => urls.drop_tracking = false,
            "drop_empty" => urls.drop_empty = false,
            "sort_query" => urls.sort_query = false,
            other => panic!("{other}"),
        });
        assert_eq!(key(&without, url), off, "{url} without {switch}");
    }
}

#[test]
fn the_user_names_parameters_of_their_own() {
    let canonicalizer = with(|urls| {
        urls.drop_params = vec!["ref".into()];
        urls.keep_params = vec!["utm_source".into()];
    });
    assert_eq!(key(&canonicalizer, "http://a.example/?ref=1&utm_source=2&gclid=3"), "http://a.example/?utm_source=2");
}

#[test]
fn what_the_parser_makes_equal_is_equal() {
    let canonicalizer = Canonicalizer::default();
    for (url, expected) in [
        ("HTTP://A.Example:80/b/../c/./d#e", "http://a.example/c/d"),
        ("http://a.example", "http://a.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("https:\\\\a.example\\b", "https://a.example/b"),
        ("http://a.example/%2E%2e/b", "http://a.example/b"),
    ] {
        assert_eq!(key(&canonicalizer, url), expected, "{url}");
    }
}

#[test]
fn what_may_differ_stays_apart() {
    let canonicalizer = Canonicalizer::default();
    for (one, other) in [
        ("http://a.example/", "https://a.example/"),
        ("http://a.example/", "http://www.a.example/"),
        ("http://a.example/b", "http://a.example/b/"),
        ("http://a.example/b", "http://a.example/B"),
        ("http://a.example/b//c", "http://a.example/b/c"),
        ("http://a.example/", "http://a.example/index.html"),
        ("http://a.example/?a", "http://a.example/?a="),
        ("http://a.example/?a=1&a=2", "http://a.example/?a=2&a=1"),
        ("http://a.example/a%2Fb", "http://a.example/a/b"),
        ("http://a.example/?a=1%262", "http://a.example/?a=1&2"),
        ("http://a.example/?a=1%2B2", "http://a.example/?a=1+2"),
        ("http://a.example/?sid=5", "http://a.example/?sid=6"),
        ("http://a.example/?si=5", "http://a.example/"),
        ("http://a.example:8080/", "http://a.example/"),
    ] {
        assert_ne!(key(&canonicalizer, one), key(&canonicalizer, other));
    }
}

#[test]
fn the_hash_is_that_of_the_key() {
    let (canonicalizer, hasher) = (Canonicalizer::default(), KeyHasher::new([7; KeyHasher::SECRET]));
    let others = ["http://a.example/plain", "mailto:a@b.example", "http://a.example/a#b", "http://a.example./"];
    for url in RULES.iter().map(|rule| rule.1).chain(others) {
        let url = Url::parse(url).unwrap();
        assert_eq!(canonicalizer.hash(&url, &hasher), hasher.hash(&canonicalizer.key(&url)), "{url}");
    }
}

/// Checks that the key of a key is the key itself, and that a key is a URL that the parser leaves as it is.
fn check_idempotent(canonicalizer: &Canonicalizer, url: &Url) -> Result<(), TestCaseError> {
    let once = canonicalizer.key(url);
    let again =
        Url::parse(once.as_str()).map_err(|error| TestCaseError::fail(format!("{url} -> {once:?}: {error}")))?;
    prop_assert_eq!(again.as_str(), once.as_str(), "the key of {} is no normal URL", url);
    prop_assert_eq!(canonicalizer.key(&again), once, "{}", url);
    Ok(())
}

/// Canonicalizers with every combination of the seven switches. The last one has all switches on.
fn canonicalizers() -> Vec<Canonicalizer> {
    let switched = |bits: u32| {
        with(|urls| {
            let on = |bit: u32| bits & 1 << bit != 0;
            (urls.drop_user, urls.drop_host_dot, urls.normalize_escapes) = (on(0), on(1), on(2));
            (urls.drop_sessions, urls.drop_tracking, urls.drop_empty, urls.sort_query) = (on(3), on(4), on(5), on(6));
        })
    };
    (0..128).map(switched).collect()
}

/// Pieces of URLs that are likely to cause trouble.
const PIECES: [&str; 34] = [
    "/",
    "//",
    ".",
    "..",
    "%2e",
    "%2E",
    ";",
    ";jsessionid=",
    ";jsessionid=1",
    "(S(lit3py55t21z5v55vlm25s55))",
    "?",
    "&",
    "&&",
    "=",
    "a",
    "b=1",
    "utm_source=x",
    "sid=0123456789abcdef",
    "%",
    "%2",
    "5",
    "%41",
    "%zz",
    "%25",
    "%20",
    "+",
    "'",
    "|",
    "[",
    "é",
    "#",
    "@",
    ":",
    "\\",
];

proptest! {
    #[test]
    fn keys_are_idempotent(
        host in "(u:p@)?(a\\.example|1\\.2\\.|\\.|a\\.\\.|0x7f\\.1\\.\\.|[a-z0-9.-]{1,8})(:80|:81)?",
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12),
        switches in 0..128usize,
    ) {
        thread_local!(static ALL: Vec<Canonicalizer> = canonicalizers());
        if let Ok(url) = Url::parse(&format!("http://{host}/{}", pieces.concat())) {
            ALL.with(|all| check_idempotent(&all[127], &url).and_then(|()| check_idempotent(&all[switches], &url)))?;
        }
    }

    #[test]
    fn keys_of_anything_are_idempotent(text in "(https?://)?\\PC{0,40}") {
        if let Ok(url) = Url::parse(&text) {
            check_idempotent(&Canonicalizer::default(), &url)?;
        }
    }
}

fn cases(name: &str) -> Option<Vec<Value>> {
    let path = format!("{}/../../shared/data/url/{name}.json", env!("CARGO_MANIFEST_DIR"));
    match std::fs::read(&path) {
        Ok(text) => Some(serde_json::from_slice(&text).unwrap()),
        Err(_) => {
            println!("skipped: no {path}");
            None
        }
    }
}

/// The reason why the parser deviates from the standard for this input, and why that does not matter here.
fn parser_deviation(input: &str, expected: &str) -> Option<&'static str> {
    match expected.split(':').next() {
        Some("file") => Some("file URLs are never fetched"),
        Some("non-special" | "foo") => Some("URLs of other schemes are never fetched"),
        _ if input.contains('^') => Some("the standard escapes ^ in paths since 2023; in keys it is"),
        _ => None,
    }
}

#[test]
fn the_standards_inputs() {
    let Some(cases) = cases("wpt_parse") else { return };
    let all = canonicalizers();
    let (mut agree, mut deviate, mut keys) = (0, 0, 0);
    for case in &cases {
        let input = case["input"].as_str().unwrap();
        let parsed = match case["base"].as_str() {
            Some(base) => Url::parse(base).and_then(|base| resolve(&base, input)),
            None => Url::parse(input),
        };
        let expected = case["expected"].as_str().filter(|_| !case["failure"].as_bool().unwrap());
        if parsed.as_ref().ok().map(Url::as_str) == expected {
            agree += 1;
        } else {
            let reason = parser_deviation(input, expected.unwrap_or_default());
            println!("deviates: {input:?}: {:?}, not {expected:?}: {reason:?}", parsed.as_ref().map(Url::as_str));
            assert!(reason.is_some());
            deviate += 1;
        }
        if let Ok(url) = parsed {
            for canonicalizer in &all {
                check_idempotent(canonicalizer, &url).unwrap();
            }
            keys += 1;
        }
    }
    println!("{agree} of {} parsed as the standard says, {deviate} otherwise; {keys} keys", cases.len());
    assert_eq!((agree, deviate), (824, 45));
}

/// The reason why our keys deviate from the results of another canonicalizer.
fn policy(case: &Value, input: &str) -> Option<&'static str> {
    let option = |name: &str| case["options"].get(name).is_some();
    if option("encoding") || option("query_separator") || option("keep_blank_values") {
        return Some("an option that we do not have");
    }
    if !input.trim_start().starts_with("http") {
        return Some("not an http URL, which no rule speaks of");
    }
    let Ok(url) = Url::parse(input) else { return Some("no URL, as the standard has it") };
    let host = url.host_str().unwrap_or_default();
    if host.starts_with('.') || host.ends_with("..") {
        return Some("an empty label in the host stays");
    }
    if url.path().contains("//") {
        return Some("an empty path segment stays");
    }
    if input.contains("%25") || input.contains("%%") {
        return Some("escapes are removed once: %2541 is no A");
    }
    if input.chars().any(|c| c >= '\u{80}') {
        return Some("the extract shows bytes as if each were a character");
    }
    let query = url.query().unwrap_or_default();
    if query.split('&').any(|param| !param.contains('=')) && !query.is_empty() {
        return Some("a parameter without = is not one with");
    }
    if query.contains("b=5&b=2") {
        return Some("values of one parameter keep their order");
    }
    if url.path().contains("%3E") || url.path().contains("%3C") {
        return Some("what the standard escapes stays escaped, and so does =");
    }
    None
}

/// Compares our keys with the results of other canonicalizers. The key must be that of their result (spelled alike or
/// not), or there must be a reason.
#[test]
fn the_suites_of_others() {
    let canonicalizer = Canonicalizer::default();
    let key = |text: &str| Url::parse(text).ok().map(|url| canonicalizer.key(&url).as_str().to_owned());
    for (name, total, agree) in
        [("w3lib_canonicalize_url", 80, 67), ("urlcanon_semantic_precise", 280, 178), ("urlcanon_path_dots", 752, 740)]
    {
        let Some(cases) = cases(name) else { return };
        let (mut alike, mut equal, mut differ) = (0, 0, BTreeMap::<&str, u32>::new());
        for case in &cases {
            let mut input = match &case["input"] {
                Value::String(text) => text.clone(),
                other => match other["bytes_latin1"].as_str() {
                    Some(bytes) => {
                        String::from_utf8(bytes.chars().map(|c| u8::try_from(c).unwrap()).collect()).unwrap()
                    }
                    None => other["urlparsed"].as_str().unwrap().to_owned(),
                },
            };
            let mut theirs = case["expected"].as_str().unwrap_or_default().to_owned();
            if let Some(kind) = case["kind"].as_str() {
                let origin = if kind == "special" { "http://a.example" } else { "foo://a.example" };
                (input, theirs) = (format!("{origin}{input}"), format!("{origin}{theirs}"));
            }
            match key(&input) {
                Some(ours) if ours == theirs => alike += 1,
                Some(ours) if Some(&ours) == key(&theirs).as_ref() => equal += 1,
                ours => {
                    let reason = policy(case, &input).unwrap_or_else(|| panic!("{case}: {ours:?}"));
                    *differ.entry(reason).or_default() += 1;
                }
            }
        }
        println!(
            "{name}: {} of {} equal, {alike} of them spelled alike; others: {differ:#?}",
            alike + equal,
            cases.len()
        );
        assert_eq!((cases.len(), alike + equal), (total, agree));
    }
}

/// The parser deals with odd spellings of IPv4 addresses. Keys and the fetcher's address rules see the plain spelling.
#[test]
fn odd_addresses() {
    let path = format!("{}/../../shared/data/url/urlcanon_funky_ipv4.json", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read(&path) else { return println!("skipped: no {path}") };
    let cases: BTreeMap<String, Option<String>> = serde_json::from_slice(&text).unwrap();
    for (input, expected) in &cases {
        let host = Url::parse(&format!("http://{input}/")).ok().and_then(|url| url.host().map(|host| host.to_owned()));
        let ours = match host {
            Some(Host::Ipv4(address)) => Some(address.to_string()),
            _ => None,
        };
        assert_eq!(&ours, expected, "{input}");
    }
    println!("{} addresses read alike", cases.len());
}
