//! Puts reports back into the order in which their pages entered the channel.

use std::collections::VecDeque;

/// Holds what came too early; at most as many as there are credits.
#[derive(Debug)]
pub struct Reorder<T> {
    next: u64,
    early: VecDeque<Option<T>>,
}

impl<T> Default for Reorder<T> {
    fn default() -> Self {
        Self { next: 0, early: VecDeque::new() }
    }
}

impl<T> Reorder<T> {
    /// Takes the item at `sequence`; each sequence number comes once.
    pub fn push(&mut self, sequence: u64, item: T) {
        let at = (sequence - self.next) as usize;
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
                }
            }
            prop_assert_eq!(out, (0..50).collect::<Vec<_>>());
        }
    }
}
