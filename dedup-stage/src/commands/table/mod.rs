//! Writes the tables of the commands on signature files: JSON Lines, tab-separated, Parquet or Arrow IPC.

#[cfg(feature = "arrow")]
mod columns;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::rows::WrongUsage;
use crate::corpus::output::{Unfinished, place};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// A JSON object on each line
    Jsonl,
    /// A line of cells separated by tabs, without a head
    Tsv,
    /// Parquet; needs --output
    Parquet,
    /// Arrow IPC file; needs --output
    Arrow,
}

/// The kind of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ids of documents. They are integers if all ids of the corpus are.
    Id {
        /// Whether the ids are integers.
        integers: bool,
    },
    /// Numbers.
    Number,
    /// Yes or no.
    Bool,
    /// Small numbers; a cell may be empty.
    Distance,
    /// Numbers in 0..1.
    Share,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// An id, as JSON.
    Id(&'a str),
    /// See [`Kind::Number`].
    Number(u64),
    /// See [`Kind::Bool`].
    Bool(bool),
    /// See [`Kind::Distance`].
    Distance(Option<u32>),
    /// See [`Kind::Share`].
    Share(f32),
}

impl Cell<'_> {
    /// Writes the cell as JSON. Shares have three decimals, which is already more than an estimate can promise.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Cell::Id(id) => out.write_all(id.as_bytes()),
            Cell::Number(number) => write!(out, "{number}"),
            Cell::Bool(yes) => write!(out, "{yes}"),
            Cell::Distance(None) => out.write_all(b"null"),
            Cell::Distance(Some(distance)) => write!(out, "{distance}"),
            Cell::Share(share) => write!(out, "{}", (share * 1000.0).round() / 1000.0),
        }
    }
}

/// A column: its name, and the kind of its values.
pub type Column = (&'static str, Kind);

/// A table that is being written. The file gets its name only when it is complete.
pub struct Table {
    columns: Vec<Column>,
    rows: Rows,
    /// The file, if it is written beside its place.
    place: Option<Unfinished>,
    /// The path for messages; `None` is stdout.
    path: Option<PathBuf>,
}

enum Rows {
    Json(Box<dyn Write>),
    Tabs(Box<dyn Write>),
    #[cfg(feature = "arrow")]
    Columns(Box<columns::Columns>),
}

impl Table {
    /// The format that was asked for. If none was, that of the name of the output, otherwise JSON Lines. Errors if the
    /// name has the ending of a format that cannot be written.
    pub fn format(asked: Option<TableFormat>, output: Option<&Path>) -> anyhow::Result<TableFormat> {
        let ending = output.and_then(|path| path.extension()?.to_str());
        Ok(match (asked, ending) {
            (Some(format), _) => format,
            (None, Some("tsv")) => TableFormat::Tsv,
            (None, Some("parquet")) => TableFormat::Parquet,
            (None, Some("arrow" | "feather")) => TableFormat::Arrow,
            (None, Some("csv")) => {
                let what = "csv is not written; say --format, or name the file .tsv or .jsonl";
                return Err(WrongUsage(what.into()).into());
            }
            (None, _) => TableFormat::Jsonl,
        })
    }

    /// Begins a table on stdout, or in a file. A device or a pipe is written to, and not replaced. Errors if the file
    /// cannot be made, or this program was built without the format.
    pub fn create(columns: Vec<Column>, format: TableFormat, output: Option<&Path>) -> anyhow::Result<Self> {
        let output = output.filter(|path| path.as_os_str() != "-");
        let special = output.filter(|path| path.exists() && !path.is_file() && !path.is_dir());
        let target = match output {
            Some(path) if special.is_none() => Some(place(path).with_context(|| path.display().to_string())?),
            _ => None,
        };
        let place = target.map(Unfinished::new);
        let out: Box<dyn Write> = match (&place, special) {
            (None, None) => Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            (None, Some(path)) => {
                let file = File::options().write(true).open(path).with_context(|| path.display().to_string())?;
                Box::new(BufWriter::with_capacity(1 << 16, file))
            }
            (Some(unfinished), _) => {
                let part = unfinished.part();
                let file = File::create(part).with_context(|| part.display().to_string())?;
                Box::new(BufWriter::with_capacity(1 << 20, file))
            }
        };
        let rows = match format {
            TableFormat::Jsonl => Rows::Json(out),
            TableFormat::Tsv => Rows::Tabs(out),
            #[cfg(feature = "arrow")]
            TableFormat::Parquet | TableFormat::Arrow => {
                let Some(unfinished) = &place else {
                    return Err(WrongUsage("Parquet and Arrow need a regular file as --output".into()).into());
                };
                drop(out);
                Rows::Columns(Box::new(columns::Columns::create(&columns, format, unfinished.part())?))
            }
            #[cfg(not(feature = "arrow"))]
            TableFormat::Parquet | TableFormat::Arrow => {
                drop(out);
                let name = if format == TableFormat::Parquet { "Parquet" } else { "Arrow" };
                return Err(WrongUsage(crate::corpus::input::without_arrow(name).to_string()).into());
            }
        };
        Ok(Self { columns, rows, place, path: output.map(Path::to_owned) })
    }

    /// Writes a row.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        let written = self.write(cells);
        match &self.path {
            Some(path) => written.with_context(|| path.display().to_string()),
            None => written,
        }
    }

    fn write(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        match &mut self.rows {
            Rows::Json(out) => {
                let starts = std::iter::once("{\"").chain(std::iter::repeat(",\""));
                for ((start, (name, _)), cell) in starts.zip(&self.columns).zip(cells) {
                    write!(out, "{start}{name}\":")?;
                    cell.write(out)?;
                }
                out.write_all(b"}\n")?;
            }
            Rows::Tabs(out) => {
                for (i, cell) in cells.iter().enumerate() {
                    out.write_all(if i == 0 { b"" } else { b"\t" })?;
                    cell.write(out)?;
                }
                out.write_all(b"\n")?;
            }
            #[cfg(feature = "arrow")]
            Rows::Columns(columns) => columns.row(cells)?,
        }
        Ok(())
    }

    /// Ends the table.
    pub fn finish(self) -> anyhow::Result<()> {
        let ended = match self.rows {
            Rows::Json(mut out) | Rows::Tabs(mut out) => out.flush().map_err(anyhow::Error::from),
            #[cfg(feature = "arrow")]
            Rows::Columns(columns) => columns.finish(),
        };
        let named = ended.and_then(|()| Ok(self.place.map_or(Ok(()), Unfinished::finish)?));
        match self.path {
            Some(path) => named.with_context(|| path.display().to_string()),
            None => named,
        }
    }
}
