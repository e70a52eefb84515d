//! The extension module `dedup_stage._native`: signatures, joins and groups over Arrow tables, and the program itself.
//!
//! Tables come in through the Arrow PyCapsule interface. So pyarrow, polars, pandas, duckdb and others pass them
//! without a copy. Results go out through the same interface. All functions that take time release the interpreter's
//! lock.

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

/// Runs the program `dedup-stage` with these arguments and returns the exit code. The first argument is the program's
/// name.
#[pyfunction]
fn program(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| dedup_stage::commands::main_with(arguments))
}
