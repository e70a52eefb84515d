//! Document frequencies of words: they give inverse document frequencies as weights, and the lexicons of I-Match.
//!
//! Chowdhury, Frieder, Grossman, McCabe, "Collection Statistics for Fast Duplicate Document Detection" (TOIS 2002);
//! Kołcz, Chowdhury, Alspector, "Improved Robustness of Signature-Based Near-Replica Detection via Lexicon
//! Randomization" (KDD 2004).

use std::collections::HashMap;
use std::io::{self, Read, Write};

use xxhash_rust::xxh3::xxh3_64;

use crate::words::{WordHash, fold_multiply, is_number};

/// Tells in how many documents of a collection each word stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    documents: u32,
    frequencies: HashMap<WordHash, u32>,
}

impl Lexicon {
    const MAGIC: &'static [u8; 16] = b"dedup-lexicon-1\n";

    /// Counts a document.
    pub fn add(&mut self, words: &[WordHash]) {
        self.documents += 1;
        let mut words: Vec<WordHash> = words.iter().copied().filter(|word| !is_number(*word)).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            *self.frequencies.entry(word).or_insert(0) += 1;
        }
    }

    /// Number of documents counted.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Number of distinct words.
    pub fn words(&self) -> usize {
        self.frequencies.len()
    }

    /// The inverse document frequency of a word, ln(1 + N / (1 + n)).
    pub fn idf(&self, word: WordHash) -> f64 {
        let frequency = self.frequencies.get(&word).copied().unwrap_or(0);
        (1.0 + f64::from(self.documents) / (1.0 + f64::from(frequency))).ln()
    }

    /// The I-Match signature of a text: a hash of its distinct words that are neither too frequent nor too rare. If
    /// `lexicon` > 0, a random third of the words is left out; each lexicon draws another third. `None` if no word is
    /// left.
    pub fn imatch(&self, words: &[WordHash], lexicon: u64) -> Option<u64> {
        let (low, high) = (2, self.documents / 5);
        let mut kept: Vec<WordHash> = words
            .iter()
            .copied()
            .filter(|word| {
                let frequency = self.frequencies.get(word).copied().unwrap_or(0);
                (low..=high.max(low)).contains(&frequency) && !(lexicon > 0 && is_drawn(*word, lexicon, 3))
            })
            .collect();
        kept.sort_unstable();
        kept.dedup();
        let bytes: Vec<u8> = kept.iter().flat_map(|word| word.to_le_bytes()).collect();
        (!kept.is_empty()).then(|| xxh3_64(&bytes))
    }

    /// Writes the lexicon: magic, number of documents, then the words with their frequencies, sorted by word. All
    /// numbers are little-endian.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut entries: Vec<(u64, u32)> = self.frequencies.iter().map(|(word, count)| (*word, *count)).collect();
        entries.sort_unstable();
        to.write_all(Self::MAGIC)?;
        to.write_all(&self.documents.to_le_bytes())?;
        for (word, count) in entries {
            to.write_all(&word.to_le_bytes())?;
            to.write_all(&count.to_le_bytes())?;
        }
        to.flush()
    }

    /// Reads a lexicon. Returns an error if the data is no lexicon or was cut.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let entries = bytes.strip_prefix(Self::MAGIC.as_slice()).filter(|rest| rest.len() >= 4 && rest.len() % 12 == 4);
        let entries =
            entries.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a lexicon, or cut short"))?;
        let (documents, entries) = entries.split_at(4);
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(Self {
            documents: number(documents),
            frequencies: entries.chunks_exact(12).map(|entry| (word(&entry[..8]), number(&entry[8..]))).collect(),
        })
    }
}

/// Whether a word is left out by lexicon number `lexicon`, which leaves out one word in `of` at random.
pub fn is_drawn(word: WordHash, lexicon: u64, of: u64) -> bool {
    (fold_multiply(word ^ lexicon, 0xD6E8_FEB8_6659_FD93) >> 20).is_multiple_of(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon() -> Lexicon {
        let mut lexicon = Lexicon::default();
        for document in 0..50u64 {
            lexicon.add(&[1, 2, 100 + document / 2, 1000 + document, 1]);
        }
        lexicon
    }

    #[test]
    fn rare_words_weigh_more() {
        let lexicon = lexicon();
        assert!(lexicon.idf(1) < lexicon.idf(100) && lexicon.idf(100) < lexicon.idf(5));
        assert_eq!((lexicon.documents(), lexicon.words()), (50, 2 + 25 + 50));
    }

    #[test]
    fn signatures_ignore_frequent_and_rare_words() {
        let lexicon = lexicon();
        let signature = lexicon.imatch(&[100, 101, 1, 1000], 0);
        assert_eq!(signature, lexicon.imatch(&[101, 2, 100, 1001, 100], 0));
        assert_ne!(signature, lexicon.imatch(&[100, 102], 0));
        assert_eq!(lexicon.imatch(&[1, 2, 1000], 0), None);
    }

    #[test]
    fn files_come_back() {
        let lexicon = lexicon();
        let mut file = Vec::new();
        lexicon.write(&mut file).unwrap();
        assert_eq!(Lexicon::read(&mut file.as_slice()).unwrap(), lexicon);
        assert!(Lexicon::read(&mut &file[..file.len() - 1]).is_err());
        assert!(Lexicon::read(&mut b"something else".as_slice()).is_err());
    }
}
