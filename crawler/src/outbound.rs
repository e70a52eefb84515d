//! Links to hosts that another directory of the same crawl has. They are not queued. They wait in the state until they
//! are carried to the directory that has the host.
//!
//! Of several links to one URL, the one with the strongest wish counts. A link that was taken leaves a mark behind, so
//! that it is not taken a second time.

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, UrlId};
use frontier::robots::RobotsRules;
use frontier::{Admission, Asker, Errand, FoundLink, Frontier, Hold, Merits, Millis, NamedBy, SkipReason, Via};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::spaces::OUTBOUND;

/// A link to a host of another directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outbound {
    /// The URL, as it would be fetched.
    pub url: String,
    /// The number of links from a seed.
    pub depth: u32,
    /// The static priority, 0..1.
    pub priority: f32,
    /// The merits from which the priority was made ([`Merits::to_bytes`]).
    pub merits: [u8; 4],
    /// The page that has the link.
    pub source: Option<PageId>,
    /// The way in which the link was found.
    pub via: Via,
    /// The wish of the link.
    pub wish: Wish,
}

/// The wish of a link: what the other directory should do with its URL. Later variants are stronger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Wish {
    /// Put the URL on record as refused.
    Refuse(SkipReason),
    /// Hold the URL: only a page that a known corpus has links to it. The value is the name of the corpus.
    HoldAsKnown(String),
    /// Hold the URL as news of a duplicate.
    HoldAsNews,
    /// Hold the URL for this counterpart.
    HoldFor(UrlId),
    /// Queue the URL.
    Follow,
    /// Read the URL as a sitemap.
    Sitemap,
    /// Fetch the URL as the robots.txt of these origins, which has moved there. Such a wish never waits in a state: its
    /// sender sends it again until the rules come.
    Robots(Vec<Asker>),
    /// The rules that were found for an origin ([`RobotsRules::to_bytes`]), as the answer to [`Wish::Robots`]. This is
    /// no link.
    Rules(Asker, Vec<u8>),
}

/// The record of a link in the state.
#[derive(Serialize, Deserialize)]
enum Stored {
    Waits(Box<Outbound>),
    /// It was taken. The value is the strength of its wish ([`Wish::rank`]).
    Taken(u8),
}

impl Wish {
    /// The wish to hold a link of a duplicate.
    pub fn hold(hold: Hold<'_>) -> Self {
        match hold {
            Hold::For(counterpart) => Wish::HoldFor(counterpart),
            Hold::News => Wish::HoldAsNews,
            Hold::Known(corpus) => Wish::HoldAsKnown(corpus.to_owned()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Wish::Refuse(_) => 0,
            Wish::HoldAsKnown(_) => 1,
            Wish::HoldAsNews => 2,
            Wish::HoldFor(_) => 3,
            Wish::Follow | Wish::Sitemap | Wish::Robots(_) | Wish::Rules(..) => 4,
        }
    }
}

impl Outbound {
    /// Makes the link for a URL that was found.
    pub fn new(found: &FoundLink<'_>, wish: Wish) -> Self {
        let FoundLink { url, depth, priority, merits, source, via, .. } = *found;
        Self { url: url.as_str().to_owned(), depth, priority, merits: merits.to_bytes(), source, via, wish }
    }

    /// Makes a message from one frontier to another that is no link of a page.
    fn errand(url: &Url, wish: Wish) -> Self {
        let (depth, priority, merits, source) = Default::default();
        Self { url: url.as_str().to_owned(), depth, priority, merits, source, via: Via::Link, wish }
    }

    /// Makes the message that a robots.txt has moved to a host of another frontier.
    pub fn robots(errand: Errand) -> Self {
        Self::errand(&errand.url, Wish::Robots(errand.askers))
    }

    /// Makes the message with the rules of an origin of another frontier.
    pub fn rules(asker: Asker, rules: &RobotsRules) -> Self {
        Self::errand(&asker.of.clone(), Wish::Rules(asker, rules.to_bytes()))
    }

    /// Puts the link into the state, unless a link with a wish at least as strong waits there or was taken from there.
    /// Returns true if there never was a link to its URL.
    pub fn put(self, id: UrlId, session: &mut Session) -> Result<bool> {
        let key = self.key(id);
        let known = match session.get(OUTBOUND, &key)? {
            None => None,
            Some(bytes) => Some(match codec::decode(&bytes, "a link to another directory")? {
                Stored::Waits(link) => link.wish.rank(),
                Stored::Taken(rank) => rank,
            }),
        };
        if known.is_none_or(|known| self.wish.rank() > known) {
            session.put(OUTBOUND, key, codec::encode(&Stored::Waits(Box::new(self))));
        }
        Ok(known.is_none())
    }

    /// The key of the link in the state, by the identity of its URL. Links to sitemaps have keys of their own, because
    /// a page may have the same URL.
    pub fn key(&self, id: UrlId) -> Vec<u8> {
        [&id.to_bytes()[..], &[u8::from(self.wish == Wish::Sitemap)]].concat()
    }

    /// Does what the link wishes, in the frontier that has its host.
    pub fn arrive(&self, frontier: &mut Frontier, now: Millis, session: &mut Session) -> Result<Admission> {
        let url = Url::parse(&self.url)
            .map_err(|error| dedup_stage::store::Error::Damaged(format!("{:?} is no URL: {error}", self.url)))?;
        let Self { depth, priority, source, via, .. } = *self;
        let (id, merits) = (frontier.id(&url), Merits::from_bytes(self.merits));
        let found = FoundLink { url: &url, id, depth, priority, merits, source, via };
        match &self.wish {
            Wish::Refuse(reason) => frontier.refuse(&found, *reason, session),
            Wish::HoldAsKnown(corpus) => frontier.hold(&found, Hold::Known(corpus), session),
            Wish::HoldAsNews => frontier.hold(&found, Hold::News, session),
            Wish::HoldFor(counterpart) => frontier.hold(&found, Hold::For(*counterpart), session),
            Wish::Follow => frontier.add(&found, session),
            Wish::Sitemap => frontier.add_sitemap(&url, NamedBy::Peer, depth, session),
            Wish::Robots(askers) => {
                frontier.run_errand(Errand { url, askers: askers.clone() }, now, session)?;
                Ok(Admission::Seen)
            }
            Wish::Rules(asker, rules) => {
                let damaged = || dedup_stage::store::Error::Damaged("the rules of an origin".into());
                frontier.asker_knows(asker, RobotsRules::from_bytes(rules).ok_or_else(damaged)?, now, session)?;
                Ok(Admission::Seen)
            }
        }
    }
}

/// The link that waits at this key ([`Outbound::key`]), if there is one.
pub fn waits_at(key: &[u8], session: &Session) -> Result<Option<Outbound>> {
    match session.get(OUTBOUND, key)?.map(|bytes| codec::decode(&bytes, "a link to another directory")).transpose()? {
        Some(Stored::Waits(link)) => Ok(Some(*link)),
        Some(Stored::Taken(_)) | None => Ok(None),
    }
}

/// The links that wait, at most `most` of them. They wait until [`taken`] says that they are where they belong.
pub fn waiting(most: usize, session: &Session) -> Result<Vec<Outbound>> {
    let (mut links, mut failure) = (Vec::new(), None);
    session.scan(OUTBOUND, &[], &[], &mut |_, value| {
        match codec::decode(value, "a link to another directory") {
            Ok(Stored::Waits(link)) => links.push(*link),
            Ok(Stored::Taken(_)) => {}
            Err(error) => failure = Some(error),
        }
        let enough = links.len() >= most || failure.is_some();
        if enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    })?;
    failure.map_or(Ok(links), Err)
}

/// Marks links that are durable where they belong. If a link with a stronger wish than the taken one waits, it still
/// waits after this.
pub fn taken(links: &[Outbound], id: &dyn Fn(&Url) -> UrlId, session: &mut Session) -> Result<()> {
    for link in links {
        let Ok(url) = Url::parse(&link.url) else { continue };
        let key = link.key(id(&url));
        let stored: Option<Stored> = match session.get(OUTBOUND, &key)? {
            Some(bytes) => Some(codec::decode(&bytes, "a link to another directory")?),
            None => None,
        };
        if let Some(Stored::Waits(waits)) = stored
            && waits.wish.rank() <= link.wish.rank()
        {
            session.put(OUTBOUND, key, codec::encode(&Stored::Taken(link.wish.rank())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    fn link(number: u32, wish: Wish) -> Outbound {
        Outbound {
            url: format!("http://a.test/{number}"),
            depth: 3,
            priority: 0.5,
            merits: [1, 2, 3, 4],
            source: Some(PageId { visit: 2, ..PageId::default() }),
            via: Via::Redirect { hops: 2, again: false },
            wish,
        }
    }

    fn id(url: &Url) -> UrlId {
        UrlId { url: url.path().len() as u64, ..UrlId::default() }
    }

    #[test]
    fn of_several_links_the_one_that_asks_for_most_waits_and_is_taken_once() {
        let mut session = Session::new(Box::new(Memory::default()));
        let one = id(&"http://a.test/1".parse().unwrap());
        let wishes = [Wish::Refuse(SkipReason::Nofollow), Wish::HoldAsNews, Wish::HoldFor(one), Wish::Follow];
        for (at, wish) in wishes.iter().enumerate() {
            assert_eq!(link(1, wish.clone()).put(one, &mut session).unwrap(), at == 0);
            // A link with a weaker wish changes nothing.
            assert!(!link(1, wishes[0].clone()).put(one, &mut session).unwrap());
            assert_eq!(waiting(9, &session).unwrap(), [link(1, wish.clone())]);
        }
        let page = link(1, Wish::Follow);
        assert!(link(1, Wish::Sitemap).put(one, &mut session).unwrap(), "a sitemap is not a page");
        let page = std::slice::from_ref(&page);
        assert_eq!(waiting(1, &session).unwrap(), page);
        taken(page, &id, &mut session).unwrap();
        assert!(!page[0].clone().put(one, &mut session).unwrap());
        assert_eq!(waiting(9, &session).unwrap(), [link(1, Wish::Sitemap)]);
    }

    #[test]
    fn a_link_that_asks_for_more_than_the_one_taken_waits_on() {
        let mut session = Session::new(Box::new(Memory::default()));
        let one = id(&"http://a.test/1".parse().unwrap());
        link(1, Wish::HoldAsNews).put(one, &mut session).unwrap();
        let first = waiting(9, &session).unwrap();
        link(1, Wish::Follow).put(one, &mut session).unwrap();
        taken(&first, &id, &mut session).unwrap();
        assert_eq!(waiting(9, &session).unwrap(), [link(1, Wish::Follow)]);
    }
}
