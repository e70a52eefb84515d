//! robots.txt as RFC 9309 defines it: what one origin (scheme, host and port) allows our product token, how long an
//! answer is valid, and what holds while there is no answer.
//!
//! The parser accepts what Google's reference parser accepts. (`tests/robots.rs` has the test suite of that parser, and
//! the few cases in which the RFC differs.) That is why the parser is written here and not taken from a library.
//! `parse` reads lines into groups, `pattern` compares rules with URLs, and `page` reads the directives of single
//! pages.

mod list;
mod page;
mod parse;
mod pattern;
#[cfg(test)]
mod tests;

use config::Duration;
use dedup_stage::store::codec;
use url::{Position, Url};

use list::RuleList;
pub use page::{Directives, header_words, page_directives};

use crate::numbers::Millis;
use crate::reason::Detail;

const HOUR: Millis = 3_600_000;

/// The rules of one origin's robots.txt for our product token.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRules {
    availability: Availability,
    fetched_at: Millis,
    expires_at: Millis,
    /// The rules in order of precedence: the first rule that matches decides.
    rules: RuleList,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<Url>,
    /// The time for which the answer asked to leave the whole host alone. It is not stored.
    retry_after: Option<Millis>,
    /// The reason why there was no answer; [`Detail::None`] if there was one.
    trouble: Detail,
}

/// The result of asking for a robots.txt (RFC 9309, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The origin has a robots.txt, and its rules hold.
    Answered,
    /// The origin has none that we could read (4xx, or more than five redirects). Everything is allowed.
    Unavailable,
    /// The file is unknown (5xx, 429, no connection). Nothing is allowed, and the file is asked for again when this
    /// result expires. After [`RobotsRules::GIVE_UP`] it counts as unavailable.
    Unreachable {
        /// The time of the first failure since the last answer.
        since: Millis,
        /// The number of failures in a row.
        failures: u32,
    },
}

/// The answer to a request for robots.txt, after redirects.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The URL of the origin's own robots.txt, even if redirects led elsewhere. It is the base of relative sitemap
    /// addresses.
    pub url: &'a Url,
    /// HTTP status. A redirect here is one too many, because five redirects were followed.
    pub status: u16,
    /// `Retry-After`, as a time to wait from now.
    pub retry_after: Option<Millis>,
    /// The decoded body. Bytes beyond [`RobotsRules::MAX_BYTES`] are not read.
    pub body: &'a [u8],
    /// The time of the answer.
    pub at: Millis,
}

impl RobotsRules {
    /// At most this many bytes of a robots.txt are read. RFC 9309 (section 2.5) asks for at least 500 KiB.
    pub const MAX_BYTES: usize = parse::MAX_BYTES;
    /// The time for which an answer is valid (RFC 9309, section 2.4).
    pub const MAX_AGE: Millis = 24 * HOUR;
    /// The wait after the first failure. It doubles with each further failure, up to [`RobotsRules::MAX_AGE`].
    pub const FIRST_RETRY: Millis = 60_000;
    /// After this time without an answer, the origin counts as having no robots.txt (RFC 9309, section 2.3.1.4).
    pub const GIVE_UP: Millis = 30 * 24 * HOUR;

    /// Reads an answer: its rules for `token`, the product token of our User-Agent (compared without case).
    pub fn read(answer: &Answer<'_>, token: &str) -> Self {
        let rules = match answer.status {
            429 => Self::unreachable(answer.at, answer.retry_after, Detail::RobotsStatus(429)),
            200..300 => {
                let parsed = parse::parse(answer.body, token, Some(answer.url));
                Self::new(Availability::Answered, answer.at, Self::MAX_AGE, parsed)
            }
            300..500 => Self::new(Availability::Unavailable, answer.at, Self::MAX_AGE, parse::Parsed::default()),
            status => Self::unreachable(answer.at, answer.retry_after, Detail::RobotsStatus(status)),
        };
        Self { retry_after: answer.retry_after, ..rules }
    }

    /// The rules if there is no answer, for the reason in `trouble`. `retry_after` is the wait that the server asked
    /// for.
    pub fn unreachable(at: Millis, retry_after: Option<Millis>, trouble: Detail) -> Self {
        let availability = Availability::Unreachable { since: at, failures: 1 };
        let wait = retry_after.unwrap_or(0).clamp(Self::FIRST_RETRY, Self::MAX_AGE);
        Self { trouble, ..Self::new(availability, at, wait, parse::Parsed::default()) }
    }

    fn new(availability: Availability, at: Millis, age: Millis, parsed: parse::Parsed) -> Self {
        let parse::Parsed { rules, crawl_delay, sitemaps } = parsed;
        Self {
            availability,
            fetched_at: at,
            expires_at: at.saturating_add(age),
            rules,
            crawl_delay,
            sitemaps,
            retry_after: None,
            trouble: Detail::None,
        }
    }

    /// These rules, as they follow on `earlier`. Failures in a row are counted, and the waits between attempts grow.
    pub fn after(mut self, earlier: &RobotsRules) -> Self {
        if let Availability::Unreachable { since, failures } = &mut self.availability
            && let Availability::Unreachable { since: first, failures: before } = earlier.availability
        {
            *since = first;
            *failures += before.min(1_000);
            let back_off = Self::FIRST_RETRY << before.min(20);
            self.expires_at = self.expires_at.max(self.fetched_at.saturating_add(back_off.min(Self::MAX_AGE)));
        }
        self
    }

    /// Whether it is unknown what is allowed. Then URLs are not refused, but wait until these rules expire.
    pub fn is_undefined(&self) -> bool {
        match self.availability {
            Availability::Unreachable { since, .. } => self.fetched_at.saturating_sub(since) < Self::GIVE_UP,
            Availability::Answered | Availability::Unavailable => false,
        }
    }

    /// Whether `url`, of this origin, may be fetched. robots.txt itself always may.
    pub fn allowed(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" {
            return true;
        }
        let path = pattern::path(&url[Position::BeforePath..Position::AfterQuery]);
        !self.is_undefined()
            && self.rules.iter().find(|rule| rule.matches(path.as_bytes())).is_none_or(|rule| rule.allow)
    }

    /// The reason why there was no answer; [`Detail::None`] if there was one.
    pub fn trouble(&self) -> Detail {
        self.trouble
    }

    /// Whether these rules allow the same as `other`. Only the texts of the rules are compared.
    pub fn says_as(&self, other: &RobotsRules) -> bool {
        (self.is_undefined(), &self.rules) == (other.is_undefined(), &other.rules)
    }

    /// The result of asking for the file.
    pub fn availability(&self) -> Availability {
        self.availability
    }

    /// The largest delay between requests that the origin asks of us, as written.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The time for which the answer asked to leave its host alone.
    pub fn retry_after(&self) -> Option<Millis> {
        self.retry_after
    }

    /// The sitemaps that the file names, each once, in order; at most 1,000.
    pub fn sitemaps(&self) -> &[Url] {
        &self.sitemaps
    }

    /// These rules without the sitemaps that the file names.
    pub(crate) fn without_sitemaps(mut self) -> Self {
        self.sitemaps = Vec::new();
        self
    }

    /// Whether a URL may have to be compared with the rules: there are some, and they are known.
    pub(crate) fn restricts(&self) -> bool {
        self.rules.len() > 0 && !self.is_undefined()
    }

    /// The bytes that the rules hold on the heap.
    pub fn bytes(&self) -> usize {
        let sitemaps = self.sitemaps.iter().map(|sitemap| size_of::<Url>() + sitemap.as_str().len());
        self.rules.bytes() + sitemaps.sum::<usize>()
    }

    /// The time of the answer, or of the failure to get one.
    pub fn fetched_at(&self) -> Millis {
        self.fetched_at
    }

    /// The time at which the file has to be asked for again.
    pub fn expires_at(&self) -> Millis {
        self.expires_at
    }

    /// The form in the store: a line with the availability and times, and then a robots.txt that has only the rules for
    /// us.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (availability, since, failures) = match self.availability {
            Availability::Answered => ("answered", 0, 0),
            Availability::Unavailable => ("unavailable", 0, 0),
            Availability::Unreachable { since, failures } => ("unreachable", since, failures),
        };
        let (fetched_at, expires_at) = (self.fetched_at, self.expires_at);
        let trouble: String = codec::encode(&self.trouble).iter().map(|byte| format!("{byte:02x}")).collect();
        let mut text =
            format!("{availability} {fetched_at} {expires_at} {since} {failures} {trouble}\nuser-agent: *\n");
        for rule in self.rules.iter() {
            text += if rule.allow { "allow: " } else { "disallow: " };
            text += &rule.pattern;
            text.push('\n');
        }
        if let Some(Duration(milliseconds)) = self.crawl_delay {
            text += &format!("crawl-delay: {}.{:03}\n", milliseconds / 1_000, milliseconds % 1_000);
        }
        for sitemap in &self.sitemaps {
            text += &format!("sitemap: {sitemap}\n");
        }
        text.into_bytes()
    }

    /// Reads the bytes of [`RobotsRules::to_bytes`]. `None` if the bytes are something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (head, rest) = text.split_once('\n')?;
        let mut words = head.split(' ');
        let availability = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        let (fetched_at, expires_at, since) = (number()?, number()?, number()?);
        let failures = u32::try_from(number()?).ok()?;
        let trouble = words.next()?;
        let bytes: Option<Vec<u8>> =
            (0..trouble.len()).step_by(2).map(|at| u8::from_str_radix(trouble.get(at..at + 2)?, 16).ok()).collect();
        let trouble = codec::decode(&bytes?, "the trouble with a robots.txt").ok()?;
        let availability = match availability {
            "answered" => Availability::Answered,
            "unavailable" => Availability::Unavailable,
            "unreachable" => Availability::Unreachable { since, failures },
            _ => return None,
        };
        let parse::Parsed { rules, crawl_delay, sitemaps } = parse::reparse(rest);
        Some(Self { availability, fetched_at, expires_at, rules, crawl_delay, sitemaps, retry_after: None, trouble })
    }
}
