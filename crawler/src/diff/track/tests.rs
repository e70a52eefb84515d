//! Histories of URLs, and what is told of them.

use super::*;
use serde_json::json;

/// Stands for the digest of a page that may not be used.
const WITHHELD: u32 = u32::MAX;

/// Makes a history of visits, given as (day, status, changed, digest). Days before day 5 are before the moment. The
/// lines of the first `gone` visits are missing.
fn track(visits: &[(u32, u16, Option<&str>, u32)], gone: usize) -> Track {
    let mut track = Track::default();
    for (at, (day, status, changed, digest)) in visits.iter().enumerate().skip(gone) {
        let line = json!({
            "url": "http://a.test/", "visit": at + 1, "resemblance_before": changed.map(|_| f64::from(10 - day) / 10.0),
            "status": status, "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"),
            "changed": changed, "sha256": (*status == 200).then(|| format!("{digest:064x}").chars().rev().collect::<String>()),
            "verdict": "unique", "title": (*status == 200).then_some("a title"),
            "error": (*digest == WITHHELD).then_some("not stored: noai (header)"),
        })
        .to_string();
        track.add(at as u64, &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
    }
    track
}

fn change(visits: &[(u32, u16, Option<&str>, u32)]) -> Option<UrlChange> {
    track(visits, 0).change()
}

#[test]
fn a_later_visit_is_no_new_page_where_the_first_one_is_in_a_part_that_is_gone() {
    let visits = [(1, 200, None, 1), (6, 200, Some("no"), 1), (7, 200, Some("content"), 2)];
    assert_eq!(track(&visits[..2], 1).change(), Some(UrlChange::Unchanged));
    assert_eq!(track(&visits, 1).change(), Some(UrlChange::Changed));
}

#[test]
fn the_resemblance_is_the_smallest_since_the_moment() {
    let visits = |days: [u32; 3]| {
        let [a, b, c] = days.map(|day| (day, 200, Some("content"), day));
        track(&[(1, 200, None, 1), a, b, c], 0).resemblance
    };
    // The later the day, the less the page resembles the page before.
    assert_eq!((visits([4, 5, 9]), visits([9, 9, 6])), (Some(0.1), Some(0.1)));
    assert_eq!(visits([3, 4, 4]), None, "before the moment");
}

/// Catches a page without a title because its last line before the moment is that of a 304.
#[test]
fn the_last_line_with_a_title_is_known() {
    let visits = [(1, 200, None, 1), (2, 304, Some("no"), 1), (6, 404, None, 0)];
    assert_eq!(track(&visits, 0).titled, Some(0));
    assert_eq!(track(&visits[1..], 0).titled, None);
}

#[test]
fn every_fate_is_told_from_the_lines() {
    let (no, content) = (Some("no"), Some("content"));
    let first = (1, 200, None, 1);
    let cases = [
        (vec![first], None),
        (vec![(6, 200, None, 1)], Some(UrlChange::New)),
        (vec![first, (6, 200, no, 1)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 304, no, 0)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 304, None, 0)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 200, None, 1)], Some(UrlChange::NotCompared)),
        (vec![first, (6, 200, no, 1), (7, 200, None, 1)], Some(UrlChange::NotCompared)),
        (vec![first, (6, 200, None, 1), (7, 200, no, 1)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 200, content, 2)], Some(UrlChange::Changed)),
        (vec![first, (6, 200, content, 2), (7, 304, no, 0)], Some(UrlChange::Changed)),
        (vec![first, (6, 200, content, 2), (7, 200, content, 1)], Some(UrlChange::Unchanged)),
        (vec![first, (2, 200, content, 2), (7, 200, no, 2)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 404, None, 0)], Some(UrlChange::Missing)),
        (vec![first, (4, 404, None, 0), (6, 410, None, 0)], Some(UrlChange::Gone)),
        (vec![first, (6, 404, None, 0), (7, 404, None, 0)], Some(UrlChange::Gone)),
        (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 404, None, 0)], None),
        (vec![first, (6, 404, None, 0), (7, 200, no, 1)], Some(UrlChange::Back)),
        (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 200, None, 1)], Some(UrlChange::Back)),
        (vec![(1, 404, None, 0), (6, 404, None, 0)], None),
        (vec![(1, 404, None, 0), (6, 200, None, 1)], Some(UrlChange::New)),
        (vec![(6, 200, None, 1), (7, 404, None, 0), (8, 200, no, 1)], Some(UrlChange::New)),
        (vec![first, (6, 200, None, WITHHELD)], Some(UrlChange::Withheld)),
        (vec![first, (6, 304, None, WITHHELD)], Some(UrlChange::Withheld)),
        (vec![first, (4, 200, None, WITHHELD), (6, 304, None, WITHHELD)], None),
        (vec![first, (4, 200, None, WITHHELD), (6, 200, no, 1)], Some(UrlChange::Back)),
        (vec![(6, 200, None, WITHHELD)], None),
        (vec![first, (6, 500, None, 0)], Some(UrlChange::Failing)),
        (vec![first, (6, 403, None, 0)], Some(UrlChange::Failing)),
        (vec![first, (4, 403, None, 0), (6, 503, None, 0)], None),
        (vec![first, (3, 404, None, 0), (4, 404, None, 0), (6, 503, None, 0)], None),
        (vec![first, (4, 503, None, 0), (6, 200, no, 1)], Some(UrlChange::Unchanged)),
        (vec![first, (6, 301, None, 0)], Some(UrlChange::Moved)),
        (vec![first, (4, 301, None, 0), (6, 302, None, 0)], None),
        (vec![first, (4, 301, None, 0), (6, 200, no, 1)], Some(UrlChange::Back)),
        (vec![first, (4, 301, None, 0), (6, 404, None, 0)], Some(UrlChange::Missing)),
        (vec![first, (3, 404, None, 0), (4, 500, None, 0), (6, 200, no, 1)], Some(UrlChange::Back)),
        (vec![first, (3, 301, None, 0), (4, 503, None, 0), (6, 200, content, 2)], Some(UrlChange::Back)),
        (vec![first, (3, 301, None, 0), (4, 200, no, 1), (6, 200, no, 1)], Some(UrlChange::Unchanged)),
        (vec![first, (4, 301, None, 0), (6, 503, None, 0)], None),
        (vec![first, (3, 404, None, 0), (4, 503, None, 0), (6, 404, None, 0)], None),
        (vec![first, (3, 301, None, 0), (4, 503, None, 0), (6, 404, None, 0)], Some(UrlChange::Missing)),
        (vec![(6, 301, None, 0)], None),
    ];
    for (visits, expected) in cases {
        assert_eq!(change(&visits), expected, "{visits:?}");
    }
}

/// Catches a page behind a redirect that sets a cookie, which is told as one that was elsewhere.
#[test]
fn a_redirect_that_leads_back_is_no_move() {
    let of = |changed: &str, target: &str, end: Option<&str>| {
        let mut track = Track::default();
        let mut line = |visit: u32, day: u32, more: serde_json::Value| {
            let mut line = json!({"url": "http://a.test/", "visit": visit, "verdict": "unique",
                "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"), "sha256": format!("{visit:x}").repeat(64)});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let line = line.to_string();
            track.add(visit.into(), &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
        };
        line(1, 1, json!({"status": 200}));
        line(2, 6, json!({"status": 302, "via": "again", "redirect_to": target}));
        if end == Some("redirect") {
            line(3, 6, json!({"status": 302, "via": "redirect", "redirect_to": "http://a.test/again"}));
        }
        if let Some(via) = end {
            line(4, 6, json!({"status": 200, "via": via, "changed": changed}));
        }
        track.change()
    };
    for target in ["http://a.test/", "http://a.test/cookie"] {
        assert_eq!(of("content", target, Some("redirect")), Some(UrlChange::Changed), "{target}");
        assert_eq!(of("no", target, Some("redirect")), Some(UrlChange::Unchanged), "{target}");
    }
    assert_eq!(of("no", "http://a.test/cookie", Some("again")), Some(UrlChange::Back));
    assert_eq!(of("", "http://a.test/cookie", None), Some(UrlChange::Moved));
    assert_eq!(of("", "http://a.test/", None), Some(UrlChange::Failing), "a loop");
}

/// Makes a history from lines of `http://a.test/PATH` that are given as (day, more fields).
fn history(path: &str, lines: &[(u32, serde_json::Value)]) -> Track {
    let mut track = Track::default();
    for (at, (day, more)) in lines.iter().enumerate() {
        let mut line = json!({"url": format!("http://a.test/{path}"), "visit": at + 1, "status": 200, "words": 90,
            "verdict": "unique", "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z")});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        track.add(at as u64, &PageLine::parse(line.to_string().as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
    }
    track
}

/// Catches a page that is told as changed although it shows again what it showed, with another comment in its markup.
#[test]
fn a_page_that_shows_its_old_content_again_has_not_changed() {
    let page = |day: u32, content: u64, changed: Option<&str>| {
        let (simhash, sha256) = (format!("{content:016x}"), format!("{day:x}").repeat(64));
        (day, json!({"changed": changed, "simhash": simhash, "sha256": sha256}))
    };
    let change = |lines: &[_]| history("", lines).change();
    let [first, other] = [page(1, 7, None), page(6, 8, Some("content"))];
    let back = page(7, 7, Some("content"));
    assert_eq!(change(&[first.clone(), other.clone()]), Some(UrlChange::Changed));
    assert_eq!(change(&[first.clone(), other.clone(), back]), Some(UrlChange::Unchanged));
    assert_eq!(change(&[first.clone(), other, page(7, 9, Some("content"))]), Some(UrlChange::Changed));
    let alike = page(6, 7, Some("content"));
    assert_eq!(change(&[first, alike]), Some(UrlChange::Changed), "equal fingerprints do not outweigh the judge");
}

#[test]
fn another_target_is_another_move_and_a_circle_is_none() {
    let there = (1, json!({"sha256": "1".repeat(64)}));
    let moved = |day: u32, to: &str| {
        (day, json!({"status": 302, "redirect_to": format!("http://a.test/{to}"), "sha256": null}))
    };
    assert_eq!(history("a", &[there.clone(), moved(3, "b"), moved(6, "b")]).change(), None);
    assert_eq!(history("a", &[there.clone(), moved(3, "b"), moved(6, "c")]).change(), Some(UrlChange::Moved));
    let key_of = |path: &str| key(&format!("http://a.test/{path}"));
    let of = |path: &str, lines: &[_]| (key_of(path), history(path, lines));
    let leads_round = |end: (u64, Track)| {
        let tracks = HashMap::from([of("a", &[there.clone(), moved(6, "b")]), of("b", &[moved(6, "c")]), end]);
        tracks[&key_of("a")].leads_round(key_of("a"), &tracks)
    };
    assert!(leads_round(of("c", &[moved(6, "a")])));
    assert!(!leads_round(of("c", std::slice::from_ref(&there))) && !leads_round(of("d", &[moved(6, "a")])));
}

/// Catches a 304 to a request without validators that counts as a comparison.
#[test]
fn a_304_that_nobody_asked_for_compares_nothing() {
    let first = (1, json!({"sha256": "1".repeat(64)}));
    let answer = |verdict: &str| (6, json!({"status": 304, "verdict": verdict}));
    assert_eq!(history("", &[first.clone(), answer("unchanged")]).change(), Some(UrlChange::Unchanged));
    assert_eq!(history("", &[first, answer("unjudged")]).change(), Some(UrlChange::NotCompared));
}

#[test]
fn a_copy_that_did_not_change_with_its_page_has_left_it() {
    let (page, copy) = ("http://a.test/p", "http://a.test/c");
    let history = |url: &str, visits: &[(u32, Option<&str>, &str, Option<&str>)]| {
        let mut track = Track::default();
        for (at, (day, changed, verdict, of)) in visits.iter().enumerate() {
            let line = json!({
                "url": url, "visit": at + 1, "status": 200, "fetched_at": format!("2026-01-{day:02}T00:00:00.000Z"),
                "changed": changed, "verdict": verdict, "duplicate_of": of,
            })
            .to_string();
            track.add(at as u64, &PageLine::parse(line.as_bytes()).unwrap(), "2026-01-05T00:00:00.000Z");
        }
        track
    };
    let content = Some("content");
    let cases = [
        ((content, "unique", None), None, false),
        ((content, "unique", None), Some((Some("no"), "unchanged", None)), true),
        ((content, "unique", None), Some((content, "exact", Some(page))), false),
        ((content, "exact", Some(copy)), Some((content, "unique", None)), false),
        ((content, "unique", None), Some((content, "unique", None)), true),
    ];
    for (of_page, of_copy, left) in cases {
        let later = |(changed, verdict, of)| (6, changed, verdict, of);
        let of_page = history(page, &[(1, None, "unique", None), later(of_page)]);
        let visits: Vec<_> = [(1, None, "exact", Some(page))].into_iter().chain(of_copy.map(later)).collect();
        let tracks = HashMap::from([(key(page), of_page), (key(copy), history(copy, &visits))]);
        assert_eq!(tracks[&key(copy)].left(key(copy), &tracks), left.then_some(key(page)), "{of_copy:?}");
    }
}
