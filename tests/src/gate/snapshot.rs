//! A book whose chapters are linked by "Previous" and "Next", and an old copy of it on another host or in another
//! folder. The copy has the first chapters only.

use fastrand::Rng;
use url::Url;

use super::draw::{target, word};
use super::{Page, Reply, Site};

/// A book and its old copy.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The prefixes of the addresses of the copy and of the book, each with the number of its chapters.
    places: [(String, u64); 2],
}

impl Snapshot {
    /// A book of `chapters`, of which the old copy has the first `copied`. The two are folders of one host, or hosts of
    /// one domain.
    pub fn draw(seed: u64, copied: u64, chapters: u64, folders: bool) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x736e_6170);
        let domain = format!("{}.test", word(&mut random));
        let place = |version| {
            if folders { format!("http://{domain}/{version}") } else { format!("http://{version}.{domain}") }
        };
        Self { places: [(place("old"), copied), (place("new"), chapters)] }
    }
}

impl Site for Snapshot {
    fn seeds(&self) -> Vec<String> {
        self.places.iter().map(|(place, _)| format!("{place}/chapter-0")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let chapter = self.places.iter().find_map(|(place, chapters)| {
            let place = Url::parse(place).ok().filter(|place| place.host_str() == url.host_str())?;
            let rest = target(url).strip_prefix(place.path().trim_end_matches('/'))?;
            let number: u64 = rest.strip_prefix("/chapter-")?.parse().ok()?;
            (number < *chapters).then_some((number, *chapters))
        });
        let Some((number, chapters)) = chapter else { return Reply::Missing };
        let mut page = Page::new(format!("Chapter {number}")).text(number, 80);
        if number > 0 {
            page = page.link(&format!("chapter-{}", number - 1), "Previous");
        }
        if number + 1 < chapters {
            page = page.link(&format!("chapter-{}", number + 1), "Next");
        }
        Reply::Page(page)
    }
}
