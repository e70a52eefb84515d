//! Signature files: what is written is read, damage is found, parts are merged.

use std::collections::HashMap;
use std::fs;

use memmap2::MmapMut;
use tempfile::TempDir;

use super::*;
use crate::corpus::writer::{FileShape, SignatureWriter};
use crate::signature::RECIPE;

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

/// All columns of such a file add up. A search in it would not end.
#[test]
fn a_file_whose_rows_are_not_in_order_is_refused() {
    let dir = TempDir::new().unwrap();
    let mut records = records(&texts(40, 4));
    records.sort_unstable_by(|a, b| a.row().order(&b.row()));
    let judged = records.iter().filter(|record| record.row().signature.is_some()).count();
    let write = |records: &[Record]| {
        let mut shape = FileShape { splits: 1, ..FileShape::default() };
        records.iter().for_each(|record| shape.add(&record.row()));
        let memory = MmapMut::map_anon(shape.bytes() as usize).unwrap();
        let mut writer = SignatureWriter::new(memory, RECIPE, shape);
        records.iter().for_each(|record| writer.push(&record.row()).unwrap());
        let (memory, length) = writer.finish().unwrap();
        let path = dir.path().join("f.sig");
        fs::write(&path, &memory[..length as usize]).unwrap();
        Signatures::open(&path).unwrap().check().map_err(|error| error.to_string())
    };
    assert_eq!(write(&records), Ok(()));
    records.swap(0, judged - 1);
    let refused = write(&records).unwrap_err();
    assert!(refused.contains("not in order"), "{refused}");
}

#[test]
fn files_merged_are_the_file_of_all() {
    let records = records(&texts(300, 2));
    let mut parts: Vec<(usize, Signatures)> =
        records.chunks(70).map(|part| (0, Signatures::of(part.to_vec()).unwrap())).collect();
    let whole = Signatures::of(records).unwrap();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let dir = TempDir::new().unwrap();
    let (memory, length) = merge(&mut parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    merged.check().unwrap();
    assert_eq!(rows(&merged), rows(&whole));
    // If there are several groups, the documents of a later group come later in the input.
    let mut parts: Vec<(usize, Signatures)> = (0..).zip(parts.into_iter().map(|(_, part)| part)).collect();
    let memory = memmap2::MmapMut::map_anon(whole.shape().bytes() as usize).unwrap();
    let (memory, length) = merge(&mut parts, memory, &|_| {}).unwrap();
    fs::write(dir.path().join("merged.sig"), &memory[..length as usize]).unwrap();
    let merged = Signatures::open(&dir.path().join("merged.sig")).unwrap();
    let by_place: HashMap<u64, String> = rows(&merged).iter().map(|row| (row.place, row.id.to_owned())).collect();
    let mut places: Vec<&u64> = by_place.keys().collect();
    places.sort_unstable();
    let ids: Vec<u64> = places.iter().map(|place| by_place[place].parse().unwrap()).collect();
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}

/// A file whose columns are much larger than the pages around its header.
fn large(path: &Path) -> Signatures {
    let mut records = records(&texts(400, 9));
    let few = records.clone();
    for n in 1..50 {
        records.extend(few.iter().cloned().map(|mut record| {
            record.place += 400 * n;
            record
        }));
    }
    file(path, records)
}

/// Bytes of a mapped file that are in the memory of this process.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut sum = 0;
    let mut is_own = false;
    for line in maps.lines() {
        if let Some(kib) = line.strip_prefix("Rss:") {
            sum += if is_own { kib.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10 } else { 0 };
        } else if line.split(' ').next().is_some_and(|word| word.contains('-')) {
            is_own = line.ends_with(&*fs::canonicalize(path).unwrap().to_string_lossy());
        }
    }
    sum
}

#[test]
#[cfg(target_os = "linux")]
fn whole_passes_leave_nothing_in_memory() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("f.sig");
    let mut file = large(&path);
    let (all, little) = (fs::metadata(&path).unwrap().len(), 256 << 10);
    let judged = file.fingerprints().len();
    assert!(all > 8 * little);
    file.check().unwrap();
    let mut sketches = Vec::new();
    file.each_sketch(3..judged, |row, sketch| sketches.push((row, *sketch)));
    assert!(resident(&path) < little, "{} of {all} bytes", resident(&path));
    assert!((3..).zip(&file.sketches()[3..]).eq(sketches.iter().map(|(row, sketch)| (*row, sketch))));
    let before: Vec<String> = rows(&file).iter().map(|row| format!("{row:?}")).collect();
    assert!(resident(&path) > all / 2);
    file.release();
    assert!(resident(&path) < little, "{} of {all} bytes", resident(&path));
    assert!(rows(&file).iter().map(|row| format!("{row:?}")).eq(before.iter().cloned()));
    // A file that takes the place of this one is another one.
    fs::write(dir.path().join("other"), b"something else").unwrap();
    fs::rename(dir.path().join("other"), &path).unwrap();
    file.release();
    file.check().unwrap();
    assert!(rows(&file).iter().map(|row| format!("{row:?}")).eq(before));
}

#[test]
#[cfg(target_os = "linux")]
fn sketches_beyond_the_limit_are_not_mapped() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("f.sig");
    let whole: Vec<_> = large(&path).sketches().to_vec();
    let (n, every) = (whole.len() as u64, 64 * whole.len() as u64);
    let read = |file: &Signatures| {
        assert!((0..n).map(|row| file.stored_sketch(row)).eq(whole.iter().copied()));
        resident(&path)
    };
    let mapped = read(&Signatures::open(&path).unwrap().map_sketches(every));
    assert!(mapped >= every, "{mapped} of {every} bytes");
    let limited = read(&Signatures::open(&path).unwrap().map_sketches(every / 4));
    assert!(limited < every / 2, "{limited} of {every} bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn a_merge_lets_go_of_what_it_has_read() {
    let dir = TempDir::new().unwrap();
    let paths = ["a.sig", "b.sig"].map(|name| dir.path().join(name));
    let mut parts = paths.each_ref().map(|path| (0, large(path)));
    let all: u64 = paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    let most = std::cell::Cell::new(0);
    let merge_in = |parts: &mut [(usize, Signatures)], held: u64, name: &str| {
        most.set(0);
        let path = dir.path().join(name);
        let seen = |_| most.set(most.get().max(paths.iter().map(|path| resident(path)).sum()));
        write(&path, |file| Ok(crate::corpus::merge::merge_within(parts, held, file, &seen)?.1)).unwrap();
        fs::read(&path).unwrap()
    };
    let freely = merge_in(&mut parts, u64::MAX, "freely.sig");
    assert!(most.get() > all / 2, "{} of {all} bytes", most.get());
    parts.iter_mut().for_each(|(_, part)| part.release());
    assert!(merge_in(&mut parts, 64 << 10, "tightly.sig") == freely);
    assert!(most.get() < all / 2, "{} of {all} bytes", most.get());
}
