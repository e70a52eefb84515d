//! Suggests rewrites. Two URLs show the same. Each suggested rewrite would give both of them the same class. The pair
//! that suggests a rewrite is no evidence for it. Other pairs must prove it.

use url::Url;

use super::rewrite::{Rewrite, origin, skeleton};
use crate::segment::is_id;

/// The rewrites that give `url` and `twin` the same class. If one URL is the other with something added, the longer one
/// is the copy. Otherwise `url` is the copy.
pub fn propose(url: &Url, twin: &Url) -> Vec<Rewrite> {
    let mut found = Vec::new();
    if origin(url) != origin(twin) {
        mirror(url, twin, &mut found);
    } else if url.path() == twin.path() {
        parameter(url, twin, &mut found);
    } else if url.query() == twin.query() {
        segments(url, twin, &mut found);
        ending(url, twin, &mut found);
    }
    if found.is_empty() && origin(url) == origin(twin) && url.path() != twin.path() {
        form(url, twin, &mut found);
    }
    found
}

/// Suggests that a parameter makes no difference, if the two queries differ in this parameter alone.
fn parameter(url: &Url, twin: &Url, found: &mut Vec<Rewrite>) {
    let pairs = |url: &Url| -> Vec<(String, String)> {
        let pairs = url.query().into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(n, v)| (n.into(), v.into())).collect()
    };
    let (ours, theirs) = (pairs(url), pairs(twin));
    let mut names: Vec<&String> = ours.iter().filter(|pair| !theirs.contains(pair)).map(|(name, _)| name).collect();
    names.extend(theirs.iter().filter(|pair| !ours.contains(pair)).map(|(name, _)| name));
    names.dedup();
    if let [name] = names[..]
        && !name.is_empty()
    {
        found.push(Rewrite::Parameter { origin: origin(url).into(), name: name.clone() });
    }
}

/// Suggests mirrors: the URLs are of two origins (often of two hosts), and their paths have the same end. A rule about
/// a larger folder saves more fetches. But two hosts may share one folder only. So the largest folders that the pair
/// allows are suggested, at most [`FOLDERS`].
fn mirror(url: &Url, twin: &Url, found: &mut Vec<Rewrite>) {
    if url.query() != twin.query() {
        return;
    }
    let (ours, theirs) = (split(url), split(twin));
    let common = common_end(&ours, &theirs);
    if common == 0 {
        return;
    }
    for common in (1..=common).rev().take(FOLDERS) {
        push_prefix(url, &ours[..ours.len() - common], twin, &theirs[..theirs.len() - common], found);
    }
}

/// At most this many folders are suggested for one pair of pages.
const FOLDERS: usize = 3;

/// Suggests that a path segment makes no difference, or that a folder holds copies of another: the URLs are of one
/// host, and their paths differ in one place.
fn segments(url: &Url, twin: &Url, found: &mut Vec<Rewrite>) {
    let (ours, theirs) = (split(url), split(twin));
    let begin = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let end = common_end(&ours[begin..], &theirs[begin..]);
    let (x, y) = (&ours[begin..ours.len() - end], &theirs[begin..theirs.len() - end]);
    if end == 0 {
        return;
    }
    match (x, y) {
        ([one], []) | ([], [one]) if is_id(one) => found.push(segment(url, &ours[..begin], one)),
        ([one], [other]) if one.len() == other.len() && is_id(one) && is_id(other) => {
            found.push(segment(url, &ours[..begin], one));
        }
        _ => {}
    }
    let (from, to) = (&ours[..begin + x.len()], &theirs[..begin + y.len()]);
    // If the twin is the URL with something added, the twin is the copy.
    if x.is_empty() && !y.is_empty() {
        push_prefix(twin, to, url, from, found);
    } else {
        push_prefix(url, from, twin, to, found);
    }
}

fn segment(url: &Url, before: &[&str], id: &str) -> Rewrite {
    Rewrite::Segment { origin: origin(url).into(), under: folder(before), length: id.len() }
}

fn push_prefix(url: &Url, from: &[&str], twin: &Url, to: &[&str], found: &mut Vec<Rewrite>) {
    let prefix = |url: &Url, before: &[&str]| format!("{}{}", origin(url), folder(before));
    found.push(Rewrite::Prefix { from: prefix(url, from), to: prefix(twin, to) });
}

/// Suggests an ending: the URLs are of one host, and one path has something added at its end, or before the extension
/// of its file name.
fn ending(url: &Url, twin: &Url, found: &mut Vec<Rewrite>) {
    let (long, short) = if url.path().len() > twin.path().len() { (url, twin) } else { (twin, url) };
    let (a, b) = (long.path(), short.path());
    let begin = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let end = a[begin..].bytes().rev().zip(b[begin..].bytes().rev()).take_while(|(a, b)| a == b).count();
    // The longer path must contain all of the shorter one. The addition must stand in the last segment, or be one more
    // segment.
    if begin + end != b.len() || begin == 0 {
        return;
    }
    let (added, rest) = (&a[begin..a.len() - end], &b[begin..]);
    let last = !rest.contains('/') || rest == "/";
    let one = added.trim_matches('/').matches('/').count() == 0;
    let number = added.bytes().all(|byte| byte.is_ascii_digit());
    if last && one && !number && !added.is_empty() && !b[..begin].ends_with('/') {
        found.push(Rewrite::Ending { origin: origin(url).into(), from: a[begin..].into(), to: rest.into() });
    }
}

/// Suggests a form: the URLs are of one host, and write the same numbers in two ways.
fn form(url: &Url, twin: &Url, found: &mut Vec<Rewrite>) {
    let rest = |url: &Url| url[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
    let (ours, theirs) = (rest(url), rest(twin));
    let ((from, mine), (to, wanted)) = (skeleton(&ours), skeleton(&theirs));
    if from == to || wanted.is_empty() || ours.contains('#') || theirs.contains('#') {
        return;
    }
    // Search from the end, because the number that identifies a page mostly stands last.
    let numbers: Option<Vec<usize>> =
        wanted.iter().map(|number| mine.iter().rposition(|known| known == number)).collect();
    if let Some(numbers) = numbers {
        found.push(Rewrite::Form { origin: origin(url).into(), from, to, numbers });
    }
}

fn split(url: &Url) -> Vec<&str> {
    url.path().trim_start_matches('/').split('/').collect()
}

fn folder(segments: &[&str]) -> String {
    let mut out = String::from("/");
    for segment in segments {
        out.push_str(segment);
        out.push('/');
    }
    out
}

fn common_end(a: &[&str], b: &[&str]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(url: &str, twin: &str) -> Vec<String> {
        let (url, twin) = (Url::parse(url).unwrap(), Url::parse(twin).unwrap());
        let found = propose(&url, &twin);
        for rule in &found {
            // Each suggestion must give both URLs the same class.
            let one = |url: &Url| rule.apply(url).unwrap_or_else(|| url.clone());
            assert_eq!(one(&url), one(&twin), "{rule}");
        }
        found.iter().map(Rewrite::to_string).collect()
    }

    #[test]
    fn a_pair_suggests_the_rules_that_make_it_one() {
        for (url, twin, rules) in [
            ("http://a/x?b=1&s=2", "http://a/x?b=1", vec!["http://a/*?s=* = without s"]),
            ("http://a/x?s=2", "http://a/x?s=3", vec!["http://a/*?s=* = without s"]),
            ("http://a/x?s=2&t=1", "http://a/x?s=3&t=2", vec![]),
            ("http://b/x/y.html", "http://a/x/y.html", vec!["http://b/* = http://a/*", "http://b/x/* = http://a/x/*"]),
            (
                "http://b/old/x/y.html",
                "http://a/x/y.html",
                vec!["http://b/old/* = http://a/*", "http://b/old/x/* = http://a/x/*"],
            ),
            ("https://a/x", "http://a/x", vec!["https://a/* = http://a/*"]),
            ("http://a/zz/x.html", "http://a/x.html", vec!["http://a/zz/* = http://a/*"]),
            // The longer one is the copy, whichever came first.
            ("http://a/x.html", "http://a/zz/x.html", vec!["http://a/zz/* = http://a/*"]),
            (
                "http://a/s1b2c3/x",
                "http://a/s4d5e6/x",
                vec!["http://a/<6 characters>/* = http://a/*", "http://a/s1b2c3/* = http://a/s4d5e6/*"],
            ),
            ("http://a/x/y/pp", "http://a/x/y", vec!["http://a/*/pp = http://a/*"]),
            ("http://a/x/y-pp.html", "http://a/x/y.html", vec!["http://a/*-pp.html = http://a/*.html"]),
            ("http://a/f/t-3/p-40", "http://a/f/v?p=40", vec!["http://a/f/t-#/p-# = http://a/f/v?p=# by numbers [1]"]),
            ("http://a/m/2026/01/", "http://a/m/2026/02/", vec!["http://a/m/2026/01/* = http://a/m/2026/02/*"]),
            ("http://a/one", "http://a/two", vec![]),
        ] {
            assert_eq!(names(url, twin), rules, "{url} {twin}");
        }
    }
}
