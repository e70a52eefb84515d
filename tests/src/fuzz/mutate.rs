//! Makes new inputs from old ones.

use fastrand::Rng;

/// The largest length of an input, which keeps executions short.
const MAX_LENGTH: usize = 64 << 10;
/// Bytes that formats treat in a special way.
const ODD: &[u8] = b"\0\x01\n\r\t %&'\"#/:;<=>?@\\[]{}\x7f\x80\xbf\xc3\xe2\xf0\xfe\xff";

/// Makes inputs. Two mutators with the same seed make the same inputs.
#[derive(Debug)]
pub(super) struct Mutator {
    random: Rng,
    words: &'static [&'static str],
}

impl Mutator {
    pub fn new(seed: u64, words: &'static [&'static str]) -> Self {
        Self { random: Rng::with_seed(seed), words }
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { self.random.usize(..bound) }
    }

    /// An input of the corpus with one to eight changes.
    pub fn next(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let at = self.below(corpus.len());
        let mut input = corpus.get(at).cloned().unwrap_or_default();
        for _ in 0..=self.below(8) {
            self.change(&mut input, corpus);
        }
        input.truncate(MAX_LENGTH);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let length = self.below((input.len() - at).min(64) + 1);
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = ODD[self.below(ODD.len())],
            2 => input.insert(at, self.random.u8(..)),
            3 => drop(input.drain(at..at + length)),
            4 => {
                let piece = input[at..at + length].repeat(1 + self.below(16));
                input.splice(at..at, piece);
            }
            5 => {
                let piece = input[at..at + length].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            6 => {
                let other = self.below(corpus.len());
                let from = self.below(corpus[other].len() + 1);
                input.truncate(at);
                input.extend_from_slice(&corpus[other][from..]);
            }
            7 if self.below(8) == 0 => input.truncate(at),
            _ => {
                let word = self.below(self.words.len());
                if let Some(word) = self.words.get(word) {
                    let end = if self.below(2) == 0 { at } else { at + length };
                    input.splice(at..end, word.bytes());
                }
            }
        }
    }
}
