//! Honest lists of entries that the crawl knows already: each list says only what other pages have said, but some lead
//! to pages to which nothing else leads.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// A site of posts, and of lists of posts.
pub struct Indexes {
    posts: u64,
    lists: u64,
    /// The number of posts on a list.
    each: u64,
    kind: Index,
    names: [String; 4],
    text: String,
}

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Tags: each list has posts that other lists have, too, and links to two other lists. Each leads to one post that
    /// no other page leads to. The link has the same words on all lists.
    Tags,
    /// An archive in parts, behind tags that list all its posts but the last.
    Archive,
}

impl Indexes {
    /// A site with about this many lists.
    pub fn draw(seed: u64, kind: Index, lists: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x696e_6478);
        let each = random.u64(6..=12);
        Self {
            posts: if kind == Index::Tags { 400 } else { lists * each },
            lists,
            each,
            kind,
            names: std::array::from_fn(|_| word(&mut random)),
            text: prose(random.u64(..), random.usize(0..=60)),
        }
    }

    fn post(&self, number: u64) -> String {
        format!("/{}/{number}", self.names[0])
    }

    fn tag(&self, number: u64) -> String {
        format!("/{}/{number}", self.names[1])
    }

    fn part(&self, number: u64) -> String {
        format!("/{}?{}={number}", self.names[2], self.names[3])
    }

    /// A list of these posts.
    fn list(&self, posts: impl Iterator<Item = u64>) -> Page {
        posts.fold(Page::new("Posts").paragraph(&self.text), |page, post| {
            page.html("<li>").link(&self.post(post), &prose((1 << 33) + post, 4))
        })
    }

    /// The posts of a tag. In front of an archive, the tags have all posts but the last.
    fn of_tag(&self, tag: u64) -> Vec<u64> {
        let drawn = |at| match self.kind {
            Index::Tags => hash(&tag.to_string(), at) % self.posts,
            Index::Archive => (tag * self.each + at) * 7 % (self.posts - 1),
        };
        (0..self.each).map(drawn).collect()
    }
}

impl Site for Indexes {
    fn seeds(&self) -> Vec<String> {
        vec!["http://indexes.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        let read = |write: &dyn Fn(u64) -> String, end: u64| {
            let number = target.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
            (number < end && write(number) == target).then_some(number)
        };
        if target == "/" {
            let page = Page::new("Home").text(1 << 20, 60).link(&self.tag(0), "Tags");
            return Reply::Page(if self.kind == Index::Archive { page.link(&self.part(0), "Archive") } else { page });
        }
        let own = if self.kind == Index::Tags { self.lists } else { 0 };
        if let Some(post) = read(&|number| self.post(number), self.posts + own) {
            return Reply::Page(Page::new(prose((1 << 33) + post, 4)).text(post, 80).link("/", "Home"));
        }
        if let Some(tag) = read(&|number| self.tag(number), self.lists) {
            let mut page = self.list(self.of_tag(tag).into_iter());
            if own > 0 {
                page = page.link(&self.post(self.posts + tag), "The post of the week");
            }
            let next = [2 * tag + 1, 2 * tag + 2].into_iter().filter(|next| *next < self.lists);
            return Reply::Page(next.fold(page, |page, next| page.link(&self.tag(next), "Another tag")));
        }
        let Some(part) = read(&|number| self.part(number), self.lists) else { return Reply::Missing };
        let page = self.list(part * self.each..(part + 1) * self.each);
        Reply::Page(if part + 1 < self.lists { page.link(&self.part(part + 1), "Older") } else { page })
    }
}
