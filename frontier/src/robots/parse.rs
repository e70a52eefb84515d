//! Reads the bytes of a robots.txt into the rules for one product token. This never fails: a line that makes no sense
//! is skipped, as RFC 9309 (section 2.2) asks.

use std::borrow::Cow;
use std::collections::HashSet;

use config::Duration;
use dedup_stage::url::drop_user;
use url::Url;

use super::list::RuleList;
use super::pattern::RobotsRule;

/// At most this many bytes are read.
pub(super) const MAX_BYTES: usize = 500 * 1024;
/// At most this many bytes of a line are read. Google's parser has this limit, and no URL that we fetch is that long.
pub(super) const MAX_LINE: usize = 2_083 * 8;
/// At most this many different sitemap lines are looked at.
const MAX_SITEMAPS: usize = 1_000;
/// The longest delay in milliseconds: a year, which is as good as never.
const MAX_DELAY: u64 = 365 * 86_400_000;

/// The parts of a robots.txt that concern one product token.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// The rules, in order of precedence.
    pub rules: RuleList,
    pub crawl_delay: Option<Duration>,
    pub sitemaps: Vec<Url>,
}

/// The contents of all groups for one kind of agent. Groups for the same agent count as one (RFC 9309, section 2.2.1).
#[derive(Debug, Default)]
struct Group {
    is_named: bool,
    rules: Vec<RobotsRule<'static>>,
    crawl_delay: Option<Duration>,
}

/// Reads a robots.txt. Relative sitemap addresses are resolved against `base`.
pub(super) fn parse(body: &[u8], token: &str, base: Option<&Url>) -> Parsed {
    let text = decode(body);
    read(cut(&text, MAX_BYTES), token, base)
}

/// Reads the text that `RobotsRules::to_bytes` wrote. Its rules are in the common spelling and in order already, so
/// this costs little more than copying them. Rules are read again often if there is no room for them in memory.
pub(super) fn reparse(text: &str) -> Parsed {
    let (mut crawl_delay, mut sitemaps) = (None, Vec::new());
    let rules = text.split('\n').filter_map(|line| {
        let (key, value) = line.split_once(": ")?;
        let allow = match key {
            "allow" => true,
            "disallow" => false,
            "crawl-delay" => {
                crawl_delay = delay(value.as_bytes());
                return None;
            }
            "sitemap" => {
                sitemaps.extend(Url::parse(value));
                return None;
            }
            _ => return None,
        };
        Some(RobotsRule { pattern: Cow::Borrowed(value), allow })
    });
    let rules = RuleList::of(rules);
    Parsed { rules, crawl_delay, sitemaps }
}

fn read(text: &[u8], token: &str, base: Option<&Url>) -> Parsed {
    let (mut ours, mut everyone) = (Group::default(), Group::default());
    let (mut named, mut distinct, mut sitemaps) = (HashSet::new(), HashSet::new(), Vec::new());
    // Whether the lines that follow are for us, whether they are for everyone, and whether agents are still being
    // listed.
    let (mut for_us, mut for_everyone, mut listing) = (false, false, false);
    for (key, value) in text.split(|octet| matches!(octet, b'\n' | b'\r' | 0)).filter_map(line) {
        match key {
            Key::UserAgent => {
                if !listing {
                    (for_us, for_everyone, listing) = (false, false, true);
                }
                for_us |= !token.is_empty() && product(value).eq_ignore_ascii_case(token.as_bytes());
                for_everyone |= matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..]);
                ours.is_named |= for_us;
            }
            Key::Allow | Key::Disallow => {
                listing = false;
                for (group, applies) in [(&mut ours, for_us), (&mut everyone, for_everyone)] {
                    if applies {
                        group.rule(value, key == Key::Allow);
                    }
                }
            }
            // Other records do not end the list of agents (RFC 9309, section 2.2.4).
            Key::CrawlDelay => {
                for (group, applies) in [(&mut ours, for_us), (&mut everyone, for_everyone)] {
                    if applies {
                        group.crawl_delay = group.crawl_delay.max(delay(value));
                    }
                }
            }
            Key::Sitemap => {
                if named.len() < MAX_SITEMAPS
                    && named.insert(value)
                    && let Some(sitemap) = address(value, base)
                    && distinct.insert(sitemap.clone())
                {
                    sitemaps.push(sitemap);
                }
            }
        }
    }
    let Group { mut rules, crawl_delay, .. } = if ours.is_named { ours } else { everyone };
    rules.sort_by(|a, b| a.precedence().cmp(&b.precedence()));
    rules.dedup();
    Parsed { rules: RuleList::of(rules), crawl_delay, sitemaps }
}

impl Group {
    fn rule(&mut self, value: &[u8], allow: bool) {
        let Some(rule) = RobotsRule::new(value, allow) else { return };
        // As in Google's parser, a rule that allows the index page of a folder allows the folder itself, too.
        if let Some((folder, page)) = rule.pattern.rsplit_once('/').filter(|_| allow)
            && page.starts_with("index.htm")
        {
            self.rules.push(RobotsRule { pattern: format!("{folder}/$").into(), allow });
        }
        self.rules.push(rule);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// The spellings that Google's parser accepts, and like spellings of Crawl-delay, which that parser does not know.
const KEYS: [(&str, Key); 17] = [
    ("user-agent", Key::UserAgent),
    ("useragent", Key::UserAgent),
    ("user agent", Key::UserAgent),
    ("allow", Key::Allow),
    ("disallow", Key::Disallow),
    ("dissallow", Key::Disallow),
    ("dissalow", Key::Disallow),
    ("disalow", Key::Disallow),
    ("diasllow", Key::Disallow),
    ("disallaw", Key::Disallow),
    ("desallow", Key::Disallow),
    ("crawl-delay", Key::CrawlDelay),
    ("crawldelay", Key::CrawlDelay),
    ("crawl delay", Key::CrawlDelay),
    ("sitemap", Key::Sitemap),
    ("site-map", Key::Sitemap),
    ("site map", Key::Sitemap),
];

/// Reads a line `key: value # comment`. Without a colon, the line must have exactly two words.
fn line(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = &line[..line.len().min(MAX_LINE)];
    let line = line.split(|octet| *octet == b'#').next().unwrap_or_default().trim_ascii();
    let (key, value) = match memchr::memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            let space = line.iter().position(u8::is_ascii_whitespace)?;
            let value = line[space..].trim_ascii();
            (!value.iter().any(u8::is_ascii_whitespace)).then_some((&line[..space], value))?
        }
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    KEYS.iter().find(|(name, _)| key.eq_ignore_ascii_case(name.as_bytes())).map(|(_, key)| (*key, value))
}

/// The product token at the start of a User-agent value: `FooBot/2.1 (+http://foo.example)` names `FooBot`.
fn product(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|octet| !octet.is_ascii_alphabetic() && !b"_-".contains(octet));
    &value[..end.unwrap_or(value.len())]
}

/// A delay in seconds, possibly with a fraction, and with a unit after it. `None` if it is not a number.
fn delay(value: &[u8]) -> Option<Duration> {
    let end = value.iter().position(|octet| !octet.is_ascii_digit() && *octet != b'.').unwrap_or(value.len());
    let seconds: f64 = std::str::from_utf8(&value[..end]).ok()?.parse().ok()?;
    Some(Duration(((seconds * 1_000.0).round() as u64).min(MAX_DELAY)))
}

fn address(value: &[u8], base: Option<&Url>) -> Option<Url> {
    let text = std::str::from_utf8(value).ok().filter(|text| !text.is_empty())?;
    let mut url = base.map_or_else(|| Url::parse(text), |base| base.join(text)).ok()?;
    url.set_fragment(None);
    drop_user(&mut url);
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Converts UTF-16 to UTF-8. UTF-16 is known by its byte order mark, or by the zero byte beside its first letter. Any
/// other text stays as it is, without its mark.
fn decode(body: &[u8]) -> Cow<'_, [u8]> {
    let (rest, unit): (_, fn([u8; 2]) -> u16) = match body {
        [0xef, 0xbb, 0xbf, rest @ ..] => return Cow::Borrowed(rest),
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        [1..0x80, 0, ..] => (body, u16::from_le_bytes),
        [0, 1..0x80, ..] => (body, u16::from_be_bytes),
        _ => return Cow::Borrowed(body),
    };
    let units = rest.chunks_exact(2).take(MAX_BYTES).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Cow::Owned(text.into_bytes())
}

/// The first `most` octets, without the line that this cuts, because half a rule is a different rule.
fn cut(text: &[u8], most: usize) -> &[u8] {
    if text.len() <= most {
        return text;
    }
    let end = text[..=most].iter().rposition(|octet| matches!(octet, b'\n' | b'\r' | 0));
    &text[..end.unwrap_or(0)]
}
