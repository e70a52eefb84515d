//! Pages without words: each has one picture, and arrows as links. There may be sheets of thumbnails.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, target, word};
use crate::gate::{Page, Reply, Site};

/// Pages of pictures.
pub(super) struct Images {
    count: u64,
    address: Address,
    sheets: Address,
    /// The number of thumbnails on a sheet; 0 if pictures only link to each other.
    thumbs: u64,
    files: String,
    title: String,
}

impl Images {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            count: random.u64(120..=240),
            address: Address::draw(random),
            sheets: Address::draw(random),
            thumbs: if random.bool() { random.u64(1..=12) } else { 0 },
            files: word(random),
            title: if random.bool() { word(random) } else { String::new() },
        }
    }

    fn picture(&self, number: u64) -> Page {
        let image = format!("<img src=\"/{}/{number}.jpeg\">", self.files);
        let page = Page::new(self.title.clone()).picture(number, &image);
        match (self.thumbs, number + 1 < self.count) {
            (0, true) => page.link(&self.address.write(number + 1), "&rarr;"),
            (0, false) => page,
            (thumbs, _) => page.link(&self.sheets.write(number / thumbs), "&uarr;"),
        }
    }

    fn sheet(&self, sheet: u64) -> Page {
        let thumbs = sheet * self.thumbs..((sheet + 1) * self.thumbs).min(self.count);
        let last = thumbs.end == self.count;
        let page = thumbs.fold(Page::new(self.title.clone()), |page, number| {
            let thumb = format!("<img src=\"/{}/small/{number}.jpeg\">", self.files);
            page.item(number, &self.address.write(number), &thumb)
        });
        if last { page } else { page.link(&self.sheets.write(sheet + 1), "&rarr;") }
    }
}

impl Site for Images {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            let first = if self.thumbs == 0 { self.address.write(0) } else { self.sheets.write(0) };
            return Reply::Page(Page::new(self.title.clone()).link(&first, "&rarr;"));
        }
        let picture = self.address.read(target, self.count).map(|number| self.picture(number));
        let sheets = self.count.checked_div(self.thumbs).map_or(0, |whole| whole + 1);
        let sheet = || self.sheets.read(target, sheets).map(|sheet| self.sheet(sheet));
        picture.or_else(sheet).map_or(Reply::Missing, Reply::Page)
    }
}
