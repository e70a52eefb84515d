//! Signs one split. One thread reads it, others sign its documents. Rows are sorted and written when the memory for
//! them is full.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::parts::{Parts, Sorted};
use super::{SeenFields, SigningOptions, Tally, Watch};
use crate::corpus::input::{Bad, Date, Fields, Piece, Split, numbered};
use crate::corpus::record::Record;
use crate::corpus::sign::{Document, Signing, TEXT};
use crate::corpus::writer::{FileShape, SignatureWriter};
use crate::corpus::{Error, output};
use crate::pipeline::{Limits, NextItem, ordered};
use crate::signature::RECIPE;

/// The result of a worker for one piece.
#[derive(Debug, Default)]
struct Signed {
    records: Vec<Record>,
    bad: Vec<Bad>,
    passed_over: u64,
    unread_dates: u64,
    seen: Option<SeenFields>,
}

/// Signs all documents of a split. Returns the counts and the files with the rows.
pub fn sign(
    split: &Split,
    pieces: Box<dyn Iterator<Item = Piece> + Send>,
    options: &SigningOptions,
    parts: &Parts,
    watch: &dyn Watch,
) -> Result<(Tally, Vec<Sorted>), Error> {
    let context = Arc::new((split.name(), options.fields.clone()));
    let limits = Limits { threads: options.threads.max(1), inputs: 16 * options.threads.max(1), bytes: 64 << 20 };
    let (mut results, _) = ordered(limits, pieces, move || {
        let (context, mut signing) = (Arc::clone(&context), Signing::default());
        move |piece: Piece| work(&piece, &context.0, &context.1, &mut signing)
    });
    let (mut tally, mut files) = (Tally::default(), Vec::new());
    let (mut held, mut weight) = (Vec::new(), 0);
    while let NextItem::Item(signed) = results.wait() {
        watch.documents(signed.records.len() as u64);
        tally.documents += signed.records.len() as u64;
        tally.judged += signed.records.iter().filter(|record| record.signature.is_some()).count() as u64;
        tally.cut += signed.records.iter().filter(|record| !record.is_whole).count() as u64;
        tally.passed_over += signed.passed_over;
        tally.unread_dates += signed.unread_dates;
        tally.seen = SeenFields::or(tally.seen, signed.seen);
        signed.bad.into_iter().for_each(|bad| tally.add_bad(bad));
        weight += signed.records.iter().map(Record::weight).sum::<usize>();
        held.extend(signed.records);
        if weight > options.memory {
            files.push(write(&mut held, parts)?);
            weight = 0;
        }
    }
    if !held.is_empty() || files.is_empty() {
        files.push(write(&mut held, parts)?);
    }
    Ok((tally, files))
}

fn work(piece: &Piece, file: &str, fields: &Fields, signing: &mut Signing) -> Signed {
    let mut signed = Signed::default();
    let mut seen = false;
    let (mut fields_seen, has_fields) = (None, piece.has_fields());
    let mut visit = |document: Result<Document<'_>, Bad>| {
        seen = true;
        if let (Ok(document), true) = (&document, has_fields) {
            look_for_fields(document, file, fields_seen.get_or_insert_default());
        }
        signed.unread_dates += u64::from(document.as_ref().is_ok_and(|document| document.date == Date::Unreadable));
        match document.and_then(|document| guarded(&document, signing)) {
            Ok(Some(record)) => signed.records.push(record),
            Ok(None) => signed.passed_over += 1,
            Err(bad) => signed.bad.push(bad),
        }
    };
    if catch_unwind(AssertUnwindSafe(|| piece.documents(file, fields, &mut visit))).is_err() {
        signed.bad.push(Bad { place: piece.place(), what: PANICKED.into() });
        seen = true;
    }
    signed.seen = fields_seen;
    // Lines without a document are blank, and do not count. A record without a document counts as passed over.
    signed.passed_over += u64::from(!seen && matches!(piece, Piece::Record(..) | Piece::PassedOver));
    signed
}

/// Marks the fields that a document has. One of a file without ids has the name of the file and its number as its id.
fn look_for_fields(document: &Document<'_>, file: &str, seen: &mut SeenFields) {
    seen.id = seen.id || document.id != numbered(file, document.index);
    seen.text |= document.content_type == Some(TEXT);
    seen.url |= !document.url.is_empty();
    seen.date |= document.date != Date::Absent;
}

/// What is said of a document, or of a piece of a file, that made the program panic.
const PANICKED: &str = "it made the program panic (please report this)";

/// Signs a document. One that makes the program panic is bad, and the others are signed.
fn guarded(document: &Document<'_>, signing: &mut Signing) -> Result<Option<Record>, Bad> {
    catch_unwind(AssertUnwindSafe(|| signing.sign(document))).map_err(|_| {
        *signing = Signing::default();
        Bad { place: format!("document {}", document.index), what: PANICKED.into() }
    })
}

/// Sorts the rows, writes them to a new part, and empties `records`.
fn write(records: &mut Vec<Record>, parts: &Parts) -> Result<Sorted, Error> {
    records.sort_unstable_by(|a, b| a.row().order(&b.row()));
    let mut shape = FileShape { splits: 1, ..FileShape::default() };
    records.iter().for_each(|record| shape.add(&record.row()));
    let path = parts.fresh();
    output::write(&path, |file| {
        let mut writer = SignatureWriter::new(file, RECIPE, shape);
        records.iter().try_for_each(|record| writer.push(&record.row()))?;
        Ok(writer.finish()?.1)
    })?;
    records.clear();
    Sorted::of(path)
}
