//! A calendar: each month has the same text and a few events of its own. The URLs have folders for year and month.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A calendar of several years.
pub(super) struct Months {
    months: u64,
    /// The number of events in each month.
    each: u64,
    name: String,
    events: Address,
    /// The text above every month.
    text: String,
    /// Whether the title names the month.
    titled: bool,
    /// Whether a month links to the previous one.
    back: bool,
}

impl Months {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            months: 12 * random.u64(3..=8),
            each: random.u64(1..=4),
            name: word(random),
            events: Address::draw(random),
            text: prose(random.u64(..), random.usize(20..150)),
            titled: random.bool(),
            back: random.bool(),
        }
    }

    fn write(&self, month: u64) -> String {
        format!("/{}/{}/{}/", self.name, 2020 + month / 12, 1 + month % 12)
    }

    fn month(&self, month: u64) -> Page {
        let title =
            if self.titled { format!("Month {} of {}", 1 + month % 12, 2020 + month / 12) } else { "Events".into() };
        let events = month * self.each..(month + 1) * self.each;
        let page = events.fold(Page::new(title).paragraph(&self.text), |page, event| {
            page.item(event, &self.events.write(event), &prose(event, 3))
        });
        let others = [month.checked_sub(1).filter(|_| self.back), Some(month + 1)];
        let others = others.into_iter().flatten().filter(|other| *other < self.months);
        others.fold(page, |page, other| page.link(&self.write(other), "Another month"))
    }
}

impl Site for Months {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            return Reply::Page(Page::new("Home").text(1 << 20, 60).link(&self.write(0), "Events"));
        }
        let month = (0..self.months).find(|month| self.write(*month) == target).map(|month| self.month(month));
        let event = || self.events.read(target, self.months * self.each);
        let event = || event().map(|event| Page::new(prose(event, 3)).text(event, 80).link("/", "Home"));
        month.or_else(event).map_or(Reply::Missing, Reply::Page)
    }
}
