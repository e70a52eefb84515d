//! Signs by which authors mark parts of a page as chrome: elements, roles and words of classes.

use std::ops::{BitOr, BitOrAssign};

use super::chrome::CHROME;

/// A set of signs: one bit for each word of [`CHROME`], then one for each of [`ROLES`], and one for the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs(u128);

/// Elements and roles of ARIA that mark chrome, and that are no words of classes.
const ROLES: [&str; 6] = ["banner", "complementary", "contentinfo", "dialog", "header", "search"];

const _: () = assert!(CHROME.len() + ROLES.len() < 127);

impl Signs {
    /// No sign: plain content.
    pub const NONE: Signs = Signs(0);
    /// The head of the page, and frames. They are never content.
    pub const HEAD: Signs = Signs(1 << 127);
    /// All signs.
    pub const ALL: Signs = Signs(u128::MAX);

    /// The sign of a word of [`CHROME`], by its place there.
    pub fn of_class(place: usize) -> Self {
        Signs(1 << place)
    }

    /// The sign of an element or a role with this name; no sign if it does not mark chrome.
    pub fn of_role(name: &str) -> Self {
        let role = || ROLES.binary_search(&name).ok().map(|place| CHROME.len() + place);
        CHROME.binary_search(&name).ok().or_else(role).map_or(Self::NONE, Self::of_class)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether the sets have a sign in common.
    pub fn meet(self, other: Signs) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all signs of the set are among those of the other one.
    pub fn is_within(self, other: Signs) -> bool {
        self.0 & !other.0 == 0
    }

    /// The signs one by one.
    pub fn each(self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.0), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|rest| *rest != 0)
            .map(|rest| rest.trailing_zeros() as usize)
    }

    /// The set without this sign.
    pub fn without(self, sign: usize) -> Self {
        Signs(self.0 & !(1 << sign))
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
