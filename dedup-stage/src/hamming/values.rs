//! At which rows chosen values occur.

/// Chosen fingerprints, and the rows where they were seen.
///
/// # Complexity
///
/// About 40 bytes for each chosen value. Looking at a fingerprint that was not chosen takes, in 15 of 16 cases, one bit of a table
/// small enough for the cache; at one that was, a probe or two of a hash table.
#[derive(Clone, Debug)]
pub struct Values {
    /// One bit for each hash, a few more bits long than the table.
    filter: Vec<u64>,
    /// Open addressing; `FREE` rows mark free slots.
    slots: Vec<(u64, u64)>,
    shift: u32,
    /// Further rows of repeated values: value, row.
    further: Vec<(u64, u64)>,
}

const FREE: u64 = u64::MAX;
const UNSEEN: u64 = u64::MAX - 1;
const FILTER_BITS: u32 = 3;

fn hash(value: u64) -> u64 {
    let mixed = (value ^ value >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Values {
    /// Chooses values; repetitions are ignored.
    pub fn new(values: impl Iterator<Item = u64> + Clone) -> Self {
        let bits = (2 * values.clone().count()).next_power_of_two().trailing_zeros().max(4);
        let mut chosen = Self {
            filter: vec![0; 1 << (bits + FILTER_BITS).saturating_sub(6)],
            slots: vec![(0, FREE); 1 << bits],
            shift: 64 - bits,
            further: Vec::new(),
        };
        for value in values {
            let slot = chosen.slot(value);
            chosen.slots[slot] = (value, UNSEEN);
            let (word, bit) = chosen.filter_bit(value);
            chosen.filter[word] |= bit;
        }
        chosen
    }

    fn filter_bit(&self, value: u64) -> (usize, u64) {
        let bit = hash(value) >> (self.shift - FILTER_BITS);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    /// The slot where the value is, or would be.
    fn slot(&self, value: u64) -> usize {
        let mut slot = (hash(value) >> self.shift) as usize;
        while self.slots[slot].1 != FREE && self.slots[slot].0 != value {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    /// To be called when all rows have been seen.
    pub fn settle(&mut self) {
        self.further.sort_unstable();
    }

    /// Notes the row of a fingerprint if it was chosen. Rows come in ascending order.
    #[inline]
    pub fn see(&mut self, fingerprint: u64, row: u64) {
        let (word, bit) = self.filter_bit(fingerprint);
        if self.filter[word] & bit != 0 {
            self.note(fingerprint, row);
        }
    }

    fn note(&mut self, fingerprint: u64, row: u64) {
        let slot = self.slot(fingerprint);
        match &mut self.slots[slot].1 {
            &mut FREE => {}
            first @ &mut UNSEEN => *first = row,
            _ => self.further.push((fingerprint, row)),
        }
    }

    /// The first row of a value that was chosen and seen.
    pub fn first(&self, value: u64) -> u64 {
        self.slots[self.slot(value)].1
    }

    /// All rows of such a value, ascending.
    pub fn rows(&self, value: u64) -> impl Iterator<Item = u64> + Clone + use<'_> {
        let start = self.further.partition_point(|(v, _)| *v < value);
        let further = self.further[start..].iter().take_while(move |(v, _)| *v == value).map(|(_, row)| *row);
        std::iter::once(self.first(value)).chain(further)
    }
}
