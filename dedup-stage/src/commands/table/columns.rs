//! Writes tables as Parquet and Arrow IPC files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow_array::builder::{BooleanBuilder, Float32Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Cell, Column, Kind, TableFormat};

/// Number of rows that are gathered before they are written.
const ROWS: usize = 1 << 16;

/// A table that is being written.
pub struct Columns {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    out: Out,
}

enum Out {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<arrow_ipc::writer::FileWriter<File>>),
}

enum Builder {
    Integer(Int64Builder),
    Text(StringBuilder),
    Number(UInt64Builder),
    Bool(BooleanBuilder),
    Distance(UInt32Builder),
    Share(Float32Builder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Id { integers: true } => Self::Integer(Int64Builder::new()),
            Kind::Id { integers: false } => Self::Text(StringBuilder::new()),
            Kind::Number => Self::Number(UInt64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Distance => Self::Distance(UInt32Builder::new()),
            Kind::Share => Self::Share(Float32Builder::new()),
        }
    }

    fn push(&mut self, cell: &Cell<'_>) -> anyhow::Result<()> {
        match (self, cell) {
            (Self::Integer(to), Cell::Id(id)) => to.append_value(id.parse().context("an id that is no integer")?),
            // A string is written without its quotes, other JSON as it is.
            (Self::Text(to), Cell::Id(id)) => match serde_json::from_str::<String>(id) {
                Ok(text) => to.append_value(text),
                Err(_) => to.append_value(id),
            },
            (Self::Number(to), Cell::Number(number)) => to.append_value(*number),
            (Self::Bool(to), Cell::Bool(yes)) => to.append_value(*yes),
            (Self::Distance(to), Cell::Distance(distance)) => to.append_option(*distance),
            (Self::Share(to), Cell::Share(share)) => to.append_value(*share),
            _ => anyhow::bail!("a cell that its column cannot hold"),
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Number(builder) => Arc::new(builder.finish()),
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Distance(builder) => Arc::new(builder.finish()),
            Self::Share(builder) => Arc::new(builder.finish()),
        }
    }
}

impl Columns {
    /// Begins a file.
    pub fn create(columns: &[Column], format: TableFormat, path: &Path) -> anyhow::Result<Self> {
        let field = |(name, kind): &Column| {
            let data = match kind {
                Kind::Id { integers: true } => DataType::Int64,
                Kind::Id { integers: false } => DataType::Utf8,
                Kind::Number => DataType::UInt64,
                Kind::Bool => DataType::Boolean,
                Kind::Distance => DataType::UInt32,
                Kind::Share => DataType::Float32,
            };
            Field::new(*name, data, *kind == Kind::Distance)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let file = File::create(path).with_context(|| path.display().to_string())?;
        let out = match format {
            TableFormat::Arrow => Out::Arrow(Box::new(arrow_ipc::writer::FileWriter::try_new(file, &schema)?)),
            _ => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                Out::Parquet(Box::new(ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?))
            }
        };
        let builders = columns.iter().map(|(_, kind)| Builder::new(*kind)).collect();
        Ok(Self { schema, builders, rows: 0, out })
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        self.builders.iter_mut().zip(cells).try_for_each(|(builder, cell)| builder.push(cell))?;
        self.rows += 1;
        if self.rows == ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        self.rows = 0;
        match &mut self.out {
            Out::Parquet(writer) => writer.write(&batch)?,
            Out::Arrow(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> anyhow::Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        match self.out {
            Out::Parquet(writer) => drop(writer.close()?),
            Out::Arrow(mut writer) => writer.finish()?,
        }
        Ok(())
    }
}
