//! Makes tables in Parquet from JSON Lines: `crawler export --format parquet`. They are compressed with Zstandard, and
//! a row group has [`ROWS`] rows at most.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::columns::{Column, Kind};

/// Rows are written when this many were gathered, or when their lines have [`BYTES`].
const ROWS: usize = 1 << 14;
/// Rows are written when their lines have this many bytes, because main texts are long.
const BYTES: usize = 32 << 20;

/// Takes JSON Lines and writes a row for each object. Members without a column are left out, and missing members are
/// null.
pub struct ParquetTable<W: Write + Send> {
    columns: &'static [Column],
    builders: Vec<Builder>,
    schema: SchemaRef,
    writer: ArrowWriter<W>,
    rows: usize,
    bytes: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// A table with these columns.
    pub fn new(columns: &'static [Column], out: W) -> io::Result<Self> {
        let field = |(name, kind): &Column| Field::new(*name, kind.data(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(io::Error::other)?;
        let builders = columns.iter().map(|(_, kind)| Builder::new(*kind)).collect();
        Ok(Self { columns, builders, schema, writer, rows: 0, bytes: 0, line: Vec::new() })
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_rows()?;
        self.writer.close().map_err(io::Error::other)?;
        Ok(())
    }

    fn row(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let object: Map<String, Value> = serde_json::from_slice(&line)?;
        for ((name, _), builder) in self.columns.iter().zip(&mut self.builders) {
            builder.push(object.get(*name).unwrap_or(&Value::Null));
        }
        self.rows += 1;
        self.bytes += line.len();
        if self.rows >= ROWS || self.bytes >= BYTES { self.write_rows() } else { Ok(()) }
    }

    fn write_rows(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)?;
        (self.rows, self.bytes) = (0, 0);
        self.writer.write(&batch).and_then(|()| self.writer.flush()).map_err(io::Error::other)
    }
}

impl<W: Write + Send> Write for ParquetTable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.row()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kind {
    fn data(self) -> DataType {
        match self {
            Kind::Text => DataType::Utf8,
            Kind::Integer => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            Kind::Texts => DataType::new_list(DataType::Utf8, true),
        }
    }
}

enum Builder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Time(TimestampMillisecondBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Integer => Self::Integer(Int64Builder::new()),
            Kind::Float => Self::Float(Float64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Time => Self::Time(TimestampMillisecondBuilder::new().with_timezone("UTC")),
            Kind::Texts => Self::Texts(ListBuilder::new(StringBuilder::new())),
        }
    }

    fn push(&mut self, value: &Value) {
        match self {
            Self::Text(to) => match value {
                Value::Null => to.append_null(),
                Value::String(text) => to.append_value(text),
                other => to.append_value(other.to_string()),
            },
            Self::Integer(to) => to.append_option(value.as_i64()),
            Self::Float(to) => to.append_option(value.as_f64()),
            Self::Bool(to) => to.append_option(value.as_bool()),
            Self::Time(to) => {
                let time = value.as_str().and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
                let millis = time.and_then(|time| i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok());
                to.append_option(millis);
            }
            Self::Texts(to) => {
                let texts = value.as_array();
                texts.into_iter().flatten().for_each(|text| to.values().append_option(text.as_str()));
                to.append(texts.is_some());
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Float(builder) => Arc::new(builder.finish()),
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Time(builder) => Arc::new(builder.finish()),
            Self::Texts(builder) => Arc::new(builder.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, TimestampMillisecondType};
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::super::columns::{CLUSTERS, PAGES};
    use super::*;

    fn table(columns: &'static [Column], lines: &str) -> Vec<RecordBatch> {
        let mut out = Vec::new();
        let mut table = ParquetTable::new(columns, &mut out).unwrap();
        lines.as_bytes().chunks(7).for_each(|part| table.write_all(part).unwrap());
        table.finish().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(out)).unwrap().build().unwrap();
        reader.map(|batch| batch.unwrap()).collect()
    }

    #[test]
    fn lines_become_typed_rows() {
        let lines = "{\"url\":\"http://a.test/ä\",\"status\":200,\"fetched_at\":\"1970-01-01T00:00:01.5Z\",\"noindex\":true,\"merits\":[1,2],\"later\":1}\n\
            {\"url\":\"http://b.test/\",\"status\":null,\"error\":\"dns: x\"}\n";
        let batches = table(&PAGES, lines);
        assert_eq!(batches.len(), 1);
        let column = |name: &str| batches[0].column_by_name(name).unwrap().clone();
        assert_eq!((batches[0].num_rows(), batches[0].num_columns()), (2, PAGES.len()));
        assert_eq!(column("url").as_string::<i32>().value(0), "http://a.test/ä");
        assert_eq!(column("status").as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(200), None]);
        assert_eq!(column("fetched_at").as_primitive::<TimestampMillisecondType>().value(0), 1_500);
        assert_eq!(column("merits").as_string::<i32>().value(0), "[1,2]");
        assert!(column("noindex").as_boolean().value(0) && column("noindex").is_null(1));
    }

    #[test]
    fn lists_are_lists_and_nothing_is_a_table_too() {
        let batches = table(&CLUSTERS, "{\"representative\":\"a\",\"pages\":[\"b\",\"c\"]}\n");
        let pages = batches[0].column(1).as_list::<i32>().value(0);
        assert_eq!(pages.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("b"), Some("c")]);
        assert!(table(&CLUSTERS, "").is_empty());
        let many: String = (0..ROWS + 3).map(|n| format!("{{\"representative\":\"{n}\"}}\n")).collect();
        assert_eq!(table(&CLUSTERS, &many).iter().map(RecordBatch::num_rows).sum::<usize>(), ROWS + 3);
    }
}
