//! The encoding of records: the values in every space of every crate are [postcard](https://docs.rs/postcard).
//!
//! Keys are not encoded here. They are big-endian numbers one after the other, so keys sort as these numbers do.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Error, Result};

/// The stored form of a record.
pub fn encode<T: Serialize + ?Sized>(record: &T) -> Vec<u8> {
    // Postcard fails if a length is not known or a buffer is full. Records have known lengths, and a Vec grows.
    postcard::to_allocvec(record).expect("a record has a stored form")
}

/// Decodes a record, which may borrow from the bytes. `what` names the record in the error.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &str) -> Result<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((record, [])) => Ok(record),
        _ => Err(damaged(what)),
    }
}

/// Decodes the first field of a record, whatever follows. `what` names the record in the error.
pub fn decode_first<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T> {
    Ok(decode_part(bytes, what)?.0)
}

/// Decodes the first field of a record, and returns the bytes that follow. `what` names the record in the error.
pub fn decode_part<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &str) -> Result<(T, &'a [u8])> {
    postcard::take_from_bytes(bytes).map_err(|_| damaged(what))
}

fn damaged(what: &str) -> Error {
    Error::Damaged(format!("a record of the state ({what}) cannot be read"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Record {
        Empty,
        Full { text: String, number: u64, several: Vec<u32>, maybe: Option<[u8; 4]> },
    }

    #[test]
    fn a_record_comes_back_and_a_cut_or_longer_one_is_damage() {
        let full =
            Record::Full { text: "ä".into(), number: 1 << 40, several: vec![1, 300], maybe: Some([1, 2, 3, 4]) };
        for record in [Record::Empty, full] {
            let bytes = encode(&record);
            assert_eq!(decode::<Record>(&bytes, "test").unwrap(), record);
            for cut in 0..bytes.len() {
                assert!(matches!(decode::<Record>(&bytes[..cut], "test"), Err(Error::Damaged(_))), "cut at {cut}");
            }
            assert!(decode::<Record>(&[&bytes[..], &[0]].concat(), "test").is_err());
        }
    }

    #[test]
    fn the_stored_form_stays_what_it_is() {
        // A golden form, because later versions read the states of earlier ones.
        let record = Record::Full { text: "ab".into(), number: 300, several: vec![7], maybe: None };
        assert_eq!(encode(&record), [1, 2, b'a', b'b', 0xac, 2, 1, 7, 0]);
    }
}
