//! Regions: parts of a page that share a property (hidden, or chrome) with the element that opened them. There is no
//! tree. So a region is given by the name of its element, and by how often an element of this name is open.

use crate::page::tags::Element;
use crate::page::tokenizer::Name;

/// An open element. Everything inside of it shares a property with it.
#[derive(Debug)]
struct Region {
    name: Name,
    element: &'static Element,
    depth: u32,
}

impl Region {
    /// Looks at a start tag. The new element may stand within the region, or end the region. True if it ends the
    /// region.
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

/// The open regions of one property, each within the one before. Each has a value.
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
    /// Opens a region within those that are open.
    #[inline]
    pub fn open(&mut self, name: Name, of: T) {
        self.open.push((Region { name, element: Element::of(name), depth: 1 }, of));
    }

    /// Number of open regions.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The element and the value of the innermost region.
    #[inline]
    pub fn innermost(&self) -> Option<(&'static Element, &T)> {
        self.open.last().map(|(region, of)| (region.element, of))
    }

    /// Looks at a start tag, which may close regions.
    #[inline]
    pub fn starts(&mut self, name: Name) {
        self.close(|region| region.starts(name));
    }

    /// Looks at an end tag. True if it closes a region.
    #[inline]
    pub fn ends(&mut self, name: Name, element: &Element) -> bool {
        self.close(|region| region.ends(name, element))
    }

    /// Asks all regions. Closes the outermost one for which the answer is true, and all regions within it.
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
