//! Stretches of a page that share a property of the element that opened them: hidden, or chrome. Without a tree, a stretch
//! is told by the name of its element and how often that name is open.

use html5ever::{LocalName, local_name};

use crate::page::tags::closes_itself;

/// An open element that everything within shares a property with.
#[derive(Debug)]
pub struct Region {
    name: LocalName,
    depth: u32,
}

impl Region {
    /// The region of an element of this name, which has just been opened.
    pub fn open(name: &LocalName) -> Self {
        Self { name: name.clone(), depth: 1 }
    }

    /// Takes note of a start tag: the element may stand within the region, or end it.
    pub fn starts(region: &mut Option<Region>, name: &LocalName) {
        if let Some(open) = region
            && open.name == *name
        {
            if closes_itself(name) {
                *region = None;
            } else {
                open.depth += 1;
            }
        }
    }

    /// Whether this end tag closes the region.
    pub fn ends(region: &mut Option<Region>, name: &LocalName) -> bool {
        let Some(open) = region else { return false };
        if open.name == *name {
            open.depth -= 1;
            if open.depth > 0 {
                return false;
            }
        } else if !(closes_itself(&open.name) && is_parent_of_self_closing(name)) {
            return false;
        }
        *region = None;
        true
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
