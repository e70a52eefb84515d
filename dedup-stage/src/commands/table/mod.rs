//! Tables as the commands on signature files write them: JSON Lines, tab-separated, Parquet or Arrow IPC.

#[cfg(feature = "arrow")]
mod columns;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::corpus::output::{place, temporary};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// An object a line
    Jsonl,
    /// A line of cells parted by tabs, without a head
    Tsv,
    /// Parquet; needs --output
    Parquet,
    /// Arrow IPC file; needs --output
    Arrow,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A document's id; integers where all of the corpus are.
    Id {
        /// Whether they are.
        integers: bool,
    },
    /// A number.
    Number,
    /// Yes or no.
    Bool,
    /// A small number, or nothing.
    Distance,
    /// A number of 0..1.
    Share,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// As JSON.
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
    /// As JSON; shares to three decimals, which is more than an estimate can promise.
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

/// A column: its name, and what it holds.
pub type Column = (&'static str, Kind);

/// A table under way. It has its name only when it is whole.
pub struct Table {
    columns: Vec<Column>,
    rows: Rows,
    /// The file to be, and where it is until then.
    place: Option<(PathBuf, PathBuf)>,
}

enum Rows {
    Json(Box<dyn Write>),
    Tabs(Box<dyn Write>),
    #[cfg(feature = "arrow")]
    Columns(Box<columns::Columns>),
}

impl Table {
    /// The format that was asked for, else what the name of the output says, else JSON Lines. Errors where the name says
    /// a format that is not written.
    pub fn format(asked: Option<TableFormat>, output: Option<&Path>) -> anyhow::Result<TableFormat> {
        let ending = output.and_then(|path| path.extension()?.to_str());
        Ok(match (asked, ending) {
            (Some(format), _) => format,
            (None, Some("tsv")) => TableFormat::Tsv,
            (None, Some("parquet")) => TableFormat::Parquet,
            (None, Some("arrow" | "feather")) => TableFormat::Arrow,
            (None, Some("csv")) => anyhow::bail!("csv is not written; say --format, or name the file .tsv or .jsonl"),
            (None, _) => TableFormat::Jsonl,
        })
    }

    /// Begins a table on stdout, or in a file. A device or a pipe is written to, and not replaced. Errors where the file
    /// cannot be made, or this program was built without the format.
    pub fn create(columns: Vec<Column>, format: TableFormat, output: Option<&Path>) -> anyhow::Result<Self> {
        let output = output.filter(|path| path.as_os_str() != "-");
        let special = output.filter(|path| path.exists() && !path.is_file() && !path.is_dir());
        let target = match output {
            Some(path) if special.is_none() => Some(place(path).with_context(|| path.display().to_string())?),
            _ => None,
        };
        let place = target.map(|path| (path.clone(), temporary(&path)));
        let out: Box<dyn Write> = match (&place, special) {
            (None, None) => Box::new(BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            (None, Some(path)) => {
                let file = File::options().write(true).open(path).with_context(|| path.display().to_string())?;
                Box::new(BufWriter::with_capacity(1 << 16, file))
            }
            (Some((_, part)), _) => {
                let file = File::create(part).with_context(|| part.display().to_string())?;
                Box::new(BufWriter::with_capacity(1 << 20, file))
            }
        };
        let rows = match format {
            TableFormat::Jsonl => Rows::Json(out),
            TableFormat::Tsv => Rows::Tabs(out),
            #[cfg(feature = "arrow")]
            TableFormat::Parquet | TableFormat::Arrow => {
                let (_, part) = place.as_ref().context("Parquet and Arrow need a regular file as --output")?;
                drop(out);
                Rows::Columns(Box::new(columns::Columns::create(&columns, format, part)?))
            }
            #[cfg(not(feature = "arrow"))]
            TableFormat::Parquet | TableFormat::Arrow => {
                drop(out);
                if let Some((_, part)) = &place {
                    // The error that matters is the other one.
                    let _ = std::fs::remove_file(part);
                }
                let name = if format == TableFormat::Parquet { "Parquet" } else { "Arrow" };
                return Err(crate::corpus::input::without_arrow(name).into());
            }
        };
        Ok(Self { columns, rows, place })
    }

    /// Writes a row.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
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
        match self.rows {
            Rows::Json(mut out) | Rows::Tabs(mut out) => out.flush()?,
            #[cfg(feature = "arrow")]
            Rows::Columns(columns) => columns.finish()?,
        }
        if let Some((path, part)) = self.place {
            std::fs::rename(&part, &path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}
