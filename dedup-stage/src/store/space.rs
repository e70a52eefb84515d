//! Key spaces: the tables of a store. The store itself only names [`Space::META`]. Each crate declares the spaces that
//! it owns.

/// A named, separately ordered key space.
///
/// The owner declares it as a constant. Numbers and names are unique within a store, which [`Spaces::new`] checks.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    number: u8,
    name: &'static str,
    layout: Layout,
}

/// How the entries of a space are written and looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Single keys are looked up, and often they are not there.
    Points,
    /// Single keys are looked up, and they are hardly ever missing: memory elsewhere knows which keys are there.
    Known,
    /// Entries are written and scanned in volume. A single key is hardly ever looked up, and then it is there.
    Volume,
}

impl Space {
    /// The numbers of all spaces are below this.
    pub const MOST: usize = 56;

    /// The space that every store has: the format, secrets, counters, and the store's own marks.
    pub const META: Space = Space::new(0, "meta", Layout::Points);

    /// A space with a number below [`Space::MOST`] and a stable name, which is used on disk.
    pub const fn new(number: u8, name: &'static str, layout: Layout) -> Self {
        assert!((number as usize) < Self::MOST);
        Self { number, name, layout }
    }

    /// The number of the space within the store.
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// The name of the space on disk.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// How the space is used.
    pub const fn layout(self) -> Layout {
        self.layout
    }
}

impl PartialEq for Space {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Space {}

impl PartialOrd for Space {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Space {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

/// The spaces of one store: [`Space::META`] and those of the crates that keep state in it.
#[derive(Clone, Debug)]
pub struct Spaces(Vec<Space>);

impl Spaces {
    /// [`Space::META`] and all spaces of `groups`, in the order of their numbers.
    ///
    /// # Panics
    ///
    /// If two spaces have the same number or name, because two crates would overwrite each other's entries.
    pub fn new(groups: &[&[Space]]) -> Self {
        let mut all = vec![Space::META];
        all.extend(groups.iter().copied().flatten());
        all.sort_unstable();
        for (at, space) in all.iter().enumerate() {
            let clash = all[..at].iter().find(|other| *other == space || other.name == space.name);
            assert!(clash.is_none(), "two spaces of one store are {clash:?} and {space:?}");
        }
        Self(all)
    }

    /// All spaces, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Space> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Space = Space::new(7, "a", Layout::Points);
    const B: Space = Space::new(3, "b", Layout::Volume);

    #[test]
    fn spaces_are_in_the_order_of_their_numbers() {
        let names: Vec<_> = Spaces::new(&[&[A], &[B]]).iter().map(Space::name).collect();
        assert_eq!(names, ["meta", "b", "a"]);
    }

    #[test]
    #[should_panic(expected = "two spaces")]
    fn one_number_belongs_to_one_space() {
        Spaces::new(&[&[A], &[Space::new(7, "c", Layout::Points)]]);
    }

    #[test]
    #[should_panic(expected = "two spaces")]
    fn one_name_belongs_to_one_space() {
        Spaces::new(&[&[A], &[Space::new(8, "a", Layout::Points)]]);
    }
}
