//! Key spaces: the tables of a store. The store knows none by name; each crate declares those that it owns.

/// A named, separately ordered key space.
///
/// The owner declares it as a constant. Numbers and names are unique within a store, which [`Spaces::new`] checks.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    number: u8,
    name: &'static str,
    layout: Layout,
}

/// How the entries of a space are written and asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Single keys are asked for, often in vain.
    Points,
    /// Single keys are asked for, and hardly ever in vain: memory elsewhere knows which are there.
    Known,
    /// Entries are written and scanned in volume; a single key is hardly ever asked for, and then it is there.
    Volume,
}

impl Space {
    /// Numbers are below this.
    pub const MOST: usize = 48;

    /// The space that every store has: the format, secrets, counters, and the store's own marks.
    pub const META: Space = Space::new(0, "meta", Layout::Points);

    /// A space with a number below [`Space::MOST`] and a stable name, which is used on disk.
    pub const fn new(number: u8, name: &'static str, layout: Layout) -> Self {
        assert!((number as usize) < Self::MOST);
        Self { number, name, layout }
    }

    /// Its number within the store.
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// Its name on disk.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// How it is used.
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
    /// All of `groups`, in the order of their numbers.
    ///
    /// # Panics
    ///
    /// Where two spaces have one number or one name: then two crates would write over each other.
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

    /// All of them, in the order of their numbers.
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
