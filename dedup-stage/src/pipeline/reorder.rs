//! Puts results back into the order of their inputs.

use std::collections::VecDeque;

/// Items that come in any order and leave in the order of their sequence numbers. The numbers begin with 0, and each
/// comes once.
#[derive(Debug)]
pub struct Reorder<T> {
    next: u64,
    /// Items from number `next` on, as far as they have come.
    early: VecDeque<Option<T>>,
}

impl<T> Default for Reorder<T> {
    fn default() -> Self {
        Self { next: 0, early: VecDeque::new() }
    }
}

impl<T> Reorder<T> {
    /// Takes the item with a sequence number.
    ///
    /// # Panics
    ///
    /// If the item with this number has left already.
    pub fn push(&mut self, sequence: u64, item: T) {
        let at = sequence.checked_sub(self.next).expect("each number comes once") as usize;
        if self.early.len() <= at {
            self.early.resize_with(at + 1, || None);
        }
        self.early[at] = Some(item);
    }

    /// The next item in order, if it has come.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.early.front_mut()?.take()?;
        self.early.pop_front();
        self.next += 1;
        Some(item)
    }

    /// The sequence number of the item that leaves next.
    pub fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_leave_in_order_however_they_come(order in Just((0..50u64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut reorder = Reorder::default();
            let mut out = Vec::new();
            for sequence in order {
                reorder.push(sequence, sequence);
                while let Some(item) = reorder.pop() {
                    out.push(item);
                    prop_assert_eq!(reorder.next(), item + 1);
                }
            }
            prop_assert_eq!(out, (0..50).collect::<Vec<_>>());
        }
    }
}
