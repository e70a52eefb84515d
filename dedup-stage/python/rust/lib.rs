//! The extension module `dedup_stage._native`: signatures, joins and groups over Arrow tables, and the program itself.
//!
//! Tables come in through the Arrow PyCapsule interface, so from pyarrow, polars, pandas, duckdb and others without a
//! copy, and go out through the same. Whatever takes time releases the interpreter's lock.

mod corpora;
mod pages;
mod table;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(corpora::signatures, module)?)?;
    module.add_function(wrap_pyfunction!(corpora::near_duplicates, module)?)?;
    module.add_function(wrap_pyfunction!(corpora::clusters, module)?)?;
    module.add_function(wrap_pyfunction!(pages::requests, module)?)?;
    module.add_function(wrap_pyfunction!(pages::answers, module)?)?;
    module.add_function(wrap_pyfunction!(program, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}

/// Runs the program `dedup-stage` with these arguments, the first of which is its name; returns the exit code.
#[pyfunction]
fn program(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| dedup_stage::commands::main_with(arguments))
}
