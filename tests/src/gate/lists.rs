//! Two parts of the web with the same lists, although many of the listed pages differ: shops of two countries, two
//! languages of one manual, partial mirrors. A crawler that takes the lists of the second part for copies, and also all
//! pages to which they lead, loses the pages that only the second part has.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// A web of two such parts.
#[derive(Clone, Debug)]
pub struct Lists {
    shape: Shape,
    /// The host and the first folder of each part.
    parts: [(String, String); 2],
    /// The percentage of the pages that only one part has.
    own: u64,
    /// The number of pages of each part that are not lists.
    leaves: u64,
    words: usize,
    /// The number of words of a page that is no list; 0 if it is a picture.
    leaf_words: usize,
    salt: u64,
}

/// The way in which the lists lead to the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Two levels of ten lists each.
    Tree,
    /// Lists of 25 pages, each with a link to the next list. The pages that both parts have come first.
    Chain,
}

/// The places of the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// On two hosts of one domain.
    Domain,
    /// On hosts of two domains.
    Domains,
    /// In two folders of one host.
    Folders,
}

impl Parts {
    /// Draws the host and the first folder of each part.
    pub fn draw(self, random: &mut Rng) -> [(String, String); 2] {
        let (site, other) = (word(random), word(random));
        let hosts = match self {
            Parts::Domain => [format!("www.{site}3.test"), format!("uk.{site}3.test")],
            Parts::Domains => [format!("{site}4.test"), format!("{other}5.test")],
            Parts::Folders => [format!("{site}6.test"), format!("{site}6.test")],
        };
        let folders = if self == Parts::Folders { ["/en", "/de"] } else { ["", ""] };
        let [first, second] = hosts;
        [(first, folders[0].into()), (second, folders[1].into())]
    }
}

/// The number of pages in one list of a chain.
const EACH: u64 = 25;

impl Lists {
    /// A web of two parts. `own` percent of the pages are only in one of them.
    pub fn draw(seed: u64, shape: Shape, parts: Parts, own: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6c69_7374);
        Self {
            shape,
            parts: parts.draw(&mut random),
            own,
            leaves: if shape == Shape::Tree { 800 } else { 400 },
            words: random.usize(30..150),
            leaf_words: 120,
            salt: random.u64(..),
        }
    }

    /// The same web with so many words on each page that is no list. With 0, each is a picture.
    pub fn with_leaves_of(self, leaf_words: usize) -> Self {
        Self { leaf_words, ..self }
    }

    fn is_own(&self, leaf: u64) -> bool {
        match self.shape {
            // In a tree, a list has either only shared pages or only pages of its own part.
            Shape::Tree => hash(&(leaf / 8).to_string(), self.salt) % 100 < self.own,
            Shape::Chain => leaf * 100 >= self.leaves * (100 - self.own),
        }
    }

    fn list(&self, name: &str) -> Page {
        Page::new(format!("List {name}")).paragraph(&prose(hash(name, self.salt), self.words))
    }

    fn page(&self, part: usize, target: &str) -> Option<Page> {
        let target = target.strip_prefix(self.parts[part].1.as_str())?;
        let home = matches!(target, "/" | "");
        // Both parts write their links the same way.
        let up = if home { "" } else { "../" };
        let link = |page: Page, path: String, name: &str| page.link(&format!("{up}{path}"), name);
        let leaf_link = |page, leaf| link(page, format!("item/{leaf}"), &prose(leaf ^ self.salt, 2));
        if let Some(leaf) = target.strip_prefix("/item/") {
            let leaf: u64 = leaf.parse().ok().filter(|leaf| *leaf < self.leaves)?;
            let own = if self.is_own(leaf) { 1 + part as u64 } else { 0 };
            let text = self.salt ^ (own << 32) ^ leaf;
            return Some(match self.leaf_words {
                0 => Page::new("Photo").picture(text, &format!("<img src=\"/photos/{text:x}.jpeg\">")),
                words => Page::new(prose(text ^ 0x5469, 4)).text(text, words),
            });
        }
        match self.shape {
            Shape::Tree if home => {
                Some((0..10).fold(self.list("home"), |page, at| link(page, format!("list/{at}"), "List")))
            }
            Shape::Chain if home => Some(link(self.list("home"), "list/0".into(), "List")),
            Shape::Tree => {
                let name = target.strip_prefix("/list/")?;
                let at: u64 = name.parse().ok()?;
                match name.len() {
                    1 => Some((0..10).fold(self.list(name), |page, sub| link(page, format!("list/{at}{sub}"), "List"))),
                    2 => Some((at * 8..at * 8 + 8).fold(self.list(name), leaf_link)),
                    _ => None,
                }
            }
            Shape::Chain => {
                let at: u64 = target.strip_prefix("/list/")?.parse().ok()?;
                let count = self.leaves.div_ceil(EACH);
                let page = (at * EACH..((at + 1) * EACH).min(self.leaves)).fold(self.list("all"), leaf_link);
                (at < count)
                    .then(|| if at + 1 < count { link(page, format!("list/{}", at + 1), "Older") } else { page })
            }
        }
    }
}

impl Site for Lists {
    fn seeds(&self) -> Vec<String> {
        self.parts.iter().map(|(host, folder)| format!("http://{host}{folder}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let is_in =
            |(host, folder): &(String, String)| url.host_str() == Some(host) && url.path().starts_with(folder.as_str());
        let part = self.parts.iter().position(is_in);
        part.and_then(|part| self.page(part, target(url))).map_or(Reply::Missing, Reply::Page)
    }
}
