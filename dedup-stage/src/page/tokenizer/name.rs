//! Names of elements and attributes as numbers, and tables of known names.

use xxhash_rust::xxh3::xxh3_128;

/// A name in lower case: its bytes if there are at most sixteen, otherwise a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u128);

impl Name {
    /// The most bytes of a name that is stored as it is.
    const LONGEST: usize = 16;

    /// The name for this text, which must be in lower case. For constants.
    pub const fn of(name: &str) -> Self {
        let name = name.as_bytes();
        assert!(name.len() <= Self::LONGEST);
        let (mut packed, mut at) = (0, name.len());
        while at > 0 {
            at -= 1;
            packed = packed << 8 | name[at] as u128;
        }
        Self(packed)
    }

    /// A short name; `None` if it is too long to be stored as it is.
    #[inline]
    pub fn short(name: &[u8]) -> Option<Self> {
        let mut packed = [0; Self::LONGEST];
        packed.get_mut(..name.len())?.copy_from_slice(name);
        Some(Self(lower(u128::from_le_bytes(packed))))
    }

    /// The name in `bytes[from..to]`.
    #[inline]
    pub fn read(bytes: &[u8], from: usize, to: usize) -> Self {
        let length = to - from;
        if let Some(whole) = bytes[from..].first_chunk::<{ Self::LONGEST }>()
            && (1..=Self::LONGEST).contains(&length)
        {
            let mask = u128::MAX >> (128 - 8 * length);
            let packed = u128::from_le_bytes(*whole);
            if !has_zero(packed | !mask) {
                return Self(lower(packed & mask));
            }
        }
        Self::read_slowly(&bytes[from..to])
    }

    /// Like [`Name::read`], for names at the end of the page, long names, and names with U+0000, which becomes U+FFFD.
    #[cold]
    fn read_slowly(name: &[u8]) -> Self {
        let name = name.split(|byte| *byte == 0).collect::<Vec<_>>().join("\u{FFFD}".as_bytes());
        let mut packed = [0; Self::LONGEST];
        match packed.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(&name);
                Self(lower(u128::from_le_bytes(packed)))
            }
            None => Self(xxh3_128(&name.to_ascii_lowercase())),
        }
    }
}

/// Sixteen times the same byte.
const fn each(byte: u8) -> u128 {
    u128::from_le_bytes([byte; 16])
}

/// Whether one of sixteen bytes is zero.
#[inline]
fn has_zero(packed: u128) -> bool {
    packed.wrapping_sub(each(1)) & !packed & each(0x80) != 0
}

/// Turns ASCII capitals to lower case, all sixteen bytes at once.
#[inline]
fn lower(packed: u128) -> u128 {
    let low_bits = packed & each(0x7F);
    let from_a = low_bits + each(0x80 - b'A');
    let beyond_z = low_bits + each(0x7F - b'Z');
    let capitals = from_a & !beyond_z & !packed & each(0x80);
    packed | capitals >> 2
}

/// A table from names to numbers below 255. It uses open addressing with a multiplied key, and has at least twice as
/// many slots as names.
#[derive(Debug)]
pub struct Table<const SLOTS: usize> {
    names: [u128; SLOTS],
    numbers: [u8; SLOTS],
}

impl<const SLOTS: usize> Table<SLOTS> {
    const FREE: u8 = u8::MAX;

    /// A table from each name to its place in the list.
    pub const fn new(list: &[Name]) -> Self {
        assert!(SLOTS.is_power_of_two() && SLOTS >= 2 * list.len() && list.len() < Self::FREE as usize);
        let mut table = Self { names: [0; SLOTS], numbers: [Self::FREE; SLOTS] };
        let mut number = 0;
        while number < list.len() {
            let mut slot = Self::slot(list[number]);
            while table.numbers[slot] != Self::FREE {
                assert!(table.names[slot] != list[number].0, "a name stands twice in the list");
                slot = (slot + 1) % SLOTS;
            }
            table.names[slot] = list[number].0;
            table.numbers[slot] = number as u8;
            number += 1;
        }
        table
    }

    /// The number of a name, if it is known.
    #[inline]
    pub fn get(&self, name: Name) -> Option<usize> {
        let mut slot = Self::slot(name);
        while self.numbers[slot] != Self::FREE {
            if self.names[slot] == name.0 {
                return Some(self.numbers[slot] as usize);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    const fn slot(name: Name) -> usize {
        let folded = (name.0 as u64) ^ ((name.0 >> 64) as u64).rotate_left(29);
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_read_without_case(before in "\\PC{0,3}", name in "[a-zA-Z0-9@\\[`{é-]{1,20}", after in "\\PC{0,30}") {
            let text = format!("{before}{name}{after}");
            let read = Name::read(text.as_bytes(), before.len(), before.len() + name.len());
            let lower = name.to_ascii_lowercase();
            prop_assert_eq!(read, Name::read(lower.as_bytes(), 0, lower.len()));
            if lower.len() <= 16 {
                prop_assert_eq!(read, Name::of(&lower));
            }
            // The generator of names cannot make a plus sign.
            prop_assert_ne!(read, Name::of("x+"));
        }
    }

    #[test]
    fn tables_know_their_names() {
        const LIST: [Name; 5] =
            [Name::of("a"), Name::of("b"), Name::of("blockquote"), Name::of("h1"), Name::of("data-x")];
        const TABLE: Table<16> = Table::new(&LIST);
        for (number, name) in LIST.iter().enumerate() {
            assert_eq!(TABLE.get(*name), Some(number));
        }
        for name in ["c", "h2", "aa", "blockquotes", "\0"] {
            assert_eq!(TABLE.get(Name::of(name)), None);
        }
    }
}
