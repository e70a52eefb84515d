//! Stretches of a page that share a property of the element that opened them: hidden, or chrome. Without a tree, a stretch
//! is told by the name of its element and how often that name is open.

use crate::page::tags::Element;
use crate::page::tokenizer::Name;

/// An open element that everything within shares a property with.
#[derive(Debug)]
struct Region {
    name: Name,
    element: &'static Element,
    depth: u32,
}

impl Region {
    /// Takes note of a start tag: the element may stand within the region, or end it.
    fn starts(&mut self, name: Name) -> bool {
        if self.name != name {
            return false;
        }
        self.depth += 1;
        self.element.closes_itself()
    }

    /// Whether this end tag closes the region.
    fn ends(&mut self, name: Name, element: &Element) -> bool {
        if self.name != name {
            return self.element.closes_itself() && element.closes_children();
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
    #[inline]
    pub fn open(&mut self, name: Name, of: T) {
        self.open.push((Region { name, element: Element::of(name), depth: 1 }, of));
    }

    /// Number of open ones.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The element of the innermost one, and what is known of the region.
    #[inline]
    pub fn innermost(&self) -> Option<(&'static Element, &T)> {
        self.open.last().map(|(region, of)| (region.element, of))
    }

    /// Takes note of a start tag.
    #[inline]
    pub fn starts(&mut self, name: Name) {
        self.close(|region| region.starts(name));
    }

    /// Takes note of an end tag; whether it closes a region.
    #[inline]
    pub fn ends(&mut self, name: Name, element: &Element) -> bool {
        self.close(|region| region.ends(name, element))
    }

    /// Asks all regions, and closes the outermost one of which it is true, with those within.
    #[inline]
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
