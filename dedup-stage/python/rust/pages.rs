//! Turns the pages of a table into lines of the protocol, and the answers into a table, for `dedup_stage.Stage`.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float32Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use serde_json::{Value, json};

use crate::table::{Table, batches};

/// A line of the protocol for each row: ``url`` and ``body`` are required, ``content_type`` and ``status`` are not.
#[pyfunction]
pub fn requests(py: Python<'_>, table: PyTable) -> PyResult<Vec<Vec<u8>>> {
    py.detach(|| {
        let mut lines = Vec::new();
        for batch in batches(table) {
            rows(&batch, &mut lines).map_err(PyValueError::new_err)?;
        }
        Ok(lines)
    })
}

fn rows(batch: &RecordBatch, lines: &mut Vec<Vec<u8>>) -> Result<(), String> {
    let column = |name: &str, kind: DataType| {
        let column = batch.column_by_name(name);
        column.map(|column| arrow_cast::cast(column, &kind).map_err(|error| format!("column {name:?}: {error}"))).transpose()
    };
    let url = column("url", DataType::Utf8)?.ok_or("no column \"url\"")?;
    let (types, statuses) = (column("content_type", DataType::Utf8)?, column("status", DataType::Int64)?);
    let body = batch.column_by_name("body").ok_or("no column \"body\"")?;
    let is_bytes = matches!(body.data_type(), DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    let body = column("body", if is_bytes { DataType::LargeBinary } else { DataType::LargeUtf8 })?.ok_or("no column \"body\"")?;
    for i in 0..batch.num_rows() {
        let mut page = json!({ "url": url.as_string::<i32>().value(i) });
        if is_bytes {
            page["body_base64"] = base64(body.as_binary::<i64>().value(i)).into();
        } else {
            page["body"] = body.as_string::<i64>().value(i).into();
        }
        if let Some(kind) = types.as_ref().filter(|types| types.is_valid(i)) {
            page["content_type"] = kind.as_string::<i32>().value(i).into();
        }
        if let Some(status) = statuses.as_ref().filter(|statuses| statuses.is_valid(i)) {
            page["status"] = status.as_primitive::<arrow_array::types::Int64Type>().value(i).into();
        }
        lines.push(format!("{page}\n").into_bytes());
    }
    Ok(())
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The answers (lines of JSON) as a table: ``url``, ``key``, ``verdict``, ``duplicate_of``, ``distance``,
/// ``resemblance``, ``novelty``, ``sha256``, ``simhash``, ``links`` (as JSON).
#[pyfunction]
pub fn answers(py: Python<'_>, lines: Vec<Vec<u8>>) -> PyResult<Table> {
    py.detach(|| {
        let mut texts: Vec<StringBuilder> = TEXTS.iter().map(|_| StringBuilder::new()).collect();
        let (mut distances, mut resemblances, mut novelties) = (Vec::new(), Vec::new(), Vec::new());
        let mut links = StringBuilder::new();
        for line in lines {
            let answer: Value =
                serde_json::from_slice(&line).map_err(|error| PyValueError::new_err(error.to_string()))?;
            for (name, texts) in TEXTS.iter().zip(&mut texts) {
                texts.append_option(answer[*name].as_str());
            }
            links.append_value(answer["links"].to_string());
            distances.push(answer["distance"].as_u64().map(|distance| distance as u32));
            let share = |name: &str| answer[name].as_f64().map(|share| share as f32);
            resemblances.push(share("resemblance"));
            novelties.push(share("novelty"));
        }
        let mut columns: Vec<(&str, ArrayRef)> =
            TEXTS.iter().zip(&mut texts).map(|(name, texts)| (*name, Arc::new(texts.finish()) as ArrayRef)).collect();
        columns.push(("distance", Arc::new(UInt32Array::from(distances))));
        columns.push(("resemblance", Arc::new(Float32Array::from(resemblances))));
        columns.push(("novelty", Arc::new(Float32Array::from(novelties))));
        columns.push(("links", Arc::new(links.finish())));
        let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect());
        batch.map(Table::of).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// The fields of an answer that are strings or null.
const TEXTS: [&str; 6] = ["url", "key", "verdict", "duplicate_of", "sha256", "simhash"];
