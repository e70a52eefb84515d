//! Stretches of a page that share a property of the element that opened them: hidden, or chrome. Without a tree, a stretch
//! is told by the name of its element and how often that name is open.

use html5ever::{LocalName, local_name};

use crate::page::tags::closes_itself;

/// An open element that everything within shares a property with.
#[derive(Debug)]
struct Region {
    name: LocalName,
    depth: u32,
}

impl Region {
    /// Takes note of a start tag: the element may stand within the region, or end it.
    fn starts(&mut self, name: &LocalName) -> bool {
        if self.name != *name {
            return false;
        }
        self.depth += 1;
        closes_itself(name)
    }

    /// Whether this end tag closes the region.
    fn ends(&mut self, name: &LocalName) -> bool {
        if self.name != *name {
            return closes_itself(&self.name) && is_parent_of_self_closing(name);
        }
        self.depth -= 1;
        self.depth == 0
    }
}

/// The open regions of one property, each within the one before, with what is known of each.
#[derive(Debug)]
pub struct Regions<T> {
    open: Vec<(Region, T)>,
}

impl<T> Default for Regions<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> Regions<T> {
    /// Opens one within those that are open.
    pub fn open(&mut self, name: &LocalName, of: T) {
        self.open.push((Region { name: name.clone(), depth: 1 }, of));
    }

    /// Number of open ones.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The name of the innermost one's element, and what is known of it.
    pub fn innermost(&self) -> Option<(&LocalName, &T)> {
        self.open.last().map(|(region, of)| (&region.name, of))
    }

    /// Takes note of a start tag.
    pub fn starts(&mut self, name: &LocalName) {
        self.close(|region| region.starts(name));
    }

    /// Takes note of an end tag; whether it closes a region.
    pub fn ends(&mut self, name: &LocalName) -> bool {
        self.close(|region| region.ends(name))
    }

    /// Asks all regions, and closes the outermost one of which it is true, with those within.
    fn close(&mut self, closes: impl Fn(&mut Region) -> bool) -> bool {
        let mut first = self.open.len();
        for (at, (region, _)) in self.open.iter_mut().enumerate().rev() {
            if closes(region) {
                first = at;
            }
        }
        let closed = first < self.open.len();
        self.open.truncate(first);
        closed
    }
}

/// Whether such elements hold elements that close one another, so that their end tag closes the last of these.
fn is_parent_of_self_closing(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("ul")
            | local_name!("ol")
            | local_name!("dl")
            | local_name!("table")
            | local_name!("div")
            | local_name!("body")
            | local_name!("section")
            | local_name!("article")
            | local_name!("td")
    )
}
