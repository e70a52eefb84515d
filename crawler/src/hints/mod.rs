//! What a page says of its relation to others: its canonical URL, its translations, the pages before and after it, where it
//! sends readers, its licence and its feeds. Each is a hint: who publishes a page decides what stands there, and a hint about
//! another site is no more than a word.
//!
//! [`scan`] reads the elements of a page that can carry hints, in one pass of html5ever's tokenizer and without a tree;
//! [`Hints::read`] turns them and the `Link` headers (RFC 8288) into one struct of resolved URLs. Both are pure.
//!
//! # How the crawler uses it
//!
//! A worker calls both once per HTML page (or gives `Hints::read` what its own pass has collected; the cost of [`scan`] is
//! about that of reading the page once more). `canonical` is a hint for the key and for the cluster's representative, to be
//! believed only where contents agree: [`Canonical::is_foreign`] says that it names another site. `translations`, `next` and
//! `previous` are links with a reason, shown by `why`; `refresh` is a link, and with a delay of 0 a redirect. The metas of
//! [`Head`] go to `permissions` as well, `licences` to [`crate::permissions::Permissions::licence`], `feeds` to the frontier.

mod header;
mod scan;

#[cfg(test)]
mod tests;

use url::Url;

pub use header::{Target, link_header};
pub use scan::{Element, Head, scan};

/// Links of one kind that are kept of a page.
pub const MAX_LINKS: usize = 256;

/// The hints of one page. All URLs are http or https, resolved, without fragment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `rel=canonical`; the first valid one, of headers before the page's.
    pub canonical: Option<Canonical>,
    /// `rel=alternate` with `hreflang`: language tag in lower case (or `x-default`), and URL.
    pub translations: Vec<(String, Url)>,
    /// `rel=next`.
    pub next: Option<Url>,
    /// `rel=prev` or `rel=previous`.
    pub previous: Option<Url>,
    /// `<meta http-equiv=refresh>` with a URL, or the header `Refresh`: seconds, URL.
    pub refresh: Option<(u32, Url)>,
    /// `rel=license`.
    pub licences: Vec<Url>,
    /// `rel=alternate` of a type that is a feed's.
    pub feeds: Vec<Url>,
}

/// What a page names as its canonical URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The URL.
    pub url: Url,
    /// Whether it is of another registrable domain than the page: such a page says of itself that it is a copy, or wants its
    /// weight to go there; the other site has agreed to nothing.
    pub is_foreign: bool,
    /// Whether it is the page's own URL.
    pub is_self: bool,
}

/// Types of feeds.
const FEEDS: [&str; 4] =
    ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];

impl Hints {
    /// Puts together what a page and its headers say. `links` are the values of `Link` headers, `refresh` that of `Refresh`.
    /// Relative links of headers are relative to the page's URL, those of the page to its base.
    pub fn read<'a>(page: &Url, head: &Head, links: impl IntoIterator<Item = &'a str>, refresh: Option<&str>) -> Self {
        let base = head.base.as_deref().and_then(|base| resolve(page, base)).unwrap_or_else(|| page.clone());
        let mut hints = Self::default();
        for target in links.into_iter().flat_map(link_header) {
            hints.take(page, page, &target);
        }
        for element in &head.links {
            hints.take(page, &base, &element.target());
        }
        let metas = head.metas.iter().filter(|(name, _)| name == "http-equiv:refresh").map(|(_, value)| value.as_str());
        hints.refresh = refresh.into_iter().chain(metas).find_map(|value| parse_refresh(value, &base));
        hints
    }

    fn take(&mut self, page: &Url, base: &Url, target: &Target) {
        let Some(url) = resolve(base, &target.href) else { return };
        // A link with an anchor is about something else than the page.
        if target.anchor.as_deref().is_some_and(|anchor| resolve(page, anchor).as_ref() != Some(page)) {
            return;
        }
        let is_feed = FEEDS.iter().any(|feed| target.kind.eq_ignore_ascii_case(feed));
        for rel in target.rel.split_ascii_whitespace() {
            match rel.to_ascii_lowercase().as_str() {
                "canonical" if self.canonical.is_none() => {
                    let is_foreign = site(&url) != site(page);
                    self.canonical = Some(Canonical { is_foreign, is_self: url == *page, url: url.clone() });
                }
                "next" => self.next = self.next.take().or(Some(url.clone())),
                "prev" | "previous" => self.previous = self.previous.take().or(Some(url.clone())),
                "license" | "licence" => push(&mut self.licences, url.clone()),
                "alternate" if is_feed => push(&mut self.feeds, url.clone()),
                "alternate" => {
                    for language in target.languages.iter().filter(|language| is_language(language)) {
                        let entry = (language.to_ascii_lowercase(), url.clone());
                        push(&mut self.translations, entry);
                    }
                }
                _ => {}
            }
        }
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.len() < MAX_LINKS && !list.contains(&item) {
        list.push(item);
    }
}

/// `en`, `en-GB`, `zh-Hant-TW`, `x-default`.
fn is_language(tag: &str) -> bool {
    tag.eq_ignore_ascii_case("x-default")
        || (2..=35).contains(&tag.len())
            && tag
                .split('-')
                .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            && tag.split('-').next().is_some_and(|first| {
                (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
            })
}

/// Seconds and URL of a refresh (HTML standard, "shared declarative refresh steps"); `None` without a URL, which reloads the
/// page itself.
fn parse_refresh(value: &str, base: &Url) -> Option<(u32, Url)> {
    let value = value.trim_start();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = value[digits..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if digits == 0 && fraction == 0 {
        return None;
    }
    let seconds = value[..digits].parse().unwrap_or(if digits == 0 { 0 } else { u32::MAX });
    let rest = &value[digits + fraction..];
    let rest = rest.strip_prefix([';', ',']).or_else(|| rest.starts_with(char::is_whitespace).then_some(rest))?;
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let named = rest
        .get(..3)
        .filter(|name| name.eq_ignore_ascii_case("url"))
        .and_then(|_| rest[3..].trim_start().strip_prefix('=').map(str::trim_start));
    let target = named.unwrap_or(rest);
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target[1..].split(quote).next().unwrap_or_default(),
        _ => target,
    };
    let target = target.trim();
    if target.is_empty() { None } else { Some((seconds, resolve(base, target)?)) }
}

fn resolve(base: &Url, href: &str) -> Option<Url> {
    let mut url = base.join(href.trim()).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Registrable domain, else host.
fn site(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    url.domain().and_then(psl::domain_str).unwrap_or(host)
}
