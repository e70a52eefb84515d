//! Simhash over weighted word counts.

use crate::page::words::WordHash;

/// Counts words and folds them into a simhash (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007, section 2): each
/// distinct word votes, with its weight, for the value of each bit.
#[derive(Debug)]
pub struct Counter {
    /// Open addressing: slot of the hash table → index into `words`, plus one; valid for this `epoch` only.
    slots: Vec<(u32, u32)>,
    epoch: u32,
    words: Vec<(WordHash, u32)>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { slots: vec![(0, 0); 1024], epoch: 0, words: Vec::new() }
    }
}

impl Counter {
    /// Forgets all words.
    pub fn clear(&mut self) {
        self.words.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.slots.fill((0, 0));
            self.epoch = 1;
        }
    }

    /// Counts words.
    pub fn add(&mut self, words: &[WordHash]) {
        for &word in words {
            if self.words.len() * 2 >= self.slots.len() {
                self.grow();
            }
            let mask = self.slots.len() - 1;
            let mut slot = word as usize & mask;
            loop {
                let (epoch, index) = self.slots[slot];
                if epoch != self.epoch {
                    self.slots[slot] = (self.epoch, self.words.len() as u32);
                    self.words.push((word, 1));
                    break;
                }
                let entry = &mut self.words[index as usize];
                if entry.0 == word {
                    entry.1 += 1;
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
    }

    fn grow(&mut self) {
        self.slots = vec![(0, 0); self.slots.len() * 2];
        let mask = self.slots.len() - 1;
        for (index, (word, _)) in self.words.iter().enumerate() {
            let mut slot = *word as usize & mask;
            while self.slots[slot].0 == self.epoch {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = (self.epoch, index as u32);
        }
    }

    /// The simhash of the words counted: bit i is set where the weights of the words whose hash has bit i set exceed half
    /// of all weights. A word that stands n times weighs about the square root of n.
    pub fn finish(&self) -> u64 {
        let mut votes = [0i32; 64];
        let mut total = 0;
        for &(word, count) in &self.words {
            let weight = weight(count);
            total += weight;
            for (bit, vote) in votes.iter_mut().enumerate() {
                *vote += weight & -((word >> bit & 1) as i32);
            }
        }
        votes.iter().enumerate().fold(0, |hash, (bit, vote)| hash | u64::from(*vote * 2 > total) << bit)
    }
}

/// Four times the square root of the count, rounded down.
fn weight(count: u32) -> i32 {
    (count.min(1 << 20) * 16).isqrt() as i32
}
