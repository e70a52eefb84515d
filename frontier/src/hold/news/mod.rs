//! News: links of a duplicate that its twin does not have. The page that carries such links does not tell whether they
//! bring anything, because the months of an empty calendar and the pages of a list look alike. So a few of the links
//! are fetched as trials. The links of a page that is unique only by its links are treated in the same way.
//!
//! # Templates
//!
//! Links are tried by *template* (see `super::template`). The test of a template is sequential. At first, two trials
//! are *out* (under way) at the same time; each trial that brings something allows for one more. Three trials that
//! bring nothing end the test; each trial that brings something allows for three more failures. A trial may also tell
//! nothing (see below). The first four of those do not count, and each further one counts as a failure. A template is
//! *followed* when three trials brought something, and at most one trial in three brought nothing. Then all its links
//! are fetched, as long as that stays true.
//!
//! A trap can have a new template for each of its links. So a second test counts the trials of all templates of a host
//! together, and bounds what they cost. A trap can also have a new host for each of its links, if any name below its
//! domain has an address. So a third test counts the trials of all hosts of a domain. Trials of news come after all
//! other URLs of their host, so that a trial is not credited with pages that the crawl finds without it.
//!
//! # Lists
//!
//! A page without content of its own *leads* to something if it has links of another template that is followed because
//! of contents. Then the page belongs to a list, and its next page is worth a trial. A template that is followed
//! because its pages lead to something does not make other templates lead. Otherwise two templates of a trap could keep
//! each other going for ever. If the page has no such links, but links of templates that are still being tried, the
//! trial tells nothing.

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, SiteId};
use serde::{Deserialize, Serialize};

use crate::spaces;
use crate::taught::Brought;

/// The results of the trials of a template, of all templates of a host together, or of all hosts of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Trials without a result yet.
    out: u32,
    /// Trials that brought a new content.
    fresh: u32,
    /// Trials that led to something.
    led: u32,
    /// Trials that brought nothing.
    nothing: u32,
    /// Trials that told nothing.
    neither: u32,
    /// In the test of a host: whether a link was held because too many trials of the host had no result yet.
    starved: bool,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showed {
    /// The page has a new content.
    Content,
    /// The page has a few words that are new. This counts as a new content.
    Words,
    /// The words that pages of the host have come from a stock. So this trial brought nothing, and earlier trials that
    /// showed words do not count any more.
    Stock,
    /// The page has links of another template that is followed because of contents.
    Links,
    /// The page has nothing new.
    Nothing,
    /// The trial tells nothing: it has no page, or its page has links of templates that are still being tried.
    Neither,
}

impl Test {
    /// At first, this many trials may be out at the same time. Each success allows for one more.
    const AT_ONCE: u32 = 2;
    /// This many failures end a test. Each success allows for as many more.
    const PATIENCE: u32 = 3;
    /// This many failures end all tests of a host; two trials that told nothing count as one failure. Each success
    /// allows for [`Test::PATIENCE`] more.
    const OF_HOST: u32 = 12;
    /// The same for all hosts of a domain together. Hosts of honest domains differ, so this allows for many. Of the
    /// trials that are out, there may be as many again. (The links of further hosts stay held; the rescue tries them.)
    const OF_DOMAIN: u32 = 240;
    /// If more trials than this tell nothing, each further one counts as a failure.
    const NEITHER: u32 = 4;
    /// A template is followed after at least this many successes.
    const ENOUGH: u32 = 3;

    /// Whether the template is followed: all its links are fetched.
    pub fn is_followed(&self) -> bool {
        self.good() >= Self::ENOUGH && 2 * self.nothing <= self.good()
    }

    /// Whether the template is followed because of contents alone.
    fn has_contents(&self) -> bool {
        self.fresh >= Self::ENOUGH && 2 * self.nothing <= self.fresh
    }

    fn good(&self) -> u32 {
        self.fresh + self.led
    }

    /// Whether one more link of the template may be tried, if `patience` failures end the test.
    fn may_try(&self, patience: u32) -> bool {
        let spent = self.nothing + self.neither.saturating_sub(Self::NEITHER) + self.out;
        self.out < Self::AT_ONCE + self.good() && spent < patience + Self::PATIENCE * self.good()
    }

    /// Whether one more link of a host may be tried. To be asked of the test of all templates of the host.
    fn host_may_try(&self) -> bool {
        self.nothing + self.neither / 2 + self.out < Self::OF_HOST + Self::PATIENCE * self.good()
    }

    /// Whether one more link of a domain may be tried. To be asked of the test of all hosts of the domain.
    fn domain_may_try(&self) -> bool {
        let most = Self::OF_DOMAIN + Self::PATIENCE * self.good();
        self.nothing + self.neither / 2 < most && self.out < most
    }

    /// Whether the test is over: no trial is out, and no more link may be tried.
    fn is_over(&self) -> bool {
        self.out == 0 && !self.may_try(Self::PATIENCE)
    }

    fn ended(&mut self, showed: Showed) {
        self.out = self.out.saturating_sub(1);
        *match showed {
            Showed::Content | Showed::Words => &mut self.fresh,
            Showed::Links => &mut self.led,
            Showed::Nothing | Showed::Stock => &mut self.nothing,
            Showed::Neither => &mut self.neither,
        } += 1;
    }

    /// Takes back what trials that showed words have counted.
    fn forget_words(&mut self, words: u32) {
        self.fresh = self.fresh.saturating_sub(words);
    }

    fn get(site: SiteId, template: u64, session: &Session) -> Result<Self> {
        match session.get(spaces::RULES, &key(site, template))? {
            Some(bytes) => codec::decode(&bytes, "the trials of a template"),
            None => Ok(Self::default()),
        }
    }

    fn put(self, site: SiteId, template: u64, session: &mut Session) {
        session.put(spaces::RULES, key(site, template), codec::encode(&self));
    }
}

/// Kind of the records of templates in [`spaces::RULES`].
pub const TAG: u8 = b'n';
/// Kind of the records that tell how many trials of a template showed words.
pub const WORDS_TAG: u8 = b'w';
/// In place of a template: the test of all templates of a host together, or of all hosts of a domain.
const ALL: u64 = 0;

/// The key of the test of a domain: no host of it, but all.
fn domain(of: SiteId) -> SiteId {
    SiteId { host: 0, ..of }
}

fn key(site: SiteId, template: u64) -> Vec<u8> {
    key_of(TAG, site, template)
}

fn key_of(tag: u8, site: SiteId, template: u64) -> Vec<u8> {
    [&site.to_bytes()[..], &[tag], &template.to_be_bytes()].concat()
}

/// Notes whether one more trial of a template showed words. Returns the number of earlier trials
/// that showed words and do not count any more.
fn words(site: SiteId, template: u64, showed: Showed, session: &mut Session) -> Result<u32> {
    if !matches!(showed, Showed::Words | Showed::Stock) {
        return Ok(0);
    }
    let key = key_of(WORDS_TAG, site, template);
    let bytes = session.get(spaces::RULES, &key)?;
    let before: u32 = bytes.map_or(Ok(0), |bytes| codec::decode(&bytes, "the trials that showed words"))?;
    let (after, forgotten) = if showed == Showed::Words { (before + 1, 0) } else { (0, before) };
    if after != before {
        session.put(spaces::RULES, key, codec::encode(&after));
    }
    Ok(forgotten)
}

/// The decision about a link that is news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsDecision {
    /// Follow the link, because its template is followed. Its page counts as a trial of the template.
    Follow,
    /// Fetch the link as a trial.
    Try,
    /// Hold the link. It may be tried later.
    Hold,
}

/// The page of a trial that was just fetched. Its links tell what the trial brings.
#[derive(Clone, Copy, Debug)]
struct Current {
    page: PageId,
    template: u64,
    /// Links of the page whose template is another one that is followed because of contents.
    contents: u32,
    /// Links of the page whose template is another one that is still being tried.
    open: u32,
}

/// The trials of news: which links are tried, and what the trials show.
#[derive(Debug, Default)]
pub struct News {
    current: Option<Current>,
}

impl News {
    /// Decides about one more link that is news, found on the page `source`.
    pub fn meet(
        &mut self,
        site: SiteId,
        template: u64,
        source: Option<PageId>,
        session: &mut Session,
    ) -> Result<NewsDecision> {
        let test = Test::get(site, template, session)?;
        if let Some(current) = self.current.as_mut().filter(|current| Some(current.page) == source)
            && template != current.template
        {
            current.contents += u32::from(test.has_contents());
            current.open += u32::from(!test.is_followed() && !test.is_over());
        }
        if self.follow(site, template, session)? {
            return Ok(NewsDecision::Follow);
        }
        Ok(if self.try_one(site, template, test, session)? { NewsDecision::Try } else { NewsDecision::Hold })
    }

    /// Whether the template is followed. If so, this link counts as a trial that is out.
    pub fn follow(&self, site: SiteId, template: u64, session: &mut Session) -> Result<bool> {
        let mut test = Test::get(site, template, session)?;
        if !test.is_followed() {
            return Ok(false);
        }
        test.out += 1;
        test.put(site, template, session);
        for all in [site, domain(site)] {
            let mut test = Test::get(all, ALL, session)?;
            test.out += 1;
            test.put(all, ALL, session);
        }
        Ok(true)
    }

    /// Whether one more link of a template may be tried. If so, the trial counts as out.
    fn try_one(&self, site: SiteId, template: u64, mut test: Test, session: &mut Session) -> Result<bool> {
        let mut host = Test::get(site, ALL, session)?;
        if !test.may_try(Test::PATIENCE) {
            return Ok(false);
        }
        if !host.host_may_try() {
            if host.out > 0 && !host.starved {
                host.starved = true;
                host.put(site, ALL, session);
            }
            return Ok(false);
        }
        let mut of_domain = Test::get(domain(site), ALL, session)?;
        if !of_domain.domain_may_try() {
            return Ok(false);
        }
        for test in [&mut test, &mut host, &mut of_domain] {
            test.out += 1;
        }
        test.put(site, template, session);
        host.put(site, ALL, session);
        of_domain.put(domain(site), ALL, session);
        Ok(true)
    }

    /// Whether a link of a template that was held may be tried now. If so, the trial counts as out.
    pub fn try_held(&mut self, site: SiteId, template: u64, session: &mut Session) -> Result<bool> {
        let test = Test::get(site, template, session)?;
        self.try_one(site, template, test, session)
    }

    /// The page of a trial was answered well. Its links ([`News::meet`]) and its result ([`News::showed`]) come next.
    pub fn answered(&mut self, page: PageId, template: u64) {
        self.current = Some(Current { page, template, contents: 0, open: 0 });
    }

    /// The result of a trial, after all links of its page were seen. `None` if the page was not answered well, because
    /// then the result was given before.
    pub fn showed(&mut self, page: PageId, brought: Option<Brought>) -> Option<Showed> {
        let current = self.current.take().filter(|current| current.page == page)?;
        Some(match brought {
            Some(Brought::Content | Brought::Media) => Showed::Content,
            _ if current.contents > 0 => Showed::Links,
            Some(Brought::Words) => Showed::Words,
            _ if current.open > 0 => Showed::Neither,
            Some(Brought::WordsOfStock) => Showed::Stock,
            Some(Brought::Links | Brought::Nothing) => Showed::Nothing,
            None => Showed::Neither,
        })
    }

    /// A trial ended. Returns what is to be done with the held links of its template, and whether held links of other
    /// templates of the host may be tried now.
    pub fn ended(
        &mut self,
        site: SiteId,
        template: u64,
        showed: Showed,
        session: &mut Session,
    ) -> Result<(AfterTrial, bool)> {
        let mut test = Test::get(site, template, session)?;
        let before = test.is_followed();
        let forgotten = words(site, template, showed, session)?;
        test.ended(showed);
        test.forget_words(forgotten);
        test.put(site, template, session);
        let mut of_domain = Test::get(domain(site), ALL, session)?;
        of_domain.ended(showed);
        of_domain.forget_words(forgotten);
        of_domain.put(domain(site), ALL, session);
        let mut host = Test::get(site, ALL, session)?;
        host.ended(showed);
        host.forget_words(forgotten);
        let others = host.starved && host.out == 0 && host.host_may_try();
        host.starved &= !others;
        host.put(site, ALL, session);
        let own = match test.is_followed() {
            true if !before => AfterTrial::Release,
            false if test.may_try(Test::PATIENCE) => AfterTrial::Try,
            _ => AfterTrial::Nothing,
        };
        Ok((own, others))
    }
}

/// What is to be done with the held links of a template after a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTrial {
    /// All of them are followed.
    Release,
    /// One more is tried, or several.
    Try,
    /// They stay held.
    Nothing,
}

#[cfg(test)]
mod tests;
