//! The kinds of links: what a page says about a link besides its target.

use std::ops::BitOrAssign;

/// The kinds of a link, at all its places on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rels(u8);

impl Rels {
    /// No kind: a link of the head that is of no kind below, such as a feed.
    pub const NONE: Self = Self(0);
    /// A link that people follow, or a frame.
    pub const ANCHOR: Self = Self(1);
    /// `rel=canonical` (RFC 6596): the page is said to be a copy of the target.
    pub const CANONICAL: Self = Self(2);
    /// `rel=alternate` with `hreflang`: the same page in another language.
    pub const LANGUAGE: Self = Self(4);
    /// `rel=next`.
    pub const NEXT: Self = Self(8);
    /// `rel=prev` or `rel=previous`.
    pub const PREV: Self = Self(16);
    /// The target of a meta refresh.
    pub const REFRESH: Self = Self(32);

    /// The kinds that a `rel` names. `has_language` says whether there is an `hreflang`.
    pub fn named(rel: &str, has_language: bool) -> Self {
        let mut all = Self::NONE;
        for word in rel.split_ascii_whitespace() {
            all |= match word {
                _ if word.eq_ignore_ascii_case("canonical") => Self::CANONICAL,
                _ if word.eq_ignore_ascii_case("alternate") && has_language => Self::LANGUAGE,
                _ if word.eq_ignore_ascii_case("next") => Self::NEXT,
                _ if word.eq_ignore_ascii_case("prev") || word.eq_ignore_ascii_case("previous") => Self::PREV,
                _ => Self::NONE,
            };
        }
        all
    }

    /// The kinds of an `a` or `area` with this `rel`. Only the head of a page may say that it is a copy or a
    /// translation of another page.
    pub fn of_anchor(rel: &str) -> Self {
        Self(Self::ANCHOR.0 | Self::named(rel, false).0 & (Self::NEXT.0 | Self::PREV.0))
    }

    /// Whether all kinds of `other` are among these.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The kinds as bits of a byte, for outputs.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Reads the byte of [`Rels::bits`].
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The names of the kinds, except for the first kind.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [
            (Self::CANONICAL, "canonical"),
            (Self::LANGUAGE, "hreflang"),
            (Self::NEXT, "next"),
            (Self::PREV, "prev"),
            (Self::REFRESH, "refresh"),
        ];
        named.into_iter().filter(move |(kind, _)| self.has(*kind)).map(|(_, name)| name)
    }
}

impl BitOrAssign for Rels {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
