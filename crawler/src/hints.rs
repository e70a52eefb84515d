//! Hints: statements about a URL, from pages, their header fields and sitemaps, besides that it exists.
//!
//! The hints about a URL are one byte, which is kept with the URL in the queue ([`frontier::Merits::hint`]). They are a
//! part of its priority ([`Hints::part`]), and `crawler why` names them. No hint decides anything alone: a canonical
//! URL is fetched and compared like any other, and represents a cluster only if it belongs to the cluster.

use std::ops::Range;
use std::time::UNIX_EPOCH;

use dedup_stage::page::Rels;
use frontier::Millis;
use time::format_description::well_known::{Rfc2822, Rfc3339};
use time::{Date, OffsetDateTime, Time, macros::format_description};

/// The hints about one URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints(u8);

const SITEMAP: u8 = 1;
const RECENT: u8 = 2;
const OLD: u8 = 4;
const CANONICAL: u8 = 8;
const SERIES: u8 = 16;
const REFRESH: u8 = 32;
/// The unit of the number of translations in a row that led to the URL. The number has two bits.
const LANGUAGES: u8 = 64;

/// The age up to which a change is recent.
const MONTH: Millis = 30 * 86_400_000;
/// The age beyond which a change is old.
const YEAR: Millis = 365 * 86_400_000;

impl Hints {
    /// The most translations in a row that are followed. A page names all of its translations, so one step is enough. A
    /// site whose translations name ever new ones ends here.
    pub const MOST_LANGUAGES: u8 = 3;

    /// The hints in the byte of a queue entry.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The hints as a byte.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The hint of a sitemap that names the URL, with the time of its last change. A change in the future does not
    /// count.
    pub fn of_sitemap(lastmod: Option<&str>, now: Millis) -> Self {
        let age = lastmod.and_then(changed_at).and_then(|changed| now.checked_sub(changed.start));
        Self(match age {
            Some(age) if age <= MONTH => SITEMAP | RECENT,
            Some(age) if age > YEAR => SITEMAP | OLD,
            _ => SITEMAP,
        })
    }

    /// The hints of a link. `from` are the hints about the page that has the link.
    pub fn of_link(rels: Rels, from: Self) -> Self {
        let mut bits = 0;
        for (kind, bit) in
            [(Rels::CANONICAL, CANONICAL), (Rels::NEXT, SERIES), (Rels::PREV, SERIES), (Rels::REFRESH, REFRESH)]
        {
            bits |= if rels.has(kind) { bit } else { 0 };
        }
        if is_translation(rels) {
            bits |= (from.languages() + 1).min(Self::MOST_LANGUAGES) * LANGUAGES;
        }
        Self(bits)
    }

    /// The number of translations in a row that led to the URL.
    pub fn languages(self) -> u8 {
        self.0 / LANGUAGES
    }

    /// Whether a link from a page with these hints is one translation too many.
    pub fn ends_languages(self, rels: Rels) -> bool {
        is_translation(rels) && self.languages() >= Self::MOST_LANGUAGES
    }

    /// The part of a priority. It is 0.5 without hints.
    pub fn part(self) -> f32 {
        let has = |bit: u8| self.0 & bit != 0;
        if has(CANONICAL) || has(SITEMAP) && !has(OLD) {
            1.0
        } else if has(SITEMAP) {
            0.9
        } else if has(SERIES) || has(REFRESH) {
            0.55
        } else if self.languages() > 0 {
            0.4
        } else {
            0.5
        }
    }

    /// The hints in words; empty without hints.
    pub fn names(self) -> String {
        let languages = match self.languages() {
            0 => "",
            1 => "another language",
            _ => "another language of another language",
        };
        let sitemap = match self.0 & (SITEMAP | RECENT | OLD) {
            0 => "",
            SITEMAP => "a sitemap names it",
            bits if bits & RECENT != 0 => "a sitemap names it, changed within a month",
            _ => "a sitemap names it, changed over a year ago",
        };
        let named = |bit, name| if self.0 & bit != 0 { name } else { "" };
        let all = [
            sitemap,
            named(CANONICAL, "canonical URL of a page"),
            named(SERIES, "next or previous page"),
            named(REFRESH, "meta refresh"),
            languages,
        ];
        all.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a link is only a translation, and no link that people follow.
fn is_translation(rels: Rels) -> bool {
    rels.has(Rels::LANGUAGE) && !rels.has(Rels::ANCHOR)
}

/// Parses a time in a header field.
pub fn http_date(text: &str) -> Option<Millis> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    since.as_millis().try_into().ok()
}

/// Parses a time in a sitemap: W3C date and time in XML, RFC 2822 in RSS. A date means the whole day, and so does
/// midnight, because many sitemaps write a date in this way. If a time has no seconds, only its date is read. A month
/// or a year counts as the longest one.
pub fn changed_at(text: &str) -> Option<Range<Millis>> {
    let text = text.trim();
    let whole = OffsetDateTime::parse(text, &Rfc3339).or_else(|_| OffsetDateTime::parse(text, &Rfc2822)).ok();
    let day = |text: &str| Date::parse(text, format_description!("[year]-[month]-[day]")).ok();
    let coarse = || {
        let date = match text.len() {
            4 => day(&format!("{text}-01-01")),
            7 => day(&format!("{text}-01")),
            _ => day(text.get(..10)?),
        };
        Some(date?.midnight().assume_utc())
    };
    let at = whole.or_else(coarse)?;
    let days = match (whole, text.len()) {
        (Some(at), _) if at.time() != Time::MIDNIGHT => 0,
        (_, 4) => 366,
        (_, 7) => 31,
        _ => 1,
    };
    let start = u64::try_from(at.unix_timestamp()).ok()? * 1_000;
    Some(start..start + days * 86_400_000)
}

/// The links of `Link` header fields (RFC 8288) of the kinds of [`Rels`], with their targets as they are written. Links
/// that are not well formed are left out.
pub fn link_header<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(&'a str, Rels)> {
    let mut found = Vec::new();
    for value in values {
        let mut rest = value;
        while let Some((_, after)) = rest.split_once('<') {
            let Some((target, after)) = after.split_once('>') else { break };
            let (parameters, next) = after.split_at(end_of_link(after));
            let parameter = |name: &str| {
                parameters.split(';').find_map(|pair| {
                    let (key, value) = pair.split_once('=')?;
                    key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
                })
            };
            let rels = Rels::named(parameter("rel").unwrap_or_default(), parameter("hreflang").is_some());
            if rels != Rels::NONE && parameter("anchor").is_none() && found.len() < MOST_IN_HEADERS {
                found.push((target.trim(), rels));
            }
            rest = next;
        }
    }
    found
}

/// The most links of header fields that are read.
const MOST_IN_HEADERS: usize = 256;

/// The end of the parameters of a link: a comma outside quotes.
fn end_of_link(text: &str) -> usize {
    let mut quoted = false;
    let end = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b',' && !quoted
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_fields_are_read_as_the_rfc_writes_them() {
        let read = |value: &'static str| link_header(std::iter::once(value));
        assert_eq!(read("<https://a.test/c>; rel=\"canonical\""), [("https://a.test/c", Rels::CANONICAL)]);
        let two = "</2>; rel=next; title=\"a, <b>; rel=prev\", </de>;rel=\"ALTERNATE nofollow\";hreflang=de";
        assert_eq!(read(two), [("/2", Rels::NEXT), ("/de", Rels::LANGUAGE)]);
        for nothing in
            ["</s.css>; rel=preload", "<x", "rel=next", "</x>; rel=canonical; anchor=\"/other\"", "</f>; rel=alternate"]
        {
            assert_eq!(read(nothing), [], "{nothing}");
        }
        let many = "</x>; rel=next, ".repeat(10_000);
        assert_eq!(link_header(std::iter::once(many.as_str())).len(), MOST_IN_HEADERS);
    }

    #[test]
    fn sitemaps_say_when_in_many_ways() {
        let day = 86_400_000;
        let march = 1_583_020_800_000;
        for (text, at) in [
            ("2020", 1_577_836_800_000..1_577_836_800_000 + 366 * day),
            ("2020-03", march..march + 31 * day),
            ("2020-03-02", march + day..march + 2 * day),
            ("2020-03-02T00:00:00+00:00", march + day..march + 2 * day),
            ("2020-03-02T01:30+01:30", march + day..march + 2 * day),
            ("2020-03-02T00:00:01Z", march + day + 1_000..march + day + 1_000),
            ("Mon, 02 Mar 2020 00:00:00 GMT", march + day..march + 2 * day),
        ] {
            assert_eq!(changed_at(text), Some(at), "{text}");
        }
        assert_eq!(http_date("Mon, 02 Mar 2020 00:00:00 GMT"), Some(march + day));
        assert_eq!(changed_at("yesterday"), None);
        let now = 1_583_020_800_000;
        let names = |lastmod| Hints::of_sitemap(lastmod, now).names();
        assert_eq!(names(Some("2020-02-20")), "a sitemap names it, changed within a month");
        assert_eq!(names(Some("2018-02-20")), "a sitemap names it, changed over a year ago");
        assert_eq!(names(Some("2019-08-20")), "a sitemap names it");
        assert_eq!(names(Some("2031-01-01")), "a sitemap names it", "the future is no change");
    }

    #[test]
    fn translations_in_a_row_are_counted_and_end() {
        let mut hints = Hints::default();
        for n in 1..=Hints::MOST_LANGUAGES {
            assert!(!hints.ends_languages(Rels::LANGUAGE));
            hints = Hints::of_link(Rels::LANGUAGE, hints);
            assert_eq!(hints.languages(), n);
        }
        assert!(hints.ends_languages(Rels::LANGUAGE));
        let mut both = Rels::LANGUAGE;
        both |= Rels::ANCHOR;
        assert!(!hints.ends_languages(both), "a link that people follow is followed");
        assert_eq!(Hints::of_link(both, hints).languages(), 0);
    }
}
