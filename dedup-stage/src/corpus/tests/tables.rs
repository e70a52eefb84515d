//! Parquet and Arrow files with columns of many types, and damaged and cut ones: the damage is named, reading ends, and
//! the rest is read.

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, ListArray, RecordBatch, StringArray, StructArray, TimestampSecondArray,
    UInt64Array,
};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use tempfile::TempDir;

use crate::corpus::input::{Fields, Format, Piece, Split};

/// Number of batches or row groups, and of rows in each.
const BATCHES: u64 = 5;
const ROWS: u64 = 100;

fn batch(number: u64) -> RecordBatch {
    let ids = number * ROWS..(number + 1) * ROWS;
    let texts = ids.clone().map(|id| format!("the text of document {id}"));
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(UInt64Array::from_iter_values(ids.clone()))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Writes the batches in this format. An Arrow stream has the ending `arrows`, and a compressed Arrow file `feather`.
fn written(dir: &TempDir, ending: &str) -> PathBuf {
    let path = dir.path().join("table").with_extension(ending);
    let (file, schema) = (File::create(&path).unwrap(), batch(0).schema());
    match ending {
        "parquet" => {
            let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
            let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
            for number in 0..BATCHES {
                writer.write(&batch(number)).unwrap();
                writer.flush().unwrap();
            }
            writer.close().unwrap();
        }
        "arrow" | "feather" => {
            let compression = (ending == "feather").then_some(arrow_ipc::CompressionType::ZSTD);
            let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(compression).unwrap();
            let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(file, &schema, options).unwrap();
            (0..BATCHES).for_each(|number| writer.write(&batch(number)).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &schema).unwrap();
            (0..BATCHES).for_each(|number| writer.write(&batch(number)).unwrap());
            writer.finish().unwrap();
        }
    }
    path
}

/// The ids of the documents in a file, and what is named as bad.
fn read(path: &Path) -> (Vec<u64>, Vec<String>) {
    let split = Split { paths: vec![path.to_owned()], format: Format::of(path).unwrap() };
    let (mut ids, mut bad) = (Vec::new(), Vec::new());
    let pieces = match split.pieces(&Fields::default()) {
        Ok(pieces) => pieces,
        Err(error) => return (ids, vec![error.to_string()]),
    };
    // A reader that repeats its error would never end.
    let pieces: Vec<Piece> = pieces.take(1_000).collect();
    assert!(pieces.len() < 1_000);
    for piece in pieces {
        piece.documents("table", &Fields::default(), &mut |document| match document {
            Ok(document) => ids.push(document.id.parse().unwrap()),
            Err(error) => bad.push(format!("{}: {}", error.place, error.what)),
        });
    }
    (ids, bad)
}

/// Overwrites some bytes of a file.
fn damage(path: &Path, range: Range<usize>) {
    let mut bytes = fs::read(path).unwrap();
    bytes[range].fill(0xff);
    fs::write(path, bytes).unwrap();
}

#[test]
fn the_rows_of_a_damaged_row_group_are_named_and_the_others_read() {
    let dir = TempDir::new().unwrap();
    let path = written(&dir, "parquet");
    assert_eq!(read(&path), ((0..BATCHES * ROWS).collect(), Vec::new()));
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let (start, length) = reader.metadata().row_group(2).column(1).byte_range();
    damage(&path, start as usize..(start + length / 2) as usize);
    let (ids, bad) = read(&path);
    assert_eq!(ids, (0..200).chain(300..500).collect::<Vec<_>>());
    assert!(bad.len() == 1 && bad[0].starts_with("rows 200 to 299: "), "{bad:?}");
}

#[test]
fn a_damaged_batch_is_named_and_the_others_are_read() {
    let dir = TempDir::new().unwrap();
    let path = written(&dir, "arrow");
    assert_eq!(read(&path), ((0..BATCHES * ROWS).collect(), Vec::new()));
    let bytes = fs::read(&path).unwrap();
    let text = b"the text of document 250";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    damage(&path, at..at + 4);
    let (ids, bad) = read(&path);
    assert_eq!(ids, (0..200).chain(300..500).collect::<Vec<_>>());
    assert!(bad.len() == 1 && bad[0].starts_with("batch 3: "), "{bad:?}");
}

#[test]
fn of_a_cut_arrow_file_or_stream_the_whole_batches_are_read() {
    let dir = TempDir::new().unwrap();
    for ending in ["arrow", "arrows"] {
        let path = written(&dir, ending);
        let bytes = fs::read(&path).unwrap();
        let text = b"the text of document 350";
        let middle = bytes.windows(text.len()).position(|window| window == text).unwrap();
        for (cut, rows) in [(middle, 300), (bytes.len() - 1, 500), (12, 0), (0, 0)] {
            fs::write(&path, &bytes[..cut]).unwrap();
            let (ids, bad) = read(&path);
            assert_eq!(ids, (0..rows).collect::<Vec<_>>(), "{ending} {cut}");
            assert_eq!(bad.len(), 1, "{ending} {cut}: {bad:?}");
        }
    }
    let path = written(&dir, "arrows");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, bytes.repeat(2)).unwrap();
    let (ids, bad) = read(&path);
    assert_eq!(ids, (0..500).collect::<Vec<_>>());
    assert_eq!(bad, [format!("after row 500: {} bytes behind the end of the stream", bytes.len())]);
}

#[test]
fn random_damage_is_named_or_changes_a_value() {
    let dir = TempDir::new().unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    for ending in ["parquet", "arrow", "arrows", "feather"] {
        let whole = fs::read(written(&dir, ending)).unwrap();
        let path = dir.path().join("damaged").with_extension(ending);
        for _ in 0..400 {
            let mut bytes = whole.clone();
            let at = random.usize(..bytes.len());
            for byte in bytes.iter_mut().skip(at).take(random.usize(1..16)) {
                *byte = random.u8(..);
            }
            fs::write(&path, bytes).unwrap();
            let (ids, bad) = read(&path);
            assert!(ids.len() as u64 == BATCHES * ROWS || !bad.is_empty(), "{ending} {at}: {} rows", ids.len());
        }
    }
}

/// Writes a Parquet file of these columns. Its documents, each its id and its body; or the error of the file.
fn documents(columns: &[(&str, ArrayRef)]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("table.parquet");
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let split = Split { paths: vec![path], format: Format::Parquet };
    let mut found = Vec::new();
    for piece in split.pieces(&Fields::default()).map_err(|error| error.to_string())? {
        piece.documents("table", &Fields::default(), &mut |document| {
            let document = document.unwrap();
            found.push((document.id.to_string(), document.body.to_vec()));
        });
    }
    Ok(found)
}

#[test]
fn ids_are_times_of_any_zone() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a text"]));
    let times = TimestampSecondArray::from(vec![1_763_640_000]);
    for zone in ["UTC", "Europe/Berlin", "+01:00"] {
        let id: ArrayRef = Arc::new(times.clone().with_timezone(zone));
        let found = documents(&[("id", id), ("text", Arc::clone(&text))]).unwrap();
        assert_eq!(found, [("\"2025-11-20T12:00:00Z\"".to_owned(), b"a text".to_vec())], "{zone}");
    }
}

#[test]
fn a_column_of_the_wrong_type_is_named() {
    let numbers = || Int64Array::from(vec![1, 2]);
    let lists = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>([Some([Some(1)]), None]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a text", "another"]));
    let column: ArrayRef = Arc::new(numbers());
    let pairs = StructArray::try_from(vec![("part", column)]).unwrap();
    let wrong: [(&[(&str, ArrayRef)], &str); 3] = [
        (&[("text", Arc::new(numbers()))], "the column \"text\" has values of type Int64; it must have text"),
        (&[("body", Arc::new(lists))], "the column \"body\" has values of type List("),
        (&[("id", Arc::new(pairs)), ("text", Arc::clone(&texts))], "the column \"id\" has values of type Struct("),
    ];
    for (columns, message) in wrong {
        let error = documents(columns).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    let found = documents(&[("id", Arc::new(numbers())), ("text", texts)]).unwrap();
    assert_eq!(found, [("1".to_owned(), b"a text".to_vec()), ("2".to_owned(), b"another".to_vec())]);
}

#[test]
fn pages_are_bytes_of_any_encoding() {
    let page: &[u8] = b"<meta charset=latin1><p>caf\xe9";
    let found = documents(&[("body", Arc::new(BinaryArray::from(vec![page])))]).unwrap();
    assert_eq!(found, [("\"table#0\"".to_owned(), page.to_vec())]);
}
