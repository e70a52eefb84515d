//! Signs by which authors mark parts of a page as chrome (elements, roles, words of classes), and which signs of a page are
//! believed.
//!
//! A sign is plausible where little running text stands under it. What holds most of the page's text is content,
//! whatever its element or its class says: some sites wrap whole articles in `<header>` or in `class="sidebar"`.

use std::ops::{BitOr, BitOrAssign, Range};

use super::hints;
use super::outline::Block;

/// A set of signs: one bit for each word of [`hints::CHROME`], then one for each of [`ROLES`], and one for the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs(u128);

/// Elements and roles of ARIA that mark chrome and are no words of classes.
const ROLES: [&str; 6] = ["banner", "complementary", "contentinfo", "dialog", "header", "search"];

const _: () = assert!(hints::CHROME.len() + ROLES.len() < 127);

impl Signs {
    /// No sign: plain content.
    pub const NONE: Signs = Signs(0);
    /// The head of the page, and frames: never content.
    pub const HEAD: Signs = Signs(1 << 127);
    /// Words of running text from which a sign may be implausible …
    const MANY: usize = 100;
    /// … if it is so many times the text that all other signs leave.
    const TIMES: usize = 3;
    /// Words from which a block is running text, and no entry of a menu.
    const RUNNING: usize = 16;
    /// Link text, in bytes of 100 that are no white space, from which a block is no running text.
    const LINK_PERCENT: u32 = 25;

    /// The sign of a word of [`hints::CHROME`], by its place there.
    pub fn of_class(place: usize) -> Self {
        Signs(1 << place)
    }

    /// The sign of an element or a role with this name; none if it does not mark chrome.
    pub fn of_role(name: &str) -> Self {
        let role = || ROLES.binary_search(&name).ok().map(|place| hints::CHROME.len() + place);
        hints::CHROME.binary_search(&name).ok().or_else(role).map_or(Self::NONE, Self::of_class)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether the sets have a sign in common.
    pub fn meet(self, other: Signs) -> bool {
        self.0 & other.0 != 0
    }

    /// The signs one by one.
    fn each(self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.0), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|rest| *rest != 0)
            .map(|rest| rest.trailing_zeros() as usize)
    }

    /// The signs that are believed on a page of these blocks; `spans[i]` is where the words of block `i` stand.
    ///
    /// While one sign has most of the running text, it is not believed; the one with most text falls first, and what it
    /// marked is content when the next one is looked at.
    pub fn believed(blocks: &[Block], spans: &[Range<usize>]) -> Signs {
        let mut words = [0usize; 128];
        for (block, span) in blocks.iter().zip(spans) {
            if span.len() >= Self::RUNNING && block.links_below(Self::LINK_PERCENT) {
                block.signs.each().for_each(|sign| words[sign] += span.len());
            }
        }
        let mut believed = Signs(u128::MAX);
        loop {
            let most = believed.each().max_by_key(|sign| words[*sign]).unwrap_or(0);
            if words[most] < Self::MANY {
                return believed;
            }
            let text = blocks.iter().zip(spans).filter(|(block, _)| !block.signs.meet(believed) && !block.is_list());
            if words[most] < Self::TIMES * text.map(|(_, span)| span.len()).sum::<usize>() {
                return believed;
            }
            believed.0 &= !(1 << most);
        }
    }
}

impl BitOr for Signs {
    type Output = Signs;

    fn bitor(self, other: Signs) -> Signs {
        Signs(self.0 | other.0)
    }
}

impl BitOrAssign for Signs {
    fn bitor_assign(&mut self, other: Signs) {
        self.0 |= other.0;
    }
}
