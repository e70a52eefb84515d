//! A table that Python programs take over through the Arrow PyCapsule interface.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyTable;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use std::sync::Arc;

/// An Arrow table. Give it to ``pyarrow.table``, ``polars.DataFrame``, ``duckdb`` or any other library that knows
/// ``__arrow_c_stream__``.
#[pyclass(module = "dedup_stage", frozen)]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// The table of one batch.
    pub fn of(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("<dedup_stage.Table of {} rows: {}>", self.__len__(), names.join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.schema.as_ref())?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = arrow_schema::Field::new_struct("", self.schema.fields().clone(), false);
        let arrays = self.batches.clone().into_iter().map(|batch| {
            let columns: arrow_array::StructArray = batch.into();
            Ok(Arc::new(columns) as arrow_array::ArrayRef)
        });
        Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, Arc::new(field))), requested_schema)?)
    }
}

/// The batches of a table that came from Python.
pub fn batches(table: PyTable) -> Vec<RecordBatch> {
    table.into_inner().0
}
