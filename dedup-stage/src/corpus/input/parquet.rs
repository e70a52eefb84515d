//! The rows of Parquet files.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::arrow::{guarded, wanted};
use super::{Bad, Fields, Piece};

/// The batches of a file. Only the columns that are needed are read. If a row group is damaged, the rows that are
/// missing are named, and the next group is read. Errors if the file cannot be read, or no column has the documents.
pub fn batches(path: &Path, fields: &Fields) -> io::Result<Box<dyn Iterator<Item = Piece> + Send>> {
    let file = File::open(path)?;
    let damaged = |error: ParquetError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    let metadata = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(damaged))?;
    let columns = ProjectionMask::roots(metadata.parquet_schema(), wanted(metadata.schema(), fields)?);
    Ok(Box::new(Groups { file, metadata, columns, next: 0, group: None, row: 0, end: 0 }))
}

/// Reads one row group after the other.
struct Groups {
    file: File,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    /// The number of the next group.
    next: usize,
    group: Option<ParquetRecordBatchReader>,
    /// The number of the next row, and of the first row behind the group.
    row: u64,
    end: u64,
}

impl Groups {
    /// The most rows of a piece.
    const ROWS: usize = 1024;

    fn open(&self, group: usize) -> io::Result<ParquetRecordBatchReader> {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone());
        let reader =
            builder.with_row_groups(vec![group]).with_projection(self.columns.clone()).with_batch_size(Self::ROWS);
        guarded(|| reader.build().map_err(io::Error::other))
    }

    /// Names the rest of the group.
    fn bad(&mut self, error: &dyn std::fmt::Display) -> Piece {
        self.group = None;
        let place = format!("rows {} to {}", self.row, self.end.max(self.row + 1) - 1);
        Piece::Bad(Bad { place, what: error.to_string() })
    }
}

impl Iterator for Groups {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let next =
                |group: &mut ParquetRecordBatchReader| guarded(|| group.next().transpose().map_err(io::Error::other));
            match self.group.as_mut().map(next) {
                Some(Ok(Some(batch))) => {
                    let first = self.row;
                    self.row += batch.num_rows() as u64;
                    return Some(Piece::Batch(first, batch));
                }
                // The reader would give the same error again and again.
                Some(Err(error)) => return Some(self.bad(&error)),
                Some(Ok(None)) if self.row < self.end => return Some(self.bad(&"the rows are missing")),
                Some(Ok(None)) | None => {}
            }
            let group = self.next;
            let rows = self.metadata.metadata().row_groups().get(group)?.num_rows();
            self.next += 1;
            self.row = self.end;
            self.end += u64::try_from(rows).unwrap_or(0);
            match self.open(group) {
                Ok(reader) => self.group = Some(reader),
                Err(error) => return Some(self.bad(&error)),
            }
        }
    }
}
