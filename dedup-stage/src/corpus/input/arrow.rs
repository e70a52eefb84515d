//! Documents in tables: the rows of Parquet files, of Arrow IPC files and streams, and of tables in memory.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, StringArray, StructArray};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{DataType, SchemaRef, TimeUnit};

use super::{Bad, Date, Fields, numbered, quoted};
use crate::corpus::sign::{Document, TEXT};

/// The places of the columns that are needed. Errors if no column has the documents, or a column has a type that its
/// field cannot have.
pub fn wanted(schema: &SchemaRef, fields: &Fields) -> io::Result<Vec<usize>> {
    let root = |name: &str| {
        let outer = name.split_once('.').map_or(name, |(outer, _)| outer);
        schema.index_of(name).or_else(|_| schema.index_of(outer)).ok()
    };
    if root(&fields.text).is_none() && root(&fields.body).is_none() {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let what = format!("no column {:?} or {:?}; there are {}", fields.text, fields.body, names.join(", "));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let documents = [&fields.text, &fields.body];
    let others = [&fields.id, &fields.url, &fields.date];
    for (name, is_document) in documents.map(|name| (name, true)).into_iter().chain(others.map(|name| (name, false))) {
        let fits = |kind: &DataType| match is_document {
            true => is_text(kind),
            false => can_cast_types(kind, &DataType::Utf8),
        };
        if let Some(kind) = kind(schema, name).filter(|kind| !fits(kind)) {
            let needed = if is_document { "text" } else { "a plain value" };
            let what = format!("the column {name:?} has values of type {kind}; it must have {needed}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
    }
    let mut columns: Vec<usize> = documents.into_iter().chain(others).filter_map(|name| root(name)).collect();
    columns.sort_unstable();
    columns.dedup();
    Ok(columns)
}

/// The type of a column by name; a name with a dot may lead into a struct.
fn kind<'a>(schema: &'a SchemaRef, name: &str) -> Option<&'a DataType> {
    let whole = schema.field_with_name(name).ok();
    let field = whole.or_else(|| {
        let (outer, inner) = name.split_once('.')?;
        let DataType::Struct(fields) = schema.field_with_name(outer).ok()?.data_type() else { return None };
        Some(fields.find(inner)?.1.as_ref())
    });
    field.map(|field| field.data_type())
}

/// Whether a column of this type can have documents. (A column of the type `Null` has only missing values.)
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        DataType::Null => true,
        _ => kind.is_string() || is_binary(kind),
    }
}

fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
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
    text: Option<Contents>,
    body: Option<Contents>,
    url: Option<StringArray>,
    date: Option<Dates>,
}

/// A column of texts or pages. Those in a column of bytes may have another encoding than UTF-8.
enum Contents {
    Text(StringArray),
    Bytes(BinaryArray),
}

enum Dates {
    Text(StringArray),
    Numbers(StringArray),
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
        let (text, body) = (table.text.as_ref(), table.body.as_ref());
        let (body, content_type) = match (text.and_then(|t| t.get(i)), body.and_then(|b| b.get(i))) {
            (Some([]), Some(body)) => (body, None),
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
            Some((id, false)) if id.is_valid(i) => number(id.value(i)),
            _ => numbered(file, row),
        };
        let url = table.url.as_ref().filter(|url| url.is_valid(i)).map_or("", |url| url.value(i));
        let date = table.date.as_ref().map_or(Date::Absent, |date| date.of(i));
        visit(Ok(Document { index: row, id, url, date, content_type, body }));
    }
}

/// A number as JSON. Text for what is no number in JSON, such as `NaN`.
fn number(text: &str) -> Box<str> {
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(_) => text.into(),
        Err(_) => quoted(text),
    }
}

impl Table {
    fn of(batch: &RecordBatch, fields: &Fields) -> Result<Self, String> {
        let contents = |name: &str| column(batch, name).map(|column| Contents::of(name, &column)).transpose();
        let url = column(batch, &fields.url).map(|column| strings(&fields.url, &column));
        let id = column(batch, &fields.id).map(|column| {
            let numeric = column.data_type().is_integer() || column.data_type().is_floating();
            strings(&fields.id, &column).map(|strings| (strings, !numeric))
        });
        let date = column(batch, &fields.date).map(|column| {
            let is_time = matches!(column.data_type(), DataType::Timestamp(..) | DataType::Date32 | DataType::Date64);
            if is_time {
                let millis = cast(&column, &DataType::Timestamp(TimeUnit::Millisecond, None));
                millis.map(Dates::Millis).map_err(|error| format!("{:?}: {error}", fields.date))
            } else if column.data_type().is_numeric() {
                strings(&fields.date, &column).map(Dates::Numbers)
            } else {
                strings(&fields.date, &column).map(Dates::Text)
            }
        });
        Ok(Self {
            id: id.transpose()?,
            text: contents(&fields.text)?,
            body: contents(&fields.body)?,
            url: url.transpose()?,
            date: date.transpose()?,
        })
    }
}

impl Contents {
    fn of(name: &str, column: &ArrayRef) -> Result<Self, String> {
        if !is_binary(column.data_type()) {
            return strings(name, column).map(Contents::Text);
        }
        let bytes = cast(column, &DataType::Binary).map_err(|error| format!("{name:?}: {error}"))?;
        Ok(Contents::Bytes(bytes.as_binary::<i32>().clone()))
    }

    fn get(&self, i: usize) -> Option<&[u8]> {
        match self {
            Contents::Text(text) => text.is_valid(i).then(|| text.value(i).as_bytes()),
            Contents::Bytes(bytes) => bytes.is_valid(i).then(|| bytes.value(i)),
        }
    }
}

impl Dates {
    fn of(&self, i: usize) -> Date {
        match self {
            Dates::Text(text) if text.is_valid(i) => Date::of_text(text.value(i)),
            Dates::Numbers(numbers) if numbers.is_valid(i) => Date::of_number(numbers.value(i)),
            Dates::Millis(times) if times.is_valid(i) => {
                Date::At(times.as_primitive::<TimestampMillisecondType>().value(i))
            }
            Dates::Text(_) | Dates::Numbers(_) | Dates::Millis(_) => Date::Absent,
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
    let text = |column: &ArrayRef| match column.data_type() {
        // A time with a zone is the same moment in UTC. Names of zones are not known here.
        DataType::Timestamp(unit, Some(_)) => {
            let moments = cast(column, &DataType::Timestamp(*unit, Some("+00:00".into())))?;
            cast(&moments, &DataType::Utf8)
        }
        _ => cast(column, &DataType::Utf8),
    };
    let plain = text(column).map_err(|error| format!("{name:?}: {error}"))?;
    Ok(plain.as_string::<i32>().clone())
}
