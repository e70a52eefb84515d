//! Traps: sets of URLs without end, or with far more URLs than pages. Each is beside an honest part that a crawl must
//! find. A crawler that follows a trap for ever fetches nothing new.

mod calendar;
mod facets;
mod pictures;
mod relative;
mod sessions;
mod walls;

use std::sync::Arc;

use fastrand::Rng;

use super::Site;
use super::draw::Articles;

/// The kinds of traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Days or months with the same text.
    Calendar,
    /// Links that each have a new session.
    Sessions,
    /// The filters of a product list, in all combinations.
    Facets,
    /// Every URL without a page is answered with status 200, an apology, and links to more such URLs.
    SoftMissing,
    /// Relative links that make the path longer with each step.
    Growing,
    /// Pages behind a login, which all show the same form.
    Logins,
    /// Equal pages with one image whose URL has a random parameter.
    RandomImages,
    /// Equal pages with a picture and an advertisement, which is different each time.
    Ads,
    /// Equal pages with a saying from a stock, beside a long text. A crawler has to fetch some of them to see that the
    /// sayings come from a stock.
    Sayings,
}

impl Trap {
    /// A site with this trap. Its shape, size and names are drawn from the seed.
    pub fn make(self, seed: u64) -> Arc<dyn Site> {
        let mut random = Rng::with_seed(seed ^ 0x7472_6170);
        let random = &mut random;
        match self {
            Trap::Calendar => Arc::new(calendar::Calendar::draw(random)),
            Trap::Sessions => Arc::new(sessions::Sessions::draw(random)),
            Trap::Facets => Arc::new(facets::Facets::draw(random)),
            Trap::SoftMissing => Arc::new(relative::Relative::apologies(random)),
            Trap::Growing => Arc::new(relative::Relative::growing(random)),
            Trap::Logins => Arc::new(walls::Walls::draw(random)),
            Trap::RandomImages => Arc::new(pictures::Pictures::random(random)),
            Trap::Ads => Arc::new(pictures::Pictures::ads(random)),
            Trap::Sayings => Arc::new(pictures::Pictures::sayings(random)),
        }
    }
}

/// The only seed of a site: its front page.
fn front() -> Vec<String> {
    vec!["http://trap.test/".into()]
}

/// The honest part of a site: 60 to 120 articles.
fn honest(random: &mut Rng) -> Articles {
    Articles::draw(random.u64(60..=120), 1 << 24, random)
}
