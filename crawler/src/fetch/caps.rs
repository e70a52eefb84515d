//! The largest body of each kind. All caps are derived here from the settings, so that each body fits the budget that
//! all bodies share: a body that could never fit would be fetched again and again.

use frontier::JobKind;

use super::budget::ByteBudget;

/// The cap of robots.txt. RFC 9309, section 2.5: crawlers must read at least its first 500 KiB.
const ROBOTS: u64 = 512 << 10;
/// The cap of a sitemap. sitemaps.org: a sitemap has at most 50 MiB, uncompressed.
const SITEMAP: u64 = 50 << 20;
/// The cap of a redirect's body. It is a text for people, and nothing beyond this is useful.
const REDIRECT: u64 = 64 << 10;
/// The most bytes that the decoder of a content-encoding holds besides the body (zstd: RFC 9659, 8 MiB).
const DECODER: u64 = 8 << 20;

/// The caps of decoded bodies, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caps {
    robots: usize,
    sitemap: usize,
    redirect: usize,
    page: usize,
}

impl Caps {
    /// The caps for these settings. No cap is larger than the room in the budget when nothing else is in memory.
    pub(super) fn of(settings: &config::Settings) -> Self {
        let budget = settings.fetch.body_budget.0;
        // If there is an archive, a page is also held as it was received.
        let copies = if settings.output.warc { 2 } else { 1 };
        let room = (budget - budget / ByteBudget::OWN).saturating_sub(DECODER).max(budget / 2);
        let cap = |bytes: u64, copies: u64| usize::try_from(bytes.min(room / copies)).unwrap_or(usize::MAX);
        Self {
            robots: cap(ROBOTS, 1),
            sitemap: cap(SITEMAP, 1),
            redirect: cap(REDIRECT, copies),
            page: cap(settings.fetch.max_body.0, copies),
        }
    }

    /// The cap of an answer with this status to a job of this kind.
    pub(super) fn of_answer(&self, kind: JobKind, status: u16) -> usize {
        match kind {
            _ if (300..400).contains(&status) => self.redirect,
            JobKind::Resolve => 0,
            JobKind::Robots => self.robots,
            JobKind::Sitemap => self.sitemap,
            JobKind::Page => self.page,
        }
    }
}

#[cfg(test)]
mod tests {
    use config::{Settings, Size};

    use super::*;

    #[test]
    fn every_body_fits_the_budget_alone() {
        for (budget, max_body, warc) in [(64 << 20, 8 << 20, false), (8 << 20, 8 << 20, true), (1 << 20, 1 << 20, true)]
        {
            let mut settings = Settings::default();
            (settings.fetch.body_budget, settings.fetch.max_body) = (Size(budget), Size(max_body));
            settings.output.warc = warc;
            let caps = Caps::of(&settings);
            let copies = if warc { 2 } else { 1 };
            for (kind, copies) in [(JobKind::Robots, 1), (JobKind::Sitemap, 1), (JobKind::Page, copies)] {
                assert!(caps.of_answer(kind, 200) as u64 * copies <= budget, "{kind:?}: {caps:?} of {budget}");
            }
            assert!(caps.of_answer(JobKind::Page, 302) <= REDIRECT as usize);
        }
        let usual = Caps::of(&Settings::default());
        assert_eq!(usual.of_answer(JobKind::Page, 200), 8 << 20);
        assert_eq!(usual.of_answer(JobKind::Sitemap, 200), 50 << 20);
    }
}
