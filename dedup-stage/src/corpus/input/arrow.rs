//! Documents in tables: the rows of Parquet files, of Arrow IPC files and streams, and of tables in memory.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use arrow_cast::cast;
use arrow_schema::{DataType, SchemaRef, TimeUnit};

use super::{Bad, Fields, millis, numbered, quoted};
use crate::corpus::NO_DATE;
use crate::corpus::sign::{Document, TEXT};

/// The most rows of a piece.
pub(super) const ROWS: usize = 1024;

/// The places of the columns that are needed. Errors if no column has the documents.
pub(super) fn wanted(schema: &SchemaRef, fields: &Fields) -> io::Result<Vec<usize>> {
    let root = |name: &str| {
        let outer = name.split_once('.').map_or(name, |(outer, _)| outer);
        schema.index_of(name).or_else(|_| schema.index_of(outer)).ok()
    };
    if root(&fields.text).is_none() && root(&fields.body).is_none() {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let what = format!("no column {:?} or {:?}; there are {}", fields.text, fields.body, names.join(", "));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut columns: Vec<usize> = [&fields.id, &fields.text, &fields.body, &fields.url, &fields.date]
        .into_iter()
        .filter_map(|n| root(n))
        .collect();
    columns.sort_unstable();
    columns.dedup();
    Ok(columns)
}

/// Calls a reader of Arrow or Parquet. Such readers panic at damage that they do not expect. Here it is an error.
pub(super) fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let panicked = |_| Err(io::Error::new(io::ErrorKind::InvalidData, "the file is damaged"));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(panicked)
}

/// The columns of a batch that make up documents.
struct Table {
    /// The ids as strings, and whether they are strings in JSON. Those of a column of numbers are JSON numbers.
    id: Option<(StringArray, bool)>,
    text: Option<StringArray>,
    body: Option<StringArray>,
    url: Option<StringArray>,
    date: Option<Dates>,
}

enum Dates {
    Text(StringArray),
    Millis(ArrayRef),
}

/// Calls `visit` with the document of each row.
pub fn documents(
    first: u64,
    batch: &RecordBatch,
    file: &str,
    fields: &Fields,
    visit: &mut dyn FnMut(Result<Document<'_>, Bad>),
) {
    let table = match Table::of(batch, fields) {
        Ok(table) => table,
        Err(what) => return visit(Err(Bad { place: format!("rows from {first}"), what })),
    };
    for (i, row) in (0..batch.num_rows()).zip(first..) {
        let text =
            |column: &Option<StringArray>| column.as_ref().filter(|c| c.is_valid(i)).map(|c| c.value(i).to_owned());
        let (body, content_type) = match (text(&table.text), text(&table.body)) {
            (Some(text), _) => (text, Some(TEXT)),
            (None, Some(body)) => (body, None),
            (None, None) => {
                let what = format!("neither {:?} nor {:?}", fields.text, fields.body);
                visit(Err(Bad { place: format!("row {row}"), what }));
                continue;
            }
        };
        let id = match &table.id {
            Some((id, true)) if id.is_valid(i) => quoted(id.value(i)),
            Some((id, false)) if id.is_valid(i) => id.value(i).into(),
            _ => numbered(file, row),
        };
        let url = text(&table.url).unwrap_or_default();
        let date = table.date.as_ref().map_or(NO_DATE, |date| date.of(i));
        visit(Ok(Document { index: row, id, url: &url, date, content_type, body: body.as_bytes() }));
    }
}

impl Table {
    fn of(batch: &RecordBatch, fields: &Fields) -> Result<Self, String> {
        let string = |name: &str| column(batch, name).map(|column| strings(name, &column)).transpose();
        let id = column(batch, &fields.id).map(|column| {
            let numeric = column.data_type().is_integer() || column.data_type().is_floating();
            strings(&fields.id, &column).map(|strings| (strings, !numeric))
        });
        let date = column(batch, &fields.date).map(|column| {
            let is_time = matches!(column.data_type(), DataType::Timestamp(..) | DataType::Date32 | DataType::Date64);
            if is_time {
                let millis = cast(&column, &DataType::Timestamp(TimeUnit::Millisecond, None));
                millis.map(Dates::Millis).map_err(|error| format!("{:?}: {error}", fields.date))
            } else {
                strings(&fields.date, &column).map(Dates::Text)
            }
        });
        Ok(Self {
            id: id.transpose()?,
            text: string(&fields.text)?,
            body: string(&fields.body)?,
            url: string(&fields.url)?,
            date: date.transpose()?,
        })
    }
}

impl Dates {
    fn of(&self, i: usize) -> i64 {
        match self {
            Dates::Text(text) if text.is_valid(i) => millis(text.value(i)),
            Dates::Millis(times) if times.is_valid(i) => times.as_primitive::<TimestampMillisecondType>().value(i),
            _ => NO_DATE,
        }
    }
}

/// A column by name; a name with a dot may lead into a struct.
fn column(batch: &RecordBatch, name: &str) -> Option<ArrayRef> {
    batch.column_by_name(name).cloned().or_else(|| {
        let (outer, inner) = name.split_once('.')?;
        let column = batch.column_by_name(outer)?.as_any().downcast_ref::<StructArray>()?;
        column.column_by_name(inner).cloned()
    })
}

fn strings(name: &str, column: &ArrayRef) -> Result<StringArray, String> {
    let plain = cast(column, &DataType::Utf8).map_err(|error| format!("{name:?}: {error}"))?;
    Ok(plain.as_string::<i32>().clone())
}
