//! Templates: kinds of links, told by the forms of their URLs. Links of one template most likely share their fate.
//!
//! A template is all links of one host whose paths have one form and whose parameters have the same names. In the form,
//! what names a single page is replaced by a sign: `/post/7898d81e` and `/post/dQw4w9WgXcQ` are `/post/*`, `/post/17`
//! is `/post/#`, and `/post/ant` is `/post/w`. What names a kind of pages stays: a folder of one word, a word beside a
//! number (`/list/page-2` is `/list/page-#`), an ending (`.html`), and a program with parameters (`/list.php?page=2`).

use dedup_stage::url::SiteId;
use url::{Position, Url};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The parts of a URL that tell its template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target<'u> {
    /// Everything before the path: the scheme, the host, and the port if it is not the usual one.
    pub origin: &'u str,
    pub path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Target<'u> {
    /// Cuts the text of a URL, as [`Url`] writes it, into its parts. For a URL in a record, this is faster than to
    /// parse it. `None` if the URL has no host.
    pub fn written(url: &'u str) -> Option<Self> {
        let start = url.find("://")? + "://".len();
        let (origin, rest) = url.split_at(start + url[start..].find('/')?);
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        Some(Self { origin, path, query })
    }
}

impl<'u> From<&'u Url> for Target<'u> {
    fn from(url: &'u Url) -> Self {
        Self { origin: &url[..Position::BeforePath], path: url.path(), query: url.query() }
    }
}

/// The template of a link of `site`: a hash of the form of its path, and of the names of its parameters. The identity
/// of the host is a hash with the secret of the crawl, so nobody can make two templates collide on purpose.
pub fn template<'u>(url: impl Into<Target<'u>>, site: SiteId) -> u64 {
    let form = form(url.into());
    xxh3_64_with_seed(form.as_bytes(), site.host ^ u64::from_be_bytes(*b"template"))
}

/// The shape of a URL, which is coarser than its form: the number of segments of its path, its ending, and the names of
/// its parameters. Where each author, town or product has a folder of its own, its pages have a template of their own,
/// but all have one shape.
pub fn shape<'u>(url: impl Into<Target<'u>>) -> String {
    let url = url.into();
    let path = url.path;
    let (trimmed, slash) = path.strip_suffix('/').map_or((path, ""), |trimmed| (trimmed, "/"));
    let segments = trimmed.split('/').skip(1).count().min(FOLDERS + 1);
    let last = trimmed.rsplit('/').next().unwrap_or_default();
    let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending = if ending.len() <= ENDING { ending } else { "" };
    format!("{}.{ending}{slash}?{}", "/x".repeat(segments), names(url))
}

/// Only this many segments at the beginning of a path count, and the last one. Otherwise a site whose paths grow
/// without end would have templates without end.
const FOLDERS: usize = 3;
/// A segment of at least this length names one page, not a kind of pages.
const LONG: usize = 16;
/// A segment at the beginning of a path that mixes letters and digits is an identifier if it has at least
/// this length.
const ID: usize = 6;
/// At most this many letters make an ending.
const ENDING: usize = 5;

/// The form of the path of a URL, and the names of its parameters.
fn form(url: Target<'_>) -> String {
    let path = url.path;
    let (trimmed, slash) = path.strip_suffix('/').map_or((path, ""), |trimmed| (trimmed, "/"));
    let segments: Vec<&str> = trimmed.split('/').skip(1).collect();
    let has_query = url.query.is_some_and(|query| !query.is_empty());
    let mut form = String::with_capacity(path.len());
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        if at < FOLDERS || is_last {
            form.push('/');
            let role = match (at, is_last) {
                (0, true) if has_query => Role::Kind,
                (0, false) => Role::Kind,
                (_, false) => Role::Folder,
                (_, true) if has_query && segment.contains('.') => Role::Kind,
                (_, true) => Role::Page,
            };
            push_form(segment, role, &mut form);
        }
    }
    form.push_str(slash);
    form.push('?');
    form.push_str(&names(url));
    form
}

/// The names of the parameters of a URL, in order.
fn names(url: Target<'_>) -> String {
    let mut names: Vec<&str> =
        url.query.unwrap_or_default().split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    names.join("&")
}

/// What a word in a segment stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A kind of pages.
    Kind,
    /// A kind of pages if it is one word, else perhaps a single page.
    Folder,
    /// A single page, perhaps.
    Page,
}

/// Appends the form of a segment.
fn push_form(segment: &str, role: Role, form: &mut String) {
    let (stem, ending) = match segment.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= ENDING => (stem, Some(ending)),
        _ => (segment, None),
    };
    match sign(stem, role) {
        Some(sign) => form.push(sign),
        None => push_numbered(stem, form),
    }
    if let Some(ending) = ending {
        form.push('.');
        form.push_str(ending);
    }
}

/// The sign in place of a stem that names one page; `None` if the stem, without its numbers, names a kind of pages.
fn sign(stem: &str, role: Role) -> Option<char> {
    if stem.len() >= LONG || stem.contains('%') {
        return Some('*');
    }
    let parts = || stem.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let (mut words, mut numbers, mut mixed) = (0, 0, 0);
    for part in parts() {
        let word = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
        match (word.len(), part.len() - word.len()) {
            (0, _) => numbers += 1,
            (_, 0) if !has_digit(word) => words += 1,
            // Such as `page2`.
            (3.., _) if !has_digit(word) => (words, numbers) = (words + 1, numbers + 1),
            _ => mixed += 1,
        }
    }
    match role {
        Role::Kind => (mixed > 0 && stem.len() >= ID).then_some('*'),
        Role::Folder if words > 1 => Some('*'),
        Role::Folder => (mixed > 0 && stem.len() >= ID).then_some('*'),
        Role::Page if mixed > 0 || words > 1 => Some('*'),
        Role::Page => (words == 1 && numbers == 0).then_some('w'),
    }
}

/// Appends a text with `#` in place of each number.
fn push_numbered(text: &str, form: &mut String) {
    let mut in_number = false;
    for letter in text.chars() {
        let digit = letter.is_ascii_digit();
        if !digit {
            form.push(letter);
        } else if !in_number {
            form.push('#');
        }
        in_number = digit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> String {
        let url = Url::parse("http://a.test").unwrap().join(path).unwrap();
        form(Target::from(&url))
    }

    #[test]
    fn the_parts_of_a_url_are_the_same_in_a_record() {
        for url in [
            "http://a.test",
            "https://a.test:8080/?",
            "http://a.test/a/b?c=d/e?f#g?h",
            "http://[::1]/x#/?y",
            "http://a.test?q=http://b.test/#c",
            "http://me:pass%2Fword@a.test/#",
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(Target::written(url.as_str()), Some(Target::from(&url)), "{url}");
        }
        assert_eq!(Target::written("mailto:a@a.test"), None);
    }

    #[test]
    fn what_names_one_page_is_replaced_and_what_names_a_kind_stays() {
        for (path, expected) in [
            ("/post/7898d81e", "/post/*?"),
            ("/post/7898d81e/", "/post/*/?"),
            ("/post/7898d81e/view", "/post/*/w?"),
            ("/d/dQw4w9WgXcQ/", "/d/*/?"),
            ("/dp/B0C1XXXXXX/", "/dp/*/?"),
            ("/post/123/", "/post/#/?"),
            ("/post/ant", "/post/w?"),
            ("/post/two-words", "/post/*?"),
            ("/post/a-long-title-of-an-article", "/post/*?"),
            ("/post/caf%C3%A9", "/post/*?"),
            ("/list/page-2", "/list/page-#?"),
            ("/list/page2.html", "/list/page#.html?"),
            ("/cal/2025/6/", "/cal/#/#/?"),
            ("/archive/2026-05/", "/archive/#-#/?"),
            ("/ant", "/w?"),
            ("/list?sort=a&page=2", "/list?page&sort"),
            ("/shop/list.php?page=2", "/shop/list.php?page"),
            ("/s/7898d81e?ref=1", "/s/*?ref"),
            ("/S7x9d81e/list", "/*/w?"),
            ("/de/list/2", "/de/list/#?"),
            ("/de/item/2", "/de/item/#?"),
            ("/p/red-shoes/reviews", "/p/*/w?"),
            ("/x/y/z/1/2/3/4/5", "/x/y/z/#?"),
            ("/", "/?"),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
    }

    #[test]
    fn a_shape_does_not_tell_words_apart() {
        let of = |path: &str| shape(&Url::parse("http://a.test").unwrap().join(path).unwrap());
        for [one, other] in [
            ["/ann/latest", "/bob/best"],
            ["/berlin-17", "/about"],
            ["/a/b/c/d", "/a/b/c/d/e/f"],
            ["/a.html", "/b-1.html"],
        ] {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        for [one, other] in [["/ann/latest", "/ann"], ["/a", "/a/"], ["/a.html", "/a"], ["/a?x=1", "/a?y=1"]] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }

    #[test]
    fn two_hosts_and_two_kinds_have_two_templates() {
        let (site, other) = (SiteId { domain: 1, host: 2 }, SiteId { domain: 1, host: 3 });
        let of = |url: &str, site| template(&Url::parse(url).unwrap(), site);
        assert_eq!(of("http://a/item/17", site), of("http://a/item/2304", site));
        assert_ne!(of("http://a/1", site), of("http://a/1", other));
        for kinds in [["http://a/item/17", "http://a/items/17"], ["http://a/list?page=2", "http://a/list?day=2"]] {
            assert_ne!(of(kinds[0], site), of(kinds[1], site), "{kinds:?}");
        }
    }
}
