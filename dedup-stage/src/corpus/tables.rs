//! Signatures as Arrow tables, for programs that keep them beside their documents (cargo feature `arrow`).
//!
//! A table of signatures has the columns `id` (integers or strings), `simhash` (u64, null if there is too little text),
//! `sketch` (64 bytes, null likewise), `sha256` (32 bytes), `words` (u32), and perhaps `url` and `date`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use super::Signatures;
use super::format::DIGEST;
use super::input::{Bad, Date, Fields, Piece};
use super::join::Edge;
use super::record::{NO_DATE, Record};
use super::sign::Signing;
use crate::signature::Sketch;

/// The signatures of the rows of tables.
#[derive(Debug, Default)]
pub struct SignedRows {
    /// The records, in the order of the rows.
    pub records: Vec<Record>,
    /// The rows that could not be read.
    pub bad: Vec<Bad>,
    /// Number of records with a date that cannot be read. They have none.
    pub unread_dates: u64,
}

/// Signs the rows of batches on several threads.
pub fn sign(batches: &[RecordBatch], fields: &Fields, threads: usize) -> SignedRows {
    /// Number of rows that a thread takes at a time.
    const ROWS: usize = 1 << 10;
    let starts =
        batches.iter().scan(0u64, |next, batch| Some(std::mem::replace(next, *next + batch.num_rows() as u64)));
    let slices = |(batch, start): (&RecordBatch, u64)| {
        let slice = |at: usize| (start + at as u64, batch.slice(at, ROWS.min(batch.num_rows() - at)));
        (0..batch.num_rows()).step_by(ROWS).map(slice).collect::<Vec<_>>()
    };
    let pieces: Vec<Piece> =
        batches.iter().zip(starts).flat_map(slices).map(|(first, batch)| Piece::Batch(first, batch)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut signing, mut signed) = (Signing::default(), Vec::new());
        while let Some((i, piece)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, pieces.get(i)?)))
        {
            let mut rows = SignedRows::default();
            piece.documents("row", fields, &mut |document| match document {
                Ok(document) => {
                    rows.unread_dates += u64::from(document.date == Date::Unreadable);
                    rows.records.extend(signing.sign(&document));
                }
                Err(what) => rows.bad.push(what),
            });
            signed.push((i, rows));
        }
        signed
    };
    let mut signed: Vec<_> = std::thread::scope(|scope| {
        let working: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        working.into_iter().flat_map(|thread| thread.join().expect("no thread panicked")).collect()
    });
    signed.sort_unstable_by_key(|(i, ..)| *i);
    let mut all = SignedRows::default();
    for (_, rows) in signed {
        all.records.extend(rows.records);
        all.bad.extend(rows.bad);
        all.unread_dates += rows.unread_dates;
    }
    all
}

/// The table of some records, in their order.
pub fn to_batch(records: &[Record]) -> Result<RecordBatch, ArrowError> {
    let mut sketches = FixedSizeBinaryBuilder::new(Sketch::BYTES as i32);
    let mut digests = FixedSizeBinaryBuilder::new(DIGEST as i32);
    for record in records {
        match &record.signature {
            Some((_, sketch)) => sketches.append_value(sketch)?,
            None => sketches.append_null(),
        }
        digests.append_value(record.digest)?;
    }
    let simhashes: UInt64Array = records.iter().map(|record| record.signature.map(|(simhash, _)| simhash)).collect();
    let words = UInt32Array::from_iter_values(records.iter().map(|record| record.words));
    let ids: Vec<&str> = records.iter().map(|record| &*record.id).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", id_column(&ids)),
        ("simhash", Arc::new(simhashes)),
        ("sketch", Arc::new(sketches.finish())),
        ("sha256", Arc::new(digests.finish())),
        ("words", Arc::new(words)),
    ];
    if records.iter().any(|record| !record.url.is_empty()) {
        columns.push(("url", Arc::new(StringArray::from_iter_values(records.iter().map(|record| &*record.url)))));
    }
    if records.iter().any(|record| record.date != NO_DATE) {
        let dates = records.iter().map(|record| (record.date != NO_DATE).then_some(record.date));
        columns.push(("date", Arc::new(dates.collect::<TimestampMillisecondArray>())));
    }
    let field = |(name, column): &(&str, ArrayRef)| {
        let nullable = matches!(*name, "simhash" | "sketch" | "date");
        Field::new(*name, column.data_type().clone(), nullable)
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect())
}

/// The records of tables of signatures. Their places are numbered through. An error names what is missing in a table.
pub fn of_batches(batches: &[RecordBatch]) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for batch in batches {
        of_batch(batch, &mut records)?;
    }
    Ok(records)
}

fn of_batch(batch: &RecordBatch, records: &mut Vec<Record>) -> Result<(), String> {
    let column = |name: &str, kind: &DataType| {
        let column = batch.column_by_name(name).ok_or_else(|| format!("no column {name:?}; see `signatures`"))?;
        cast(column, kind).map_err(|error| format!("column {name:?}: {error}"))
    };
    let ids = ids(batch, "id")?;
    let simhashes = simhashes(batch)?;
    let sketches = column("sketch", &DataType::LargeBinary)?;
    let digests = column("sha256", &DataType::LargeBinary)?;
    let words = column("words", &DataType::UInt32)?;
    let optional = |name: &str, kind: &DataType| batch.column_by_name(name).map(|_| column(name, kind)).transpose();
    let urls = optional("url", &DataType::Utf8)?;
    let dates = optional("date", &DataType::Timestamp(TimeUnit::Millisecond, None))?;
    let (sketches, digests) = (sketches.as_binary::<i64>(), digests.as_binary::<i64>());
    for (i, id) in ids.into_iter().enumerate() {
        let sized = |what: &str| format!("row {i}: its {what} has the wrong length");
        let signature = if simhashes.is_valid(i) && sketches.is_valid(i) {
            let sketch = sketches.value(i).try_into().map_err(|_| sized("sketch"))?;
            Some((simhashes.value(i), sketch))
        } else {
            None
        };
        let url = urls.as_ref().filter(|urls| urls.is_valid(i)).map_or("", |urls| urls.as_string::<i32>().value(i));
        let date = dates.as_ref().filter(|dates| dates.is_valid(i));
        records.push(Record {
            signature,
            digest: digests.value(i).try_into().map_err(|_| sized("sha256"))?,
            words: words.as_primitive::<UInt32Type>().value(i),
            place: records.len() as u64,
            date: date.map_or(NO_DATE, |dates| dates.as_primitive::<TimestampMillisecondType>().value(i)),
            id,
            url: url.into(),
            is_whole: true,
        });
    }
    Ok(())
}

/// The fingerprints of a table. Programs without unsigned integers, such as Spark, have the same bits as signed
/// integers.
fn simhashes(batch: &RecordBatch) -> Result<UInt64Array, String> {
    let column = batch.column_by_name("simhash").ok_or("no column \"simhash\"; see `signatures`")?;
    match column.data_type() {
        DataType::UInt64 => Ok(column.as_primitive::<UInt64Type>().clone()),
        DataType::Int64 => Ok(column.as_primitive::<Int64Type>().unary(|bits| bits as u64)),
        other => Err(format!("column \"simhash\" is of {other}, not of 64-bit integers")),
    }
}

/// The edges of a table of near-duplicates with the columns `a` and `b`, which are ids of documents. Errors if an id is
/// not in `signatures`.
pub fn edges(signatures: &Signatures, batches: &[RecordBatch]) -> Result<Vec<Edge>, String> {
    let mut rows: HashMap<&str, u64> = HashMap::new();
    for row in 0..signatures.rows() {
        rows.insert(signatures.id(row).map_err(|error| error.to_string())?, row);
    }
    let mut edges = Vec::new();
    for batch in batches {
        let (a, b) = (ids(batch, "a")?, ids(batch, "b")?);
        for (a, b) in a.iter().zip(&b) {
            let row =
                |id: &str| rows.get(id).copied().ok_or_else(|| format!("the edges name {id}, which is no document"));
            let (a, b) = (row(a)?, row(b)?);
            let of = |row: u64| signatures.row(row).map_err(|error| error.to_string());
            let same = of(a)?.signature == of(b)?.signature;
            edges.push(Edge { a, b, distance: 0, resemblance: 1.0, same });
        }
    }
    Ok(edges)
}

/// A column of ids, as JSON.
fn ids(batch: &RecordBatch, name: &str) -> Result<Vec<Box<str>>, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("no column {name:?}; see `signatures`"))?;
    let is_number = column.data_type().is_integer();
    let texts = cast(column, &DataType::LargeUtf8).map_err(|error| format!("column {name:?}: {error}"))?;
    let texts = texts.as_string::<i64>();
    let json = |text: &str| if is_number { text.into() } else { serde_json::Value::from(text).to_string().into() };
    Ok((0..texts.len()).map(|i| json(texts.value(i))).collect())
}

/// Ids as a column. If all ids are integers, it has integers, otherwise strings without the quotes of JSON.
pub fn id_column(ids: &[&str]) -> ArrayRef {
    if let Ok(integers) = ids.iter().map(|id| id.parse()).collect::<Result<Vec<i64>, _>>() {
        return Arc::new(Int64Array::from(integers));
    }
    let mut texts = StringBuilder::new();
    for id in ids {
        match serde_json::from_str::<String>(id) {
            Ok(text) => texts.append_value(text),
            Err(_) => texts.append_value(id),
        }
    }
    Arc::new(texts.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_signed_and_read_back() {
        let words = |i: usize| (0..40).map(|w| format!("w{} ", w + i / 3)).collect::<String>();
        let texts =
            StringArray::from_iter_values((0..3000).map(|i| if i % 7 == 0 { "short".into() } else { words(i) }));
        let ids = StringArray::from_iter_values((0..3000).map(|i| format!("doc \"{i}\"")));
        let days = arrow_array::Date32Array::from_iter_values(0..3000);
        let schema = Schema::new(vec![
            Field::new("text", DataType::Utf8, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("date", DataType::Date32, false),
        ]);
        let columns: Vec<ArrayRef> = vec![Arc::new(texts), Arc::new(ids), Arc::new(days)];
        let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
        let halves = [batch.slice(0, 1200), batch.slice(1200, 1800)];
        let SignedRows { records, bad, unread_dates } = sign(&halves, &Fields::default(), 3);
        assert!(bad.is_empty() && unread_dates == 0);
        assert_eq!(records, sign(&[batch], &Fields::default(), 1).records);
        assert_eq!(records[2999].date, 2999 * 86_400_000);
        assert_eq!(&*records[5].id, "\"doc \\\"5\\\"\"");
        let table = to_batch(&records).unwrap();
        assert_eq!(table.num_rows(), 3000);
        assert_eq!(of_batches(&[table.slice(0, 10), table.slice(10, 2990)]).unwrap(), records);
        let error = of_batches(&[table.project(&[0, 1]).unwrap()]).unwrap_err();
        assert!(error.contains("no column \"sketch\""), "{error}");
    }
}
