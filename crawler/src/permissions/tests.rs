//! Tests with every example of the drafts, and with faults that occur on the web.

use proptest::prelude::*;

use super::robots::UsageRules;
use super::tdm::TdmFile;
use super::usage::{Category, Preferences};
use super::*;

fn url(path: &str) -> Url {
    Url::parse("https://provider.com").unwrap().join(path).unwrap()
}

fn robots(text: &str, token: &str) -> UsageRules {
    UsageRules::read(text.as_bytes(), token, &url("/robots.txt"))
}

/// The preferences for `train-ai` and `search`, as y, n or ?.
fn shown(preferences: &Preferences) -> String {
    let letter = |category| preferences.get(category).map_or('?', |allowed| if allowed { 'y' } else { 'n' });
    [Category::TrainAi, Category::Search].map(letter).iter().collect()
}

/// `draft-ietf-aipref-vocab`: every example of sections 6 and 7, and the rules around them.
#[test]
fn usage_is_read_as_the_vocabulary_says() {
    for (value, expected) in [
        ("train-ai=y, search=n", "yn"),
        ("train-ai=y, train-ai, search=n, search=\"n\"", "??"),
        ("train-ai;allow=n, train-ai=y", "y?"),
        ("train-ai;has;parameters=\"?\";", "??"),
        ("train-ai=n", "n?"),
        ("train-ai=n, future-use=y", "n?"),
        ("train-ai=n;why=\"because\"", "n?"),
        ("train-ai=yes, search=Y", "??"),
        ("train-ai=(y), search=n", "?n"),
        ("train-ai=?1", "??"),
        ("train-ai=n, Search=n", "??"),
        ("train-ai=n,", "??"),
        ("train-ai=n, search=\u{fc}", "??"),
        ("train-ai=y, train-ai=n", "n?"),
        ("", "??"),
        ("*=n", "??"),
    ] {
        assert_eq!(shown(&Preferences::from_usage(value.as_bytes())), expected, "{value}");
    }
}

/// `draft-ietf-aipref-vocab`, section 5.1: every pair of answers.
#[test]
fn the_most_restrictive_preference_holds() {
    for (a, b, expected) in [
        ("n", "n", "n?"),
        ("n", "y", "n?"),
        ("y", "n", "n?"),
        ("n", "x", "n?"),
        ("y", "y", "y?"),
        ("y", "x", "y?"),
        ("x", "y", "y?"),
        ("x", "x", "??"),
    ] {
        let [a, b] = [a, b].map(|token| Preferences::from_usage(format!("train-ai={token}").as_bytes()));
        assert_eq!(shown(&a.combine(&b)), expected);
    }
}

/// The example file of `draft-ietf-aipref-attach`. The test below has its table.
const EXAMPLE: &str = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n\
    Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n";

#[test]
fn robots_lines_are_read_as_the_draft_says() {
    for (text, token, path, expected) in [
        (EXAMPLE, "", "/test", "n?"),
        (EXAMPLE, "", "/ai-ok/test", "y?"),
        (EXAMPLE, "examplebot", "/test", "y?"),
        (EXAMPLE, "OtherBot", "/test", "n?"),
        ("User-Agent: *\nAllow: /\nContent-Usage: train-ai=n\n", "", "/x", "n?"),
        // Section 3.1: the longest path counts, whatever the order. Equal paths are combined. The path may be absent.
        ("user-agent: *\ncontent-usage: /a/b train-ai=y\ncontent-usage: /a train-ai=n", "", "/a/b/c", "y?"),
        ("user-agent: *\ncontent-usage: /a train-ai=y\ncontent-usage: /a train-ai=n, search=y", "", "/a", "ny"),
        ("user-agent: *\ncontent-usage: /a train-ai=y", "", "/b", "??"),
        ("user-agent: *\ncontent-usage: /a%20b search=n", "", "/a b", "?n"),
        ("user-agent: *\ncontent-usage: /*.pdf$ search=n", "", "/x/y.pdf", "?n"),
        // Section 3.2: white space around label and colon, and a comment at the end.
        ("user-agent: *\n \tContent-Usage \t:\t /a\ttrain-ai=n # no", "", "/a", "n?"),
        ("user-agent: *\r\nCONTENT-USAGE: train-ai=n\r\n", "", "/a", "n?"),
        // A path without a statement says nothing.
        ("user-agent: *\ncontent-usage: /a", "", "/a", "??"),
        // Groups for the same agent are one group. Other lines end no group.
        ("user-agent: a\nuser-agent: b\ncontent-usage: search=n\nuser-agent: c\n", "b", "/", "?n"),
        ("user-agent: b\ndisallow:\nuser-agent: c\ncontent-usage: search=n", "b", "/", "??"),
        ("\u{feff}content-usage: search=n", "", "/", "?n"),
    ] {
        let found = robots(text, token).preferences(&url(path)).next().map(|(_, preferences)| shown(&preferences));
        assert_eq!(found.unwrap_or("??".into()), expected, "{text:?} {path}");
    }
}

#[test]
fn content_signals_say_yes_and_no() {
    for (value, train, search, input) in [
        ("search=yes,ai-train=no", Some(false), Some(true), None),
        ("ai-train=no, search=yes, ai-input=yes", Some(false), Some(true), Some(true)),
        ("Search = YES", None, Some(true), None),
        ("search=y, ai-train=maybe", None, None, None),
        ("ai-train=no, ai-train=yes", Some(false), None, None),
    ] {
        let preferences = Preferences::from_signal(value);
        let found = [Category::TrainAi, Category::Search, Category::AiInput].map(|category| preferences.get(category));
        assert_eq!(found, [train, search, input], "{value}");
    }
    let rules = robots("User-Agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", "");
    let permissions = Permissions::of_url(&url("/"), Some(&rules), None);
    let forbidden = Decision::Forbidden { by: Source::Robots, words: "Content-Signal" };
    assert_eq!(permissions.decide(Purpose::Train, false), forbidden);
    assert_eq!(permissions.decide(Purpose::Search, false), Decision::Allowed);
    assert_eq!(permissions.decide(Purpose::Input, false), Decision::Unknown);
}

/// Examples of the TDMRep specification, section *TDM File on the Origin Server*.
#[test]
fn tdm_files_are_read_as_the_specification_says() {
    let all = r#"[{"location": "/", "tdm-reservation": 1}]"#;
    let groups = r#"[
        {"location": "/directory-a/", "tdm-reservation": 1},
        {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy":"https://provider.com/policies/policy.json"},
        {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0}]"#;
    let policy = Some("https://provider.com/policies/policy.json");
    for (file, path, reserved, expected) in [
        (all, "/any/thing", Some(true), None),
        (groups, "/directory-a/x.pdf", Some(true), None),
        (groups, "/directory-b/html/x.html", Some(true), policy),
        (groups, "/directory-b/images/x.jpg", Some(false), None),
        (groups, "/directory-b/images/x.png", None, None),
        (groups, "/Directory-A/x.pdf", None, None),
        (r#"[{"location": "/this/path/exactly$", "tdm-reservation": 1}]"#, "/this/path/exactly", Some(true), None),
        (r#"[{"location": "/this/path/exactly$", "tdm-reservation": 1}]"#, "/this/path/exactly/x", None, None),
        (r#"[{"location": "/this/*/then", "tdm-reservation": 1}]"#, "/this/and/then/some", Some(true), None),
        (r#"[{"location": "/path/foo-%24", "tdm-reservation": 1}]"#, "/path/foo-$", Some(true), None),
        // By definition, the first match is the most specific one. Values other than 0 and 1 leave the reservation
        // unset.
        (
            r#"[{"location": "/a", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]"#,
            "/a",
            Some(false),
            None,
        ),
        (r#"[{"location": "/a", "tdm-reservation": 2}, {"location": "/", "tdm-reservation": 1}]"#, "/a", None, None),
        (r#"[{"location": "/", "tdm-reservation": "1"}]"#, "/", Some(true), None),
        (r#"{"location": "/", "tdm-reservation": 1}"#, "/", None, None),
        (r#"[{"tdm-reservation": 1}, 7, null]"#, "/", None, None),
        ("<html>not found</html>", "/", None, None),
    ] {
        let permissions = Permissions::of_url(&url(path), None, Some(&TdmFile::read(file.as_bytes())));
        assert_eq!(permissions.tdm.reserved().map(|(_, reserved)| reserved), reserved, "{file} {path}");
        assert_eq!(permissions.tdm_policy(), expected, "{file} {path}");
    }
}

type Pairs = &'static [(&'static str, &'static str)];

fn answer(file: &str, headers: Pairs, metas: Pairs) -> Permissions {
    let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
    let file = TdmFile::read(file.as_bytes());
    Permissions::of_url(&url("/"), None, Some(&file)).of_answer(headers, metas.iter().copied(), "OurBot")
}

/// TDMRep, sections on headers and HTML and *Processing priority*.
#[test]
fn later_places_outrank_earlier_ones() {
    let reserved = r#"[{"location": "/", "tdm-reservation": 1, "tdm-policy": "https://a.test/file"}]"#;
    let policy: Pairs = &[("TDM-Reservation", "1"), ("tdm-policy", "https://provider.com/policies/policy.json")];
    for (file, headers, metas, expected, link) in [
        ("", &[("tdm-reservation", "1")] as Pairs, &[] as Pairs, Some((Source::Header, true)), None),
        ("", policy, &[], Some((Source::Header, true)), Some("https://provider.com/policies/policy.json")),
        ("", &[], policy, Some((Source::Meta, true)), Some("https://provider.com/policies/policy.json")),
        (reserved, &[], &[], Some((Source::TdmFile, true)), Some("https://a.test/file")),
        (reserved, &[("tdm-reservation", "0")], &[], Some((Source::Header, false)), None),
        (
            reserved,
            &[("tdm-reservation", "0")],
            &[("tdm-reservation", "1")],
            Some((Source::Meta, true)),
            Some("https://a.test/file"),
        ),
        (reserved, &[("tdm-reservation", "maybe")], &[], Some((Source::TdmFile, true)), Some("https://a.test/file")),
        // A policy without a reservation does not count.
        ("", &[("tdm-policy", "https://a.test/")], &[], None, None),
    ] {
        let permissions = answer(file, headers, metas);
        assert_eq!(permissions.tdm.reserved(), expected, "{file} {headers:?} {metas:?}");
        assert_eq!(permissions.tdm_policy(), link);
    }
}

#[test]
fn a_purpose_is_forbidden_by_whoever_speaks_of_it() {
    use Purpose::*;
    let forbidden = |by, words| Decision::Forbidden { by, words };
    for (headers, metas, purpose, is_image, expected) in [
        (
            &[("content-usage", "train-ai=n")] as Pairs,
            &[] as Pairs,
            Train,
            false,
            forbidden(Source::Header, "Content-Usage"),
        ),
        (&[("content-usage", "train-ai=n")], &[], Search, false, Decision::Unknown),
        (&[("content-usage", "search=y")], &[], Search, false, Decision::Allowed),
        // Two fields are one list. The last value of a key in it counts.
        (&[("content-usage", "search=n"), ("content-usage", "search=y")], &[], Search, false, Decision::Allowed),
        (&[("content-usage", "train-ai=y")], &[("robots", "noai")], Train, false, forbidden(Source::Meta, "noai")),
        (&[("x-robots-tag", "noarchive")], &[], Archive, false, forbidden(Source::Header, "noarchive")),
        (&[("x-robots-tag", "otherbot: noarchive")], &[], Archive, false, Decision::Unknown),
        (
            &[("x-robots-tag", "otherbot: noarchive, ourbot: noai")],
            &[],
            Input,
            false,
            forbidden(Source::Header, "noai"),
        ),
        (
            &[("x-robots-tag", "unavailable_after: 25 Jun 2010, noai")],
            &[],
            Train,
            false,
            forbidden(Source::Header, "noai"),
        ),
        (&[("x-robots-tag", "noimageai")], &[], Train, false, Decision::Unknown),
        (&[("x-robots-tag", "noimageai")], &[], Train, true, forbidden(Source::Header, "noimageai")),
        (&[], &[("OURBOT", "noindex")], Search, false, forbidden(Source::Meta, "noindex")),
        (&[], &[("googlebot", "noindex")], Search, false, Decision::Unknown),
        (&[], &[("robots", "none")], Archive, false, Decision::Unknown),
        (&[("tdm-reservation", "1")], &[], Mine, false, forbidden(Source::Header, "tdm-reservation: 1")),
        (&[("tdm-reservation", "1")], &[], Train, false, forbidden(Source::Header, "tdm-reservation: 1")),
        (&[("tdm-reservation", "1")], &[], Search, false, Decision::Unknown),
        (&[("tdm-reservation", "0")], &[], Mine, false, Decision::Allowed),
        (&[("tdm-reservation", "0")], &[], Train, false, Decision::Unknown),
    ] {
        assert_eq!(answer("", headers, metas).decide(purpose, is_image), expected, "{headers:?} {metas:?} {purpose:?}");
    }
}

#[test]
fn what_is_said_is_recorded() {
    assert_eq!(answer("", &[], &[("description", "x")]).record(), None);
    let headers: Pairs = &[("content-usage", "train-ai=n, search=y"), ("x-robots-tag", "noai, noarchive")];
    let mut permissions = answer(r#"[{"location":"/","tdm-reservation":1}]"#, headers, &[]);
    permissions.licence([url("/licence"), url("/licence")]);
    let expected = serde_json::json!({
        "train-ai": {"header": "n"}, "search": {"header": "y"}, "tdm-reservation": {"tdmrep.json": 1},
        "x-robots-tag": ["noarchive", "noai"], "licences": ["https://provider.com/licence"],
    });
    assert_eq!(permissions.record(), Some(expected));
}

#[test]
fn licences_are_few_and_purposes_have_names() {
    let rules = robots("License: https://provider.com/license.xml\nUser-agent: *\nDisallow: /x", "");
    let mut permissions = Permissions::of_url(&url("/"), Some(&rules), None);
    permissions.licence((0..1_000).map(|n| url(&format!("/{n}"))));
    assert_eq!(permissions.licences()[0], url("/license.xml"));
    assert_eq!(permissions.licences().len(), MAX_LICENCES);
    assert!(Purpose::ALL.iter().all(|(name, purpose)| Purpose::named(name) == Some(*purpose)));
    assert_eq!(Purpose::named("sell"), None);
}

proptest! {
    /// Catches input for which the reading fails.
    #[test]
    fn odd_input_says_something_or_nothing(body in proptest::collection::vec(any::<u8>(), 0..600), lines in proptest::collection::vec(
        prop::sample::select(vec!["user-agent: *\n", "content-usage: ", "/a\t", "train-ai=n", "\n", "content-signal:", "%zz", "*$", "license: ::", "\u{0}"]), 0..40)) {
        let text = [lines.concat().as_bytes(), &body].concat();
        let rules = UsageRules::read(&text, "bot", &url("/robots.txt"));
        let file = TdmFile::read(&text);
        let permissions = Permissions::of_url(&url("/a?b=c"), Some(&rules), Some(&file)).of_answer([("content-usage", text.as_slice())], [], "bot");
        prop_assert!(permissions.licences().len() <= MAX_LICENCES);
    }
}
