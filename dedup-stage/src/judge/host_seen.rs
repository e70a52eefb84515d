//! Compares a page with the pages that have its text, beside what its host has shown so far.
//!
//! What the host has shown is read only if it matters, and written once for each page.

use super::aside::Asides;
use super::counterpart::Comparison;
use super::media::Media;
use super::sightings::{Remembered, Sightings};
use super::{Case, UniqueBy, UrlOf};
use crate::store::{Result, Session};

/// What the host of a page has shown, and what the page adds to it.
#[derive(Debug, Default)]
pub(super) struct HostSeen {
    /// Media that were seen, and the media of the page beside those of the first twin that has some of them.
    media: Option<Sightings>,
    mixed: Option<Media>,
    /// Running texts in chrome that were seen, and those of the page that the first twin lacks.
    texts: Option<Sightings>,
    beside: Asides,
}

impl HostSeen {
    /// What makes a page unique, compared with `twin`, which has the same text; `None` if nothing does. The content of
    /// the page has this many words.
    pub(super) fn contradicts(
        &mut self,
        twin: &mut Comparison,
        case: &Case<'_>,
        words: u32,
        url_of: UrlOf<'_>,
        session: &Session,
    ) -> Result<Option<UniqueBy>> {
        let site = case.id.url.site;
        let media = twin.media(case, words);
        if media.are_mixed() && self.media.is_none() {
            self.media = Some(Sightings::read(Remembered::Media, site, session)?);
        }
        let why = twin.contradicts(case, &media, self.media.as_ref(), url_of, session)?;
        if self.mixed.is_none() && media.are_mixed() {
            self.mixed = Some(media);
        }
        let asides = twin.asides(case);
        if asides.others.is_empty() {
            return Ok(why);
        }
        if self.texts.is_none() {
            self.texts = Some(Sightings::read(Remembered::Texts, site, session)?);
        }
        let says_more = self.texts.as_ref().is_some_and(|texts| asides.say_more(case, words, texts));
        if self.beside.others.is_empty() {
            self.beside = asides;
        }
        Ok(why.max(says_more.then_some(UniqueBy::Aside)))
    }

    /// Writes what the page has added.
    pub(super) fn note(self, case: &Case<'_>, session: &mut Session) -> Result<()> {
        let site = case.id.url.site;
        if let (Some(mut seen), Some(media)) = (self.media, self.mixed) {
            seen.note_page(case, media);
            seen.put(Remembered::Media, site, session)?;
        }
        if let Some(mut texts) = self.texts {
            texts.note_texts(case, &self.beside.others, self.beside.is_of_host);
            texts.put(Remembered::Texts, site, session)?;
        }
        Ok(())
    }
}
