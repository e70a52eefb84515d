//! Finds the counterpart of each link of a page: the link that its twin has in the same place.

use std::collections::HashSet;
use std::sync::Arc;

use ::url::Url;

use super::aside::Asides;
use super::links::{LinkSet, MinWiseSample, constants, media_of, name_on};
use super::mapping::Mapping;
use super::media::Media;
use super::sightings::Sightings;
use super::{Case, OutLink, UniqueBy, UrlOf, opaque};
use crate::page::Aside;
use crate::page::media::MediumKind;
use crate::store::{Result, Session};
use crate::url::{Keys, PageId, SiteId, UrlId};

/// The counterpart of a link of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// The twin has a link to the same URL.
    Same,
    /// The twin has a link to this URL, which corresponds to the link of the page.
    Of(UrlId),
    /// There is none: the twin has no such link.
    News,
}

/// The links of a page compared with those of an accepted page, its twin.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Identities of the page and of the twin.
    page: PageId,
    twin: PageId,
    /// The links and media of the twin; `None` if they are not known.
    known: Option<TwinLinks>,
    /// Turns links of the page into links of the twin. `None` before the twin's URL was looked up, or if nobody knows
    /// it.
    mapping: Option<Mapping>,
    keys: Arc<Keys>,
}

/// The links and media of the twin.
#[derive(Debug)]
struct TwinLinks {
    links: Members,
    media: Members,
    opaque: Members,
    constants: Vec<String>,
    url: Option<String>,
}

/// A sorted sample.
#[derive(Debug)]
struct Members {
    sorted: Vec<u32>,
    is_whole: bool,
}

impl Members {
    fn contains(&self, member: u32) -> bool {
        self.sorted.binary_search(&member).is_ok()
    }

    /// Whether the sample has a member from `first` to `last`.
    fn has_between(&self, first: u32, last: u32) -> bool {
        let at = self.sorted.partition_point(|member| *member < first);
        self.sorted.get(at).is_some_and(|member| *member <= last)
    }

    /// Whether the sample tells if this member is in the whole set.
    fn decides(&self, member: u32) -> bool {
        self.is_whole || self.sorted.last().is_some_and(|last| member <= *last)
    }
}

impl From<LinkSet> for TwinLinks {
    fn from(set: LinkSet) -> Self {
        let members = |sample: MinWiseSample| Members { sorted: sample.members(), is_whole: sample.is_whole() };
        let (links, media, opaque) = (members(set.links), members(set.media), members(set.opaque));
        Self { links, media, opaque, constants: set.constants, url: set.url }
    }
}

/// A page says something new by its links only if at least this many links of its content are news.
const NEWS: usize = 4;

impl Comparison {
    /// A page with at most this many words of content is judged by its media, too.
    const LITTLE_TEXT: u32 = 250;

    /// Compares a page with `twin`. `known` are the links and media of the twin, if they are known.
    pub(super) fn new(case: &Case<'_>, twin: PageId, known: Option<LinkSet>, keys: &Arc<Keys>) -> Self {
        Self { page: case.id, twin, known: known.map(TwinLinks::from), mapping: None, keys: Arc::clone(keys) }
    }

    /// Compares a page with an accepted twin. If nothing is stored about the links of the twin, it has none.
    pub(super) fn accepted(case: &Case<'_>, twin: PageId, known: Option<LinkSet>, keys: &Arc<Keys>) -> Self {
        Self::new(case, twin, Some(known.unwrap_or_default()), keys)
    }

    /// The page that the other one is compared with.
    pub(crate) fn twin(&self) -> PageId {
        self.twin
    }

    /// The URL of this page, if it is stored with its links.
    pub(crate) fn url_of_twin(&self) -> Option<&str> {
        self.known.as_ref()?.url.as_deref()
    }

    /// Learns the URL of the twin, if it is not known yet.
    pub(crate) fn learn_url(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &Session) -> Result<()> {
        if self.mapping.is_some() {
            return Ok(());
        }
        let known = self.url_of_twin().and_then(|url| Url::parse(url).ok());
        let twin = if known.is_some() { known } else { url_of(self.twin, session)? };
        if let Some(twin) = twin {
            let constants_of_twin = self.known.as_ref().map_or(&[][..], |known| &known.constants);
            let constants = constants(case.links);
            self.mapping = Some(Mapping::new(case.url, &twin, &constants, constants_of_twin));
        }
        Ok(())
    }

    /// Whether the links or the media of the page say something new. Its links do if at least four of the links in its
    /// content, and more than half of them, are news. Its media do if the twin lacks more than half of them; those that
    /// `sightings` tells of do not count. `media` is empty if the page has much text ([`Comparison::media`]). `None` if
    /// neither does.
    pub(super) fn contradicts(
        &mut self,
        case: &Case<'_>,
        media: &Media,
        sightings: Option<&Sightings>,
        url_of: UrlOf<'_>,
        session: &Session,
    ) -> Result<Option<UniqueBy>> {
        if media.are_others(&|_| true, &|_| true) {
            return Ok(Some(UniqueBy::Media));
        }
        let page = case.id.url.url;
        if sightings
            .is_some_and(|seen| media.are_others(&|medium| !seen.is_shared(medium), &|medium| !seen.has(medium, page)))
        {
            return Ok(Some(UniqueBy::MediumBesideShared));
        }
        if !self.has_news(case) {
            return Ok(None);
        }
        // As long as the URL of the twin is not known, some links that are not news seem to be news. So learn the URL,
        // and compare again.
        self.learn_url(case, url_of, session)?;
        Ok(self.has_news(case).then_some(UniqueBy::Links))
    }

    /// Whether any link of the page is news. Links in chrome and opaque links count, too, because a page with few words
    /// may consist of its links.
    pub(super) fn has_any_news(&mut self, case: &Case<'_>, url_of: UrlOf<'_>, session: &Session) -> Result<bool> {
        let any = |this: &Self| case.links.iter().any(|link| this.lacks(link));
        if !any(self) {
            return Ok(false);
        }
        self.learn_url(case, url_of, session)?;
        Ok(any(self))
    }

    /// The media of a page with this many words, compared with those of its twin. Empty if the page has much text. A
    /// medium of another site also matches a medium of the twin's own site, if the twin is on the site of the medium.
    pub(super) fn media(&self, case: &Case<'_>, words: u32) -> Media {
        let Some(known) = self.known.as_ref().filter(|_| words <= Self::LITTLE_TEXT) else { return Media::default() };
        let has = |medium: &u32| match MediumKind::of(*medium) {
            MediumKind::Away => known.media.contains(*medium),
            // The twin has it as a medium of its own site, or shows it from the site of the page.
            MediumKind::Own => known.media.has_between(*medium, *medium | MediumKind::BITS),
            MediumKind::AwayThere => known.media.contains(*medium & !MediumKind::BITS),
            // Texts are no media, and `media_of` has none.
            MediumKind::Text => true,
        };
        let (common, others) = media_of(case).filter(|medium| known.media.decides(*medium)).partition(has);
        Media { common, others }
    }

    /// The running texts in the chrome of the page that the twin lacks.
    pub(super) fn asides(&self, case: &Case<'_>) -> Asides {
        let Some(known) = &self.known else { return Asides::default() };
        let lacks =
            |aside: &&Aside| aside.hashes.iter().all(|hash| known.media.decides(*hash) && !known.media.contains(*hash));
        let others = case.page.asides.iter().filter(lacks).copied().collect();
        Asides { others, is_of_host: self.own_site() == self.twin_site() }
    }

    /// Whether the twin certainly lacks a link.
    pub(super) fn lacks(&self, link: &OutLink) -> bool {
        self.look_up(link) == Some(Counterpart::News)
    }

    /// The number of links of the twin that the page lacks, if twin and page are two visits to one URL. `None` if not
    /// all links of the twin are known.
    pub(super) fn links_gone(&self, case: &Case<'_>) -> Option<usize> {
        let known = self.known.as_ref().filter(|known| known.links.is_whole)?;
        let site = self.twin_site();
        let shown: HashSet<u32> = case.links.iter().map(|link| name_on(site, link.id, link.reference)).collect();
        Some(known.links.sorted.iter().filter(|name| !shown.contains(name)).count())
    }

    fn has_news(&self, case: &Case<'_>) -> bool {
        let (mut all, mut news) = (0, 0);
        for link in case.links.iter().filter(|link| link.content) {
            match self.look_up(link) {
                Some(Counterpart::News) if self.is_opaque_twin(link) => all += 1,
                Some(Counterpart::News) => (all, news) = (all + 1, news + 1),
                Some(_) => all += 1,
                None => {}
            }
        }
        news >= NEWS && news * 2 > all
    }

    /// Whether the twin has a link that differs from this one only in opaque words. If these words name sessions, both
    /// links lead to one page. If they name pages, the links lead to two. So such a link does not help to make the page
    /// unique. But it is news, and trials decide about it.
    fn is_opaque_twin(&self, link: &OutLink) -> bool {
        let Some(known) = &self.known else { return false };
        opaque::name(self.own_site(), link).is_some_and(|name| known.opaque.contains(name))
    }

    /// The share of the links in the page's content that have a counterpart, 0..1; 1 if the content has no links.
    pub(super) fn common(&self, case: &Case<'_>) -> f32 {
        let (mut all, mut common) = (0, 0);
        for link in case.links.iter().filter(|link| link.content) {
            let found = self.look_up(link);
            all += usize::from(found.is_some());
            common += usize::from(found.is_some_and(|found| found != Counterpart::News));
        }
        if all == 0 { 1.0 } else { common as f32 / all as f32 }
    }

    /// The counterpart of a link of the page. If the twin's links are not known, or only a sample of them, this is the
    /// link that the twin most probably has.
    pub(crate) fn counterpart(&self, link: &OutLink) -> Counterpart {
        self.look_up(link).unwrap_or_else(|| match &self.mapping {
            Some(mapping) if link.id.site == self.own_site() => {
                let (id, _) = self.keys.identify(&mapping.likeliest(&link.url));
                if id == link.id { Counterpart::Same } else { Counterpart::Of(id) }
            }
            _ => Counterpart::Same,
        })
    }

    /// The counterpart of a link, if the known links of the twin tell it.
    fn look_up(&self, link: &OutLink) -> Option<Counterpart> {
        let known = self.known.as_ref()?;
        let name = name_on(self.twin_site(), link.id, link.reference);
        if known.links.contains(name) {
            return Some(Counterpart::Same);
        }
        let mut decided = known.links.decides(name);
        let to_own_host = link.id.site == self.own_site();
        for variant in self.mapping.iter().flat_map(|mapping| mapping.variants(&link.url, to_own_host)) {
            let (id, reference) = self.keys.identify(&variant);
            let name = name_on(self.twin_site(), id, reference);
            if known.links.contains(name) {
                return Some(if id == link.id { Counterpart::Same } else { Counterpart::Of(id) });
            }
            decided &= known.links.decides(name);
        }
        decided.then_some(Counterpart::News)
    }

    fn own_site(&self) -> SiteId {
        self.page.url.site
    }

    fn twin_site(&self) -> SiteId {
        self.twin.url.site
    }
}
