//! Further attempts after answers that may be better the next time: most server errors, and bodies that were cut.
//! (After 429, 503 and failed connections there are further attempts, too, but these answers slow the host down: see
//! `pace.rs`.)
//!
//! One such answer says little about the host, so its other URLs do not wait: only the URL itself does. If more than
//! half of the host's last answers are of this kind, the host is in trouble, and waits between requests.
//!
//! A host that is broken for good must not cost several fetches for each of its URLs. So each host has a *stock* of
//! further attempts. A good answer adds half an attempt. When the stock is empty, such an answer counts at once.

use crate::numbers::Millis;

/// The further attempts of one host. They do not outlive the process.
#[derive(Clone, Debug)]
pub struct Retries {
    /// The last answers, the newest in the lowest bit: whether they were of this kind.
    recent: u16,
    /// Further attempts that the host may have, in halves.
    stock: u8,
    /// No further attempt is made before this time.
    not_before: Millis,
    /// Whether this time had not come yet at the last [`Retries::look`].
    waits: bool,
    /// How often the host has waited because it is in trouble, since its stock was full.
    strains: u8,
}

impl Default for Retries {
    fn default() -> Self {
        Self { recent: 0, stock: Self::FIRST, not_before: 0, waits: false, strains: 0 }
    }
}

impl Retries {
    /// The stock of a host that was not asked yet, in halves.
    const FIRST: u8 = 16;
    /// The largest stock, in halves.
    const MOST: u8 = 64;
    /// A host in trouble waits this often. An outage has ended by then, or the host has a part that is broken for good,
    /// and its other parts should not wait for that.
    const STRAINS: u8 = 5;

    /// Whether an answer with this status may be a better one the next time. (429 and 503 say so themselves.)
    pub fn is_worth(status: u16) -> bool {
        match status {
            // Not implemented, an HTTP version, a fault of the configuration, a loop, a login to the network, a
            // certificate.
            501 | 505 | 506 | 508 | 510 | 511 | 525 | 526 => false,
            status => (500..600).contains(&status),
        }
    }

    /// The host gave an answer of another kind.
    pub fn answered(&mut self) {
        self.recent <<= 1;
        self.stock = (self.stock + 1).min(Self::MOST);
        if self.stock == Self::MOST {
            self.strains = 0;
        }
    }

    /// The host gave an answer that may be better the next time.
    pub fn failed(&mut self) {
        self.recent = self.recent << 1 | 1;
    }

    /// Whether more than half of the host's last answers are of this kind.
    pub fn is_in_trouble(&self) -> bool {
        self.recent.count_ones() > u16::BITS / 2
    }

    /// Whether the host should wait because it is in trouble; counts that it does.
    pub fn strain(&mut self) -> bool {
        let strained = self.is_in_trouble() && self.strains < Self::STRAINS;
        self.strains += u8::from(strained);
        strained
    }

    /// Takes a further attempt from the stock, to be made not before this time. False if there is none.
    pub fn take(&mut self, not_before: Millis) -> bool {
        if self.stock < 2 {
            return false;
        }
        self.stock -= 2;
        self.not_before = self.not_before.max(not_before);
        true
    }

    /// Notes whether further attempts have to wait at `now`.
    pub fn look(&mut self, now: Millis) {
        self.waits = now < self.not_before;
    }

    /// Whether further attempts had to wait at the last look.
    pub fn wait(&self) -> bool {
        self.waits
    }

    /// The time for which they wait.
    pub fn due(&self) -> Option<Millis> {
        self.waits.then_some(self.not_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_broken_for_good_has_few_further_attempts() {
        let mut broken = Retries::default();
        let mut taken = 0;
        for at in 0..1_000 {
            broken.failed();
            taken += u32::from(broken.take(at));
            assert_eq!(broken.is_in_trouble(), at >= 8);
        }
        assert_eq!(taken, 8);
        for _ in 0..6 {
            broken.answered();
        }
        assert!(broken.is_in_trouble() && broken.take(0) && broken.take(0) && broken.take(0) && !broken.take(0));
        broken.answered();
        broken.answered();
        assert!(!broken.is_in_trouble(), "half of the last 16");
    }

    #[test]
    fn a_part_that_is_broken_for_good_makes_a_host_wait_a_few_times() {
        let mut retries = Retries::default();
        let mut strains = |answers: [bool; 2]| {
            (0..200)
                .filter(|at| {
                    if answers[at % 2] {
                        retries.answered();
                        false
                    } else {
                        retries.failed();
                        retries.take(0);
                        retries.strain()
                    }
                })
                .count()
        };
        assert_eq!(strains([false, false]), 5);
        assert_eq!(strains([true, false]), 0, "it has never recovered");
        assert_eq!(strains([true, true]), 0);
        assert_eq!(strains([false, false]), 5, "another outage");
    }

    #[test]
    fn they_wait_for_the_last_of_their_kind() {
        let mut retries = Retries::default();
        assert!(retries.take(2_000) && retries.take(1_500));
        retries.look(1_999);
        assert_eq!((retries.wait(), retries.due()), (true, Some(2_000)));
        retries.look(2_000);
        assert_eq!((retries.wait(), retries.due()), (false, None));
    }

    #[test]
    fn errors_that_stay_are_not_worth_an_attempt() {
        let worth: Vec<u16> = (0..1_000).filter(|status| Retries::is_worth(*status)).collect();
        assert!([500, 502, 503, 504, 507, 520, 522, 524, 530].iter().all(|status| worth.contains(status)));
        assert!([200, 404, 429, 501, 505, 508, 511, 526, 600].iter().all(|status| !worth.contains(status)));
    }
}
