//! How a round of the rescue is shared between the lots from which it can draw, and between their families.

use frontier::SampleSpec;

/// The numbers of lots and families from which a round can draw.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// Lots, up to [`Sample::MOST`](frontier::Sample::MOST).
    pub lots: usize,
    /// Families of these lots.
    pub families: usize,
}

impl Crowd {
    /// The largest number of URLs that are drawn from a lot in one round. If there are many lots, only one is drawn
    /// from each, so that more lots are tried.
    const OF_LOT: usize = 2;

    /// How a round draws `wanted` URLs, if `left` may still be drawn in all rounds.
    pub fn spec(self, wanted: usize, left: usize) -> SampleSpec {
        let (lots, families) = (self.lots.max(1), self.families.max(1));
        let of_family = (wanted / families).max(Self::OF_LOT);
        let of_lot = if left < Self::OF_LOT * lots { 1 } else { Self::OF_LOT };
        // The lots of a family share what is drawn from it. So a lot that goes deep leaves something to the others.
        let of_lot = of_lot.min(of_family * families / lots).max(1);
        SampleSpec { wanted, of_lot, of_family, best_first: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without shares, a trap whose lots are deep takes the whole share of the lots beside it.
    #[test]
    fn the_lots_of_a_family_share_a_round_and_so_do_the_families() {
        for (lots, families, wanted, left) in [(1, 1, 20, 60), (2, 1, 20, 60), (8, 2, 10, 60), (300, 3, 40, 900)] {
            let spec = Crowd { lots, families }.spec(wanted, left);
            let all = spec.of_lot * lots;
            assert!(spec.of_lot == 1 || all <= wanted.max(Crowd::OF_LOT * families), "{spec:?} of {lots} lots");
            assert!(spec.of_family >= Crowd::OF_LOT && spec.of_family <= wanted, "{spec:?} of {families} families");
            assert_eq!(spec.wanted, wanted);
        }
        let few = Crowd { lots: 3, families: 3 };
        assert_eq!(few.spec(12, 60).of_lot, Crowd::OF_LOT, "there is enough for two of each");
        assert_eq!(few.spec(12, 5).of_lot, 1, "so many lots can be tried only once each");
        assert_eq!(
            Crowd { lots: 8, families: 2 }.spec(10, 60).of_lot,
            1,
            "ten URLs are one for each of the eight lots"
        );
    }
}
