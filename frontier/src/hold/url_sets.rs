//! Sets of held or stopped URLs that most likely share their fate. The rescue tries a few URLs of a set, and judges the
//! whole set by them.

use dedup_stage::url::{SiteId, UrlId};
use xxhash_rust::xxh3::xxh3_64;

use super::template::{Target, shape, template};
use crate::reason::SkipReason;
use crate::trial::UrlSet;
use crate::url::{HoldCause, State};

/// The four sets that a URL belongs to. From small to large, these are the section, the lot and the family. The
/// siblings cut across them. The rescue can release each of these sets, so each has an identity of the type [`UrlSet`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlSets {
    /// The *section*: the URLs of the lot whose paths have the same parent (the path without its last segment). One
    /// chapter of a copied manual may have been translated, while all other chapters are copies.
    pub section: UrlSet,
    /// The *lot*: all URLs of one template, scheme and port that are held or stopped for one reason: for counterparts
    /// on one host, as news, because one corpus has the page that links to them, by one rule, or for a spent budget.
    /// (One port of a host may be a partial copy of another.) The word is that of acceptance sampling: a few pieces of
    /// a lot are drawn, and the whole lot is judged by them.
    pub lot: UrlSet,
    /// The *siblings*: all URLs that are held for one and the same counterpart, whatever their hosts and forms. For
    /// example, each blog of a domain may have the pages `/blog` and `/contact`, and of both kinds only the first one
    /// was fetched. Whether the others are copies is a question for each kind. 0 for URLs that are not held for a
    /// counterpart.
    pub siblings: UrlSet,
    /// The *family*: all lots of the hosts of one registrable domain whose URLs have one shape. For URLs that are held
    /// for counterparts, it is the domain of the counterparts, so all hosts that look like copies of one domain belong
    /// to it. If each author of a site has a folder, or each branch of a chain of shops a host, then each of these is a
    /// lot, and no sample is large enough for all of them. If enough lots of a family have led to new pages, the whole
    /// family falls, with the lots that were not tried.
    pub family: UrlSet,
}

impl UrlSets {
    /// Whether a set is one of them.
    pub fn contains(&self, set: UrlSet) -> bool {
        self.smallest_first().contains(&set)
    }

    /// All of them.
    pub fn smallest_first(&self) -> [UrlSet; 4] {
        [self.section, self.lot, self.siblings, self.family]
    }
}

/// The sets of a URL that is held or stopped; `None` for other states.
pub fn url_sets(id: UrlId, state: &State) -> Option<UrlSets> {
    let url = state.link().and_then(|link| Target::written(&link.url));
    // A hash of the form, the scheme and the port.
    let form = || url.map_or(0, |url| template(url, id.site) ^ xxh3_64(url.origin.as_bytes())).to_be_bytes();
    let hash = |parts: &[&[u8]]| UrlSet(xxh3_64(&parts.concat()));
    let site = id.site.to_bytes();
    let shape = url.map_or_else(String::new, shape);
    let of_domain = |kind: &[u8], domain: u64| hash(&[b"family", kind, &domain.to_be_bytes(), shape.as_bytes()]);
    let wide = |kind: &[u8]| of_domain(kind, id.site.domain);
    let mut siblings = UrlSet::default();
    let (lot, family) = match state {
        State::HeldFor { counterparts, .. } => {
            if let Some(counterpart) = counterparts.first() {
                siblings = hash(&[b"siblings", &counterpart.to_bytes()]);
            }
            let other = counterparts.first().map_or(SiteId::default(), |id| id.site);
            (hash(&[b"for", &site, &other.to_bytes(), &form()]), of_domain(b"for", other.domain))
        }
        State::HeldAs { cause: HoldCause::News { template }, .. } => {
            (hash(&[b"news", &template.to_be_bytes(), &form()]), wide(b"news"))
        }
        State::HeldAs { cause: HoldCause::Known { corpus }, .. } => {
            (hash(&[b"known", corpus.as_bytes(), &site, &form()]), wide(b"known"))
        }
        State::Stopped { reason: SkipReason::Budget, .. } => (hash(&[b"budget", &site, &form()]), wide(b"budget")),
        State::Stopped { rules, .. } => {
            let rule = rules.first().copied().unwrap_or_default();
            (hash(&[b"rule", &rule.to_be_bytes(), &site, &form()]), wide(b"rule"))
        }
        _ => return None,
    };
    let parent = url.map_or("", |url| parent(url.path));
    Some(UrlSets { section: hash(&[b"section", &lot.0.to_be_bytes(), parent.as_bytes()]), lot, siblings, family })
}

/// The path without its last segment.
fn parent(path: &str) -> &str {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    trimmed.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::KeptLink;

    fn of(url: &str) -> UrlSets {
        let link = KeptLink { url: url.into(), ..KeptLink::default() };
        url_sets(UrlId::default(), &State::HeldFor { counterparts: Vec::new(), link }).unwrap()
    }

    #[test]
    fn hosts_that_look_like_copies_of_one_domain_have_families_in_common() {
        let of = |domain: u64, other: u64| {
            let site = |domain| SiteId { domain, host: domain };
            let link = KeptLink { url: "http://a/own/1".into(), ..KeptLink::default() };
            let counterparts = vec![UrlId { site: site(other), url: 1 }];
            url_sets(UrlId { site: site(domain), url: 7 }, &State::HeldFor { counterparts, link }).unwrap()
        };
        assert_eq!(of(1, 9).family, of(2, 9).family);
        assert_ne!(of(1, 9).lot, of(2, 9).lot);
        assert_ne!(of(1, 9).family, of(1, 8).family);
        assert_eq!(of(1, 9).siblings, of(2, 9).siblings);
        assert_ne!(of(1, 9).siblings, of(1, 8).siblings);
    }

    #[test]
    fn ports_and_schemes_of_one_host_are_lots_of_one_family() {
        let [one, same, port, scheme] =
            ["http://a/own/1", "http://a/own/2", "http://a:81/own/1", "https://a/own/1"].map(of);
        assert_eq!(one, same);
        assert!(one.lot != port.lot && one.lot != scheme.lot && port.lot != scheme.lot);
        assert!(one.family == port.family && one.family == scheme.family);
    }

    #[test]
    fn a_section_is_one_folder_of_a_lot() {
        let [one, same, other] =
            ["http://a/guide/chapter-1/3", "http://a/guide/chapter-1/4", "http://a/guide/chapter-2/3"].map(of);
        assert_eq!(one, same);
        assert_eq!((one.lot, one.family), (other.lot, other.family));
        assert_ne!(one.section, other.section);
        assert!([one.section, one.lot, one.family].into_iter().all(|set| one.contains(set)));
        assert!(!one.contains(other.section));
        for (path, expected) in [("/", ""), ("/a", ""), ("/a/b", "/a"), ("/a/b/", "/a"), ("/a/b/c.html", "/a/b")] {
            assert_eq!(parent(path), expected, "{path}");
        }
    }
}
