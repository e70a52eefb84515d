//! Signature files: what is written is read, damage is found, parts are merged.

use std::collections::HashMap;
use std::fs;

use tempfile::TempDir;

use super::*;

#[test]
fn what_is_written_is_read() {
    let dir = TempDir::new().unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    for (urls, dates, n) in [(false, false, 200), (true, true, 200), (true, false, 1), (false, true, 0)] {
        let mut records = records(&texts(n, 5));
        for record in &mut records {
            record.id = format!("{:?}", format!("ü {}", random.u32(..))).into();
            record.url = if urls && random.bool() { format!("http://a/{}", random.u32(..)).into() } else { "".into() };
            record.date = if dates && random.bool() { random.i64(..) } else { NO_DATE };
        }
        let read = file(&dir.path().join("f.sig"), records.clone());
        read.check().unwrap();
        records.sort_by(|a, b| a.row().order(&b.row()));
        assert_eq!(rows(&read), records.iter().map(Record::row).collect::<Vec<_>>());
        assert_eq!(read.shape().text_ids, n);
        assert!(Signatures::is_signatures(&dir.path().join("f.sig")).unwrap());
    }
}

#[test]
fn damage_anywhere_is_found_or_harmless() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("f.sig");
    let whole = file(&path, records(&texts(12, 1)));
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.len().is_multiple_of(8), "it would pass for raw fingerprints");
    let damaged = dir.path().join("damaged.sig");
    let mut found = 0;
    for at in 0..bytes.len() {
        let mut copy = bytes.clone();
        copy[at] ^= 1 << (at % 8);
        fs::write(&damaged, copy).unwrap();
        match Signatures::open(&damaged).and_then(|file| file.check().map(|()| file)) {
            Err(_) => found += 1,
            // Between the columns there are bytes that mean nothing.
            Ok(read) => assert_eq!(rows(&read), rows(&whole), "byte {at}"),
        }
    }
    assert!(found * 10 > bytes.len() * 7, "{found} of {}", bytes.len());
    for length in [0, 7, 63, 64, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&damaged, &bytes[..length]).unwrap();
        assert!(Signatures::open(&damaged).is_err(), "{length} bytes");
    }
}

#[test]
fn files_merged_are_the_file_of_all() {
    let records = records(&texts(300, 2));
    let parts: Vec<(usize, Signatures)> =
        records.chunks(70).map(|part| (0, Signatures::of(part.to_vec()).unwrap())).collect();
    let whole = Signatures::of(records).unwrap();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let dir = TempDir::new().unwrap();
    let (memory, length) = merge(&parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    merged.check().unwrap();
    assert_eq!(rows(&merged), rows(&whole));
    // If there are several groups, the documents of a later group come later in the input.
    let parts: Vec<(usize, Signatures)> = (0..).zip(parts.into_iter().map(|(_, part)| part)).collect();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let (memory, length) = merge(&parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    let by_place: HashMap<u64, String> = rows(&merged).iter().map(|row| (row.place, row.id.to_owned())).collect();
    let mut places: Vec<&u64> = by_place.keys().collect();
    places.sort_unstable();
    let ids: Vec<u64> = places.iter().map(|place| by_place[place].parse().unwrap()).collect();
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}
