//! Traps: spaces of URLs without end (or with far more URLs than pages), each beside an honest part that a crawl must find.
//! Whoever follows them for ever fetches nothing new.

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

/// The kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Days or months that all say the same.
    Calendar,
    /// A new session in every link.
    Sessions,
    /// Filters of a product list, in all combinations.
    Facets,
    /// Every URL that is not there is answered with 200, an apology, and links to more of them.
    SoftMissing,
    /// Relative links that make the path longer with every step.
    Growing,
    /// Pages behind a login: each shows the same form.
    Logins,
    /// Equal pages with one image whose address has a random parameter.
    RandomImages,
    /// Equal pages with a picture and an advertisement that is another one each time.
    Ads,
}

impl Trap {
    /// Every kind.
    pub const ALL: [Trap; 8] = [
        Trap::Calendar,
        Trap::Sessions,
        Trap::Facets,
        Trap::SoftMissing,
        Trap::Growing,
        Trap::Logins,
        Trap::RandomImages,
        Trap::Ads,
    ];

    /// A site with this trap; its shape, size and names are drawn from the seed.
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
        }
    }
}

/// The one seed of a site: its front page.
fn front() -> Vec<String> {
    vec!["http://trap.test/".into()]
}

/// The honest part: 60 to 120 articles.
fn honest(random: &mut Rng) -> Articles {
    Articles::draw(random.u64(60..=120), 1 << 24, random)
}
