//! Tests of robots.txt, clause by clause of the RFC. The test suites of other projects are in `tests/robots.rs`.

use config::Duration;
use proptest::prelude::*;
use url::Url;

use super::parse::MAX_LINE;
use super::pattern::{self, RobotsRule};
use super::*;
use crate::failure::Failure;
use crate::numbers::Millis;

fn url(path: &str) -> Url {
    Url::parse("https://a.example").unwrap().join(path).unwrap()
}

fn rules(text: impl AsRef<[u8]>) -> RobotsRules {
    let answer = Answer { url: &url("/robots.txt"), status: 200, retry_after: None, body: text.as_ref(), at: 1_000 };
    RobotsRules::read(&answer, "foobot")
}

fn status(status: u16) -> RobotsRules {
    let body = b"user-agent: *\ndisallow: /x";
    RobotsRules::read(&Answer { url: &url("/robots.txt"), status, retry_after: None, body, at: 1_000 }, "foobot")
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn a_group_may_name_us_with_version_and_comment() {
    for agent in ["foobot", "FooBot", "FooBot/2.1", "foobot (+https://foo.example)", "foobot # us", "FOOBOT\t*"] {
        assert!(!rules(format!("user-agent: {agent}\ndisallow: /")).allowed(&url("/x")), "{agent}");
    }
    for agent in ["foo", "foobot-images", "foobots", "a foobot", "", "foobot_"] {
        assert!(rules(format!("user-agent: {agent}\ndisallow: /")).allowed(&url("/x")), "{agent}");
    }
}

#[test]
fn groups_for_one_agent_are_one_and_silence_everyones() {
    let rules =
        rules("user-agent: foobot\ndisallow: /a\n\nuser-agent: *\ndisallow: /\n\nuser-agent: FOOBOT\ndisallow: /b");
    assert!(!rules.allowed(&url("/a")) && !rules.allowed(&url("/b")) && rules.allowed(&url("/c")));
}

#[test]
fn a_group_of_ours_without_rules_allows_everything() {
    assert!(rules("user-agent: *\ndisallow: /\nuser-agent: foobot\n").allowed(&url("/x")));
}

#[test]
fn every_line_end_and_encoding_says_the_same() {
    let text = "user-agent: *\ndisallow: /x\n";
    let bom = |text: Vec<u8>, bom: &[u8]| [bom, &text].concat();
    for body in [
        text.as_bytes().to_vec(),
        text.replace('\n', "\r").into(),
        text.replace('\n', "\r\n").into(),
        text.replace('\n', "\0").into(),
        bom(text.into(), &[0xef, 0xbb, 0xbf]),
        bom(utf16(text, u16::to_le_bytes), &[0xff, 0xfe]),
        bom(utf16(text, u16::to_be_bytes), &[0xfe, 0xff]),
        utf16(text, u16::to_le_bytes),
        utf16(text, u16::to_be_bytes),
    ] {
        let rules = rules(&body);
        assert!(!rules.allowed(&url("/x")) && rules.allowed(&url("/y")), "{body:?}");
    }
}

#[test]
fn a_page_instead_of_rules_forbids_nothing() {
    assert!(
        rules("<!DOCTYPE html>\n<title>disallow: /</title>\n<p>User-agent: *<br>Disallow: /</p>").allowed(&url("/x"))
    );
}

#[test]
fn escaped_and_plain_octets_are_equal_but_for_what_separates() {
    let rule = |pattern: &str| RobotsRule::new(pattern.as_bytes(), true).unwrap();
    for (pattern, path) in [
        ("/%7ejoe", "/~joe"),
        ("/~joe", "/%7Ejoe"),
        ("/ä", "/%C3%A4"),
        ("/%e3%83%84", "/%E3%83%84"),
        ("/a%3Ab", "/a:b"),
        ("/x?u=https://a.example/", "/x?u=https%3A%2F%2Fa.example%2F"),
        ("/a|b", "/a%7Cb"),
        ("/file-%2A.html", "/file-*.html"),
        ("/us%24", "/us$"),
        ("/us$d", "/us%24d"),
        ("/100%", "/100%"),
        ("no/slash", "/no/slash"),
    ] {
        assert!(rule(pattern).matches(pattern::path(path).as_bytes()), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("/a%2Fb", "/a/b"),
        ("/a/b", "/a%2Fb"),
        ("/a%3Fb", "/a?b"),
        ("/?a=1%262", "/?a=1&2"),
        ("/*%26", "/?a&b"),
        ("/%2A", "/a"),
        ("/a%24", "/a"),
    ] {
        assert!(!rule(pattern).matches(pattern::path(path).as_bytes()), "{pattern} {path}");
    }
}

#[test]
fn a_line_is_read_up_to_its_limit() {
    let long = format!("/x/{}", "a".repeat(MAX_LINE - "disallow: /x/".len()));
    let rules = rules(format!("user-agent: foobot\ndisallow: {long}/qux\n"));
    assert!(rules.allowed(&url("/fux")));
    assert!(!rules.allowed(&url(&format!("{long}/fux"))));
    assert!(rules.allowed(&url(&long[..long.len() - 1])));
}

#[test]
fn a_file_is_read_up_to_its_limit_and_not_into_half_a_rule() {
    let head = "user-agent: *\ndisallow: /early\n#";
    let fill = "x".repeat(RobotsRules::MAX_BYTES - head.len() - "\ndisallow: /l".len());
    let rules = rules(format!("{head}{fill}\ndisallow: /late\ndisallow: /later"));
    assert!(!rules.allowed(&url("/early")) && rules.allowed(&url("/late")) && rules.allowed(&url("/l")));
}

#[test]
fn the_largest_delay_counts_and_only_ours() {
    let text = "user-agent: foobot\ncrawl-delay: 1.5\ncrawl-delay: 2.25s\nuser-agent: *\ncrawl-delay: 30";
    assert_eq!(rules(text).crawl_delay(), Some(Duration(30_000)), "both are listed in one group");
    let text = "user-agent: foobot\ncrawl-delay: 1.5\ncrawl-delay: 2.25s\nallow: /\nuser-agent: *\ncrawl-delay: 30";
    assert_eq!(rules(text).crawl_delay(), Some(Duration(2_250)));
    for (value, delay) in
        [("-1", None), ("soon", None), ("", None), ("0", Some(0)), ("9".repeat(400).as_str(), Some(365 * 86_400_000))]
    {
        assert_eq!(rules(format!("user-agent: *\ncrawl-delay: {value}")).crawl_delay(), delay.map(Duration), "{value}");
    }
}

#[test]
fn a_delay_for_others_ends_no_list_of_agents() {
    let rules = rules("user-agent: mybot\ncrawl-delay: 10\nuser-agent: foobot\ndisallow: /private/");
    assert_eq!(rules.crawl_delay(), None);
    assert!(!rules.allowed(&url("/private/")));
}

#[test]
fn sitemaps_are_for_everyone_and_may_be_relative() {
    let rules = rules(
        "sitemap: /a.xml\nuser-agent: x\nSITE-MAP : https://b.example/b.xml\nsitemap: /a.xml\nsitemap: /./a.xml#x\nsitemap: ftp://c/\nsitemap:",
    );
    let sitemaps: Vec<_> = rules.sitemaps().iter().map(Url::as_str).collect();
    assert_eq!(sitemaps, ["https://a.example/a.xml", "https://b.example/b.xml"]);
    let many: String = (0..5_000).map(|n| format!("sitemap: /{n}\n")).collect();
    assert_eq!(self::rules(many).sitemaps().len(), 1_000);
}

#[test]
fn what_is_not_there_allows_and_what_is_not_known_forbids() {
    for code in [301, 302, 307, 400, 401, 403, 404, 410, 451, 499] {
        assert_eq!(status(code).availability(), Availability::Unavailable, "{code}");
        assert!(status(code).allowed(&url("/x")), "{code}");
        assert_eq!(status(code).expires_at(), 1_000 + RobotsRules::MAX_AGE);
    }
    for code in [0, 100, 429, 500, 502, 503, 504, 599, 999] {
        assert!(status(code).is_undefined(), "{code}");
        assert!(!status(code).allowed(&url("/x")) && status(code).allowed(&url("/robots.txt")), "{code}");
    }
    for code in [200, 203, 206, 299] {
        assert!(!status(code).allowed(&url("/x")) && status(code).allowed(&url("/y")), "{code}");
        assert_eq!((status(code).fetched_at(), status(code).expires_at()), (1_000, 1_000 + RobotsRules::MAX_AGE));
    }
}

#[test]
fn a_server_that_says_when_is_asked_then() {
    let answer = |retry_after| Answer { url: &url("/robots.txt"), status: 429, retry_after, body: b"", at: 5 }.expiry();
    assert_eq!(answer(None), 5 + RobotsRules::FIRST_RETRY);
    assert_eq!(answer(Some(600_000)), 5 + 600_000);
    assert_eq!(answer(Some(u64::MAX)), 5 + RobotsRules::MAX_AGE);
}

impl Answer<'_> {
    fn expiry(&self) -> Millis {
        RobotsRules::read(self, "foobot").expires_at()
    }
}

#[test]
fn failures_are_asked_about_ever_more_rarely_and_given_up_after_thirty_days() {
    let mut rules = RobotsRules::unreachable(0, None, Detail::NoRobots(Failure::Timeout));
    let mut waits = Vec::new();
    while rules.is_undefined() {
        let now = rules.expires_at();
        waits.push(now - rules.fetched_at());
        rules = RobotsRules::unreachable(now, None, Detail::NoRobots(Failure::Timeout)).after(&rules);
    }
    assert_eq!(waits[..4], [60_000, 120_000, 240_000, 480_000]);
    assert_eq!(waits.last(), Some(&RobotsRules::MAX_AGE));
    assert!(
        rules.fetched_at() >= RobotsRules::GIVE_UP && rules.fetched_at() < RobotsRules::GIVE_UP + RobotsRules::MAX_AGE
    );
    assert!(rules.allowed(&url("/x")));
    let later = RobotsRules::unreachable(rules.expires_at(), None, Detail::NoRobots(Failure::Timeout)).after(&rules);
    assert!(later.allowed(&url("/x")), "given up stays given up until there is an answer");
    assert!(
        !RobotsRules::unreachable(later.expires_at(), None, Detail::NoRobots(Failure::Timeout))
            .after(&status(200))
            .allowed(&url("/x"))
    );
}

#[test]
fn an_answer_ends_a_row_of_failures() {
    let failed = RobotsRules::unreachable(0, None, Detail::NoRobots(Failure::Timeout))
        .after(&RobotsRules::unreachable(0, None, Detail::NoRobots(Failure::Timeout)));
    assert_eq!(status(200).after(&failed), status(200));
    let again = RobotsRules::unreachable(9, None, Detail::NoRobots(Failure::Timeout)).after(&status(200));
    assert_eq!(again.availability(), Availability::Unreachable { since: 9, failures: 1 });
}

/// An attacker can put tens of thousands of rules into 500 KiB, each of which has to look at the whole of a long path.
#[test]
fn a_hostile_file_costs_no_more_than_each_rule_a_look_along_the_path() {
    let mut text = "user-agent: *\n".to_owned();
    for n in 0.. {
        if text.len() > RobotsRules::MAX_BYTES - 20 {
            break;
        }
        text += &format!("allow:/*a*a{n:x}\n");
    }
    let (rules, path) = (rules(&text), format!("/{}", "a".repeat(2_000)));
    let work: usize = rules.rules.iter().map(|rule| rule.compare(path.as_bytes()).1).sum();
    assert!(work <= rules.rules.len() * path.len(), "{work}");
    assert!(rules.rules.len() > 30_000 && rules.allowed(&url(&path)));
}

#[test]
fn pages_speak_in_meta_elements_and_headers() {
    let said = |metas: &[&str], headers: &[&str]| {
        let Directives { noindex, nofollow } = page_directives(metas.to_vec(), headers.to_vec(), "foobot");
        (noindex, nofollow)
    };
    assert_eq!(said(&[], &[]), (false, false));
    assert_eq!(said(&["NoIndex, follow"], &[]), (true, false));
    assert_eq!(said(&["none"], &[]), (true, true));
    assert_eq!(said(&["all"], &["noarchive , nofollow"]), (false, true));
    assert_eq!(said(&[], &["otherbot: noindex, nofollow"]), (false, false));
    assert_eq!(said(&[], &["otherbot: noindex, FooBot: nofollow"]), (false, true));
    assert_eq!(said(&[], &["otherbot: none", "noindex"]), (true, false));
    assert_eq!(said(&[], &["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"]), (true, false));
    assert_eq!(said(&[], &["otherbot: max-snippet:5, noindex"]), (false, false));
    assert_eq!(said(&[], &["indexifembedded, noindexing"]), (false, false));
}

/// A simple matcher for comparison, written without regard to cost.
fn naive(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skipped| naive(rest, &path[skipped..])),
        [octet, rest @ ..] => path.first() == Some(octet) && naive(rest, &path[1..]),
    }
}

proptest! {
    #[test]
    fn matches_as_the_naive_matcher(pattern in "/[ab*/]{0,7}[$]?", path in "/[ab/]{0,10}") {
        let rule = RobotsRule::new(pattern.as_bytes(), true).unwrap();
        prop_assert_eq!(rule.matches(path.as_bytes()), naive(pattern.as_bytes(), path.as_bytes()));
    }

    #[test]
    fn spelling_twice_changes_nothing(pattern in any::<Vec<u8>>(), path in "/\\PC{0,30}") {
        if let Some(rule) = RobotsRule::new(&pattern, true) {
            let again = RobotsRule::new(rule.pattern.as_bytes(), true).unwrap();
            prop_assert_eq!(again, rule);
        }
        let once = pattern::path(&path).into_owned();
        prop_assert_eq!(pattern::path(&once).into_owned(), once);
    }

    #[test]
    fn the_store_gives_back_what_it_got(
        lines in prop::collection::vec("(user-agent: (foobot|\\*)|(dis)?allow: \\PC{0,20}(/index.html)?|crawl-delay: [0-9.]{1,6}|sitemap: /\\PC{0,9})", 0..20),
        since in any::<u64>(),
    ) {
        let read = rules(lines.join("\n"));
        prop_assert_eq!(RobotsRules::from_bytes(&read.to_bytes()), Some(read));
        let failed = RobotsRules::unreachable(since, None, Detail::NoRobots(Failure::Timeout));
        prop_assert_eq!(RobotsRules::from_bytes(&failed.to_bytes()), Some(failed));
    }

    #[test]
    fn no_bytes_are_too_odd(body in any::<Vec<u8>>()) {
        rules(&body).allowed(&url("/x"));
        RobotsRules::from_bytes(&body);
    }
}
