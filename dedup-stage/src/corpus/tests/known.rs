//! Tests known corpora against a scan.

use tempfile::TempDir;

use super::*;

#[test]
fn a_known_corpus_finds_what_a_scan_finds() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("known.sig");
    let texts = texts(900, 16);
    let (stored, asked) = texts.split_at(600);
    file(&path, records(stored));
    for distance in [3, 7] {
        let known = Known::open(&path, distance, 2).unwrap();
        let mut finder = known.finder();
        let all = rows(known.signatures());
        let criterion = NearCriterion { distance, ..BY_FINGERPRINT };
        let (mut found, mut exact) = (0, 0);
        for record in records(asked).iter().chain(&records(&stored[..100])) {
            let page = record.row();
            let sketch = page.signature.map(|(fingerprint, sketch)| (fingerprint, Sketch::from_bytes(*sketch)));
            let document =
                finder.find(page.digest, sketch.as_ref().map(|(fingerprint, sketch)| (*fingerprint, sketch))).unwrap();
            let away = |row: &Row<'_>| match (row.signature, page.signature) {
                (Some((f, _)), Some((g, _))) => (f ^ g).count_ones(),
                _ => 0,
            };
            let alike = all.iter().filter(|row| alike(row, &page, criterion));
            let nearest = alike.min_by_key(|row| (away(row), row.digest != page.digest, row.place));
            match (document, nearest) {
                (None, None) => {}
                (Some(document), Some(row)) => {
                    found += 1;
                    exact += u32::from(document.exact);
                    assert_eq!(document.distance, away(row));
                    assert_eq!(document.exact, row.digest == page.digest);
                    assert_eq!(known.id(document.row).unwrap(), row.id);
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(found > 150 && exact > 50, "{found} {exact}");
    }
    // Another file under the same name has another index.
    file(&path, records(&texts[..20]));
    let known = Known::open(&path, 3, 1).unwrap();
    assert_eq!(known.signatures().rows(), 20);
    let of_long = records(&texts[600..]).into_iter().find(|record| record.signature.is_some()).unwrap();
    assert!(
        known
            .finder()
            .find(&[7; 32], of_long.signature.map(|(f, _)| f).zip(Some(&Sketch::from_bytes([9; 64]))))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_damaged_index_is_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("known.sig");
    file(&path, records(&texts(300, 21)));
    drop(Known::open(&path, 7, 1).unwrap());
    let index = Known::index_path(&path, 7);
    let whole = std::fs::read(&index).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        let mut bytes = whole.clone();
        let end = bytes.len().min(at + 2000);
        bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0x55);
        std::fs::write(&index, bytes).unwrap();
        let error = Known::open(&path, 7, 1).unwrap_err().to_string();
        assert!(error.contains("known.sig.d7") && error.contains("a new one is built"), "{at}: {error}");
    }
}
