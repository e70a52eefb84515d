//! A calendar of days or months without events, and without end in both directions.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Articles, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A site with a calendar.
pub(super) struct Calendar {
    articles: Articles,
    name: String,
    /// Whether the date is in parameters; after it, whether it is in the title.
    queries: bool,
    dated: bool,
    /// Whether there are pages for days, or else for months.
    days: bool,
    text: String,
}

impl Calendar {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            articles: honest(random),
            name: word(random),
            queries: random.bool(),
            dated: random.bool(),
            days: random.bool(),
            text: prose(random.u64(..), random.usize(8..=300)),
        }
    }

    /// The path and query of a day or month. Days and months are numbered consecutively, with 12 months a year and 28
    /// days a month.
    fn write(&self, unit: u64) -> String {
        let (day, month) = if self.days { (1 + unit % 28, unit / 28) } else { (0, unit) };
        let (year, month, name) = (month / 12, 1 + month % 12, &self.name);
        match (self.queries, self.days) {
            (true, true) => format!("/{name}?year={year}&month={month}&day={day}"),
            (true, false) => format!("/{name}?year={year}&month={month}"),
            (false, true) => format!("/{name}/{year}/{month:02}/{day:02}/"),
            (false, false) => format!("/{name}/{year}/{month:02}/"),
        }
    }

    fn read(&self, target: &str) -> Option<u64> {
        let numbers = target.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
        let numbers: Vec<u64> = numbers.collect();
        let month = numbers.first()? * 12 + numbers.get(1)?.checked_sub(1)?;
        let unit = if self.days { month * 28 + numbers.get(2)?.checked_sub(1)? } else { month };
        (self.write(unit) == target).then_some(unit)
    }

    fn year(&self) -> u64 {
        if self.days { 12 * 28 } else { 12 }
    }
}

impl Site for Calendar {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        let today = 2_024 * self.year() + 5;
        if let Some(number) = self.articles.read(target) {
            let page = self.articles.page(number);
            return Reply::Page(if number % 4 == 0 { page.link(&self.write(today), "Calendar") } else { page });
        }
        let Some(unit) = self.read(target) else { return Reply::Missing };
        let title = if self.dated { format!("Calendar {unit}") } else { "Calendar".into() };
        let mut page = Page::new(title).paragraph(&self.text).link("/", "Home").link(&self.write(unit + 1), "Next");
        if unit > self.year() {
            page = page.link(&self.write(unit - 1), "Previous").link(&self.write(unit - self.year()), "A year before");
        }
        Reply::Page(page.link(&self.write(unit + self.year()), "A year later"))
    }
}
