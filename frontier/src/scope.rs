//! Decides which URLs belong to the crawl: by the extent around the seeds, by what the user includes and excludes, and
//! by shapes that only URLs of traps have. The page workers and the frontier ask for every link, so the answer must be
//! cheap.

use std::collections::{HashMap, HashSet};

use config::{ScopeKind, Urls};
use dedup_stage::url::{host, registrable_domain};
use regex::RegexSet;
use url::Url;

use crate::reason::SkipReason;

/// The bounds of a crawl. They depend only on the settings and the seeds.
#[derive(Clone, Debug)]
pub struct Scope {
    extent: Extent,
    /// If this is empty, everything is included.
    include: RegexSet,
    exclude: RegexSet,
    max_depth: u32,
    max_length: usize,
    max_segments: usize,
    max_repeats: usize,
    /// The seeds. They are admitted whatever the rules say, because the user named them.
    seeds: HashSet<Box<str>>,
}

#[derive(Clone, Debug)]
enum Extent {
    Host(HashSet<Box<str>>),
    /// The registrable domains, and hosts that are known to be in them. The second set spares most links the search for
    /// the registrable domain.
    Domain(HashSet<Box<str>>, HashSet<Box<str>>),
    /// The folders of the seeds, by host.
    Prefix(HashMap<Box<str>, Vec<Folder>>),
    Any,
}

/// The folder of a seed. All URLs below it belong to the crawl.
#[derive(Clone, Debug)]
struct Folder {
    port: Option<u16>,
    path: Box<str>,
}

impl Scope {
    /// The scope of a crawl from `seeds`. Fails if a pattern of `--include` or `--exclude` is no regular expression, or
    /// if all patterns together are too large.
    pub fn new(scope: &config::Scope, urls: &config::Urls, seeds: &[Url]) -> Result<Self, regex::Error> {
        let hosts = || seeds.iter().map(|seed| host(seed).into());
        let extent = match scope.scope {
            ScopeKind::Any => Extent::Any,
            ScopeKind::Host => Extent::Host(hosts().collect()),
            ScopeKind::Domain => {
                Extent::Domain(seeds.iter().map(|seed| registrable_domain(seed).into()).collect(), hosts().collect())
            }
            ScopeKind::Prefix => {
                let mut folders = HashMap::<Box<str>, Vec<_>>::new();
                for seed in seeds {
                    let folder = Folder { port: seed.port(), path: folder(seed.path()).into() };
                    folders.entry(host(seed).into()).or_default().push(folder);
                }
                Extent::Prefix(folders)
            }
        };
        Ok(Self {
            extent,
            include: RegexSet::new(&scope.include)?,
            exclude: RegexSet::new(&scope.exclude)?,
            max_depth: scope.max_depth,
            max_length: urls.max_length,
            max_segments: urls.max_segments,
            max_repeats: urls.max_repeats,
            seeds: seeds.iter().map(|seed| seed.as_str().into()).collect(),
        })
    }

    /// Checks whether `url`, which was found `depth` links from a seed, belongs to the crawl. The error is the reason
    /// why it does not.
    pub fn admits(&self, url: &Url, depth: u32) -> Result<(), SkipReason> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SkipReason::Scheme);
        }
        match self.judge(url, depth) {
            Err(_) if self.seeds.contains(url.as_str()) => Ok(()),
            judged => judged,
        }
    }

    /// Whether any URL of the host of `url` can belong to the crawl, as far as the extent around the seeds tells.
    pub fn has_host(&self, url: &Url) -> bool {
        self.extent.has_host(url)
    }

    fn judge(&self, url: &Url, depth: u32) -> Result<(), SkipReason> {
        let text = url.as_str();
        if text.len() > self.max_length {
            return Err(SkipReason::TooLong);
        }
        if !self.extent.covers(url)
            || !self.include.is_empty() && !self.include.is_match(text)
            || !self.exclude.is_empty() && self.exclude.is_match(text)
        {
            return Err(SkipReason::Scope);
        }
        if self.max_depth != 0 && depth > self.max_depth {
            return Err(SkipReason::Depth);
        }
        if trap(url, self.max_segments, self.max_repeats).is_some() {
            return Err(SkipReason::Trap);
        }
        Ok(())
    }
}

impl Extent {
    fn has_host(&self, url: &Url) -> bool {
        match self {
            Extent::Prefix(folders) => folders.contains_key(host(url)),
            Extent::Any | Extent::Host(_) | Extent::Domain(..) => self.covers(url),
        }
    }

    fn covers(&self, url: &Url) -> bool {
        match self {
            Extent::Any => true,
            Extent::Host(hosts) => hosts.contains(host(url)),
            Extent::Domain(domains, hosts) => hosts.contains(host(url)) || domains.contains(registrable_domain(url)),
            Extent::Prefix(folders) => folders.get(host(url)).is_some_and(|folders| {
                folders.iter().any(|folder| folder.port == url.port() && url.path().starts_with(&*folder.path))
            }),
        }
    }
}

/// The part of a path up to its last slash.
fn folder(path: &str) -> &str {
    path.rfind('/').map_or("/", |slash| &path[..=slash])
}

/// A shape that only URLs of traps have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapShape {
    /// The path has more segments than `urls.max-segments`.
    Segments,
    /// A segment or a `name=value` occurs more often than `urls.max-repeats`.
    Repeats,
}

impl TrapShape {
    /// The shape for which a URL is refused under these settings; `None` if its shape is ordinary.
    pub fn of_trap(url: &Url, urls: &Urls) -> Option<Self> {
        trap(url, urls.max_segments, urls.max_repeats)
    }
}

fn trap(url: &Url, max_segments: usize, max_repeats: usize) -> Option<TrapShape> {
    let path = url.path().get(1..).unwrap_or_default();
    if 1 + path.bytes().filter(|byte| *byte == b'/').count() > max_segments {
        return Some(TrapShape::Segments);
    }
    let does = repeats(path, b'/', max_repeats) || url.query().is_some_and(|query| repeats(query, b'&', max_repeats));
    does.then_some(TrapShape::Repeats)
}

/// Whether a part of `text` occurs more than `repeats` times. The cost is quadratic in the number of parts, which is
/// small: `max_segments` limits it in paths, and [`MOST_COMPARED`] limits it in queries.
fn repeats(text: &str, separator: u8, repeats: usize) -> bool {
    let parts = || text.as_bytes().split(|byte| *byte == separator);
    let count = 1 + text.bytes().filter(|byte| *byte == separator).count();
    count > repeats
        && parts().take(MOST_COMPARED).enumerate().any(|(at, part)| {
            !part.is_empty() && parts().take(MOST_COMPARED).skip(at).filter(|other| *other == part).count() > repeats
        })
}

/// At most this many parts are compared with each other.
const MOST_COMPARED: usize = 64;

#[cfg(test)]
mod tests {
    use config::{ScopeKind, Settings};
    use url::Url;

    use super::Scope;
    use crate::reason::SkipReason;

    fn scope(kind: ScopeKind, seeds: &[&str], change: impl FnOnce(&mut Settings)) -> Scope {
        let mut settings = Settings::default();
        settings.scope.scope = kind;
        change(&mut settings);
        let seeds: Vec<_> = seeds.iter().map(|seed| Url::parse(seed).unwrap()).collect();
        Scope::new(&settings.scope, &settings.urls, &seeds).unwrap()
    }

    fn check(scope: &Scope, cases: &[(&str, Result<(), SkipReason>)]) {
        for (url, expected) in cases {
            assert_eq!(scope.admits(&Url::parse(url).unwrap(), 1), *expected, "{url}");
        }
    }

    const OUT: Result<(), SkipReason> = Err(SkipReason::Scope);

    #[test]
    fn host_takes_the_seeds_hosts_on_any_port() {
        let scope = scope(ScopeKind::Host, &["https://www.a.example/x/", "http://127.0.0.1:8080/"], |_| {});
        check(
            &scope,
            &[
                ("http://WWW.a.example./y", Ok(())),
                ("http://127.0.0.1:9090/", Ok(())),
                ("https://a.example/", OUT),
                ("https://notwww.a.example/", OUT),
            ],
        );
    }

    #[test]
    fn domain_takes_what_one_registrant_holds() {
        let seeds = ["https://www.shop.co.uk/", "http://me.github.io/", "http://127.0.0.1/", "http://localhost/"];
        let scope = scope(ScopeKind::Domain, &seeds, |_| {});
        check(
            &scope,
            &[
                ("https://shop.co.uk/", Ok(())),
                ("https://img.shop.co.uk/", Ok(())),
                ("https://other.co.uk/", OUT),
                ("https://co.uk/", OUT),
                ("https://www.me.github.io/", Ok(())),
                ("https://you.github.io/", OUT),
                ("http://127.0.0.1:81/", Ok(())),
                ("http://10.0.0.1/", OUT),
                ("http://localhost/x", Ok(())),
            ],
        );
    }

    #[test]
    fn a_seed_on_a_public_suffix_does_not_open_the_suffix() {
        let scope = scope(ScopeKind::Domain, &["https://github.io/"], |_| {});
        check(&scope, &[("https://github.io/about", Ok(())), ("https://someone.github.io/", OUT)]);
    }

    #[test]
    fn prefix_takes_the_seeds_folders() {
        let scope = scope(ScopeKind::Prefix, &["https://a.example/docs/index.html", "http://b.example:81"], |_| {});
        check(
            &scope,
            &[
                ("https://a.example/docs/", Ok(())),
                ("http://a.example/docs/x/y?z", Ok(())),
                ("https://a.example:444/docs/", OUT),
                ("https://a.example/doc", OUT),
                ("https://a.example/", OUT),
                ("http://b.example:81/anything", Ok(())),
                ("http://b.example/anything", OUT),
            ],
        );
    }

    #[test]
    fn patterns_include_and_exclude_but_never_a_seed() {
        let scope = scope(ScopeKind::Any, &["https://a.example/"], |settings| {
            settings.scope.include = vec!["/blog/".into(), r"\.pdf$".into()];
            settings.scope.exclude = vec!["[?&]print=".into()];
        });
        check(
            &scope,
            &[
                ("https://a.example/", Ok(())),
                ("https://b.example/", OUT),
                ("https://b.example/blog/1", Ok(())),
                ("https://b.example/blog/1?print=1", OUT),
                ("https://b.example/x.pdf", Ok(())),
            ],
        );
    }

    #[test]
    fn other_schemes_and_great_depths_and_lengths_are_refused() {
        let scope = scope(ScopeKind::Any, &["https://a.example/"], |settings| {
            settings.scope.max_depth = 2;
            settings.urls.max_length = 30;
        });
        check(
            &scope,
            &[
                ("mailto:a@b.example", Err(SkipReason::Scheme)),
                ("ftp://a.example/", Err(SkipReason::Scheme)),
                ("https://a.example/901234567890", Ok(())),
                ("https://a.example/9012345678901", Err(SkipReason::TooLong)),
            ],
        );
        let url = Url::parse("https://a.example/x").unwrap();
        assert_eq!(scope.admits(&url, 2), Ok(()));
        assert_eq!(scope.admits(&url, 3), Err(SkipReason::Depth));
    }

    #[test]
    fn repeating_segments_and_parameters_are_traps() {
        let scope = scope(ScopeKind::Any, &["https://a.example/"], |settings| settings.urls.max_segments = 8);
        let trap = Err(SkipReason::Trap);
        check(
            &scope,
            &[
                ("https://a.example/a/b/a/b/a/b/", Ok(())),
                ("https://a.example/a/b/a/b/a/b/a", trap),
                ("https://a.example/1/2/3/4/5/6/7/8", Ok(())),
                ("https://a.example/1/2/3/4/5/6/7/8/", trap),
                ("https://a.example/?a=1&a=1&a=1&a=2", Ok(())),
                ("https://a.example/?a=1&b=2&a=1&a=1&a=1", trap),
                ("https://a.example/?&&&&&&", Ok(())),
            ],
        );
    }

    #[test]
    fn a_query_of_a_million_parameters_costs_no_more_than_one_of_a_few() {
        let scope = scope(ScopeKind::Any, &["https://a.example/"], |settings| settings.urls.max_length = 1 << 30);
        let query: Vec<_> = (0..1_000_000).map(|n| n.to_string()).collect();
        let url = Url::parse(&format!("https://a.example/?{}", query.join("&"))).unwrap();
        assert_eq!(scope.admits(&url, 1), Ok(()));
    }
}
