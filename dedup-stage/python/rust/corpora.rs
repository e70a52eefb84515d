//! Signatures, near-duplicates and groups, as functions for Python.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{Field, Schema};
use dedup_stage::corpus::cluster::{Documents, Forest, JoinedForest, Keep, List, complete};
use dedup_stage::corpus::input::Fields;
use dedup_stage::corpus::input::arrow::wanted;
use dedup_stage::corpus::join::{Edge, Effort, NearCriterion, collect, join, with_copies};
use dedup_stage::corpus::{Signatures, tables};
use pyo3::exceptions::{PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::table::{Table, batches};

/// An argument of a function: a table of signatures, or the path of a signature file.
#[derive(FromPyObject)]
pub enum Given {
    Path(PathBuf),
    Table(PyTable),
}

/// The signature of every row of a table of documents.
///
/// ``table`` has a column ``text``, or ``body`` with HTML, and may have columns ``id``, ``url`` and ``date``. The
/// keyword arguments name other columns for these. Rows without a text are left out. A warning counts the dates that
/// cannot be read; their documents have none.
#[pyfunction]
#[pyo3(signature = (table, *, text="text", body="body", id="id", url="url", date="date", threads=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn signatures(
    py: Python<'_>,
    table: PyTable,
    text: &str,
    body: &str,
    id: &str,
    url: &str,
    date: &str,
    threads: Option<usize>,
) -> PyResult<Table> {
    let fields = Fields { id: id.into(), text: text.into(), body: body.into(), url: url.into(), date: date.into() };
    let batches = batches(table);
    if let Some(batch) = batches.first() {
        wanted(batch.schema_ref(), &fields).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let (batch, unread) = py.detach(|| {
        let signed = tables::sign(&batches, &fields, cores(threads));
        (tables::to_batch(&signed.records), signed.unread_dates)
    });
    if unread > 0 {
        let what = format!("documents with a date that cannot be read: {unread}; they have none");
        let what = CString::new(what).expect("a number has no zero byte");
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &what, 1)?;
    }
    Ok(Table::of(batch.map_err(value_error)?))
}

/// All near-duplicates within ``a``, or between ``a`` and ``b``: tables of signatures, or paths of signature files.
///
/// With a ``distance``, only documents whose fingerprints lie within it are compared. Without one, it is 7, and
/// documents with near sketches are compared, too.
#[pyfunction]
#[pyo3(signature = (a, b=None, *, distance=None, look=true, threads=None))]
pub fn near_duplicates(
    py: Python<'_>,
    a: Given,
    b: Option<Given>,
    distance: Option<u32>,
    look: bool,
    threads: Option<usize>,
) -> PyResult<Table> {
    let criterion = criterion(distance, look)?;
    py.detach(|| {
        let (a, b) = (open(a)?, b.map(open).transpose()?);
        let other = b.as_ref().unwrap_or(&a);
        let edges = collect(&a, b.as_ref(), criterion, effort(threads), &|_| {});
        let mut edges = if b.is_some() { with_copies(&a, criterion, edges) } else { edges };
        let place = |edge: &Edge| (a.places()[edge.a as usize], other.places()[edge.b as usize]);
        if b.is_none() {
            for edge in &mut edges {
                let (x, y) = place(edge);
                if y < x {
                    (edge.a, edge.b) = (edge.b, edge.a);
                }
            }
        }
        edges.sort_unstable_by_key(place);
        let ids = |rows: &mut dyn Iterator<Item = (&Signatures, u64)>| -> PyResult<ArrayRef> {
            let ids: Result<Vec<&str>, _> = rows.map(|(file, row)| file.id(row)).collect();
            Ok(tables::id_column(&ids.map_err(os_error)?))
        };
        table([
            ("a", ids(&mut edges.iter().map(|edge| (&a, edge.a)))?, false),
            ("b", ids(&mut edges.iter().map(|edge| (other, edge.b)))?, false),
            ("distance", Arc::new(UInt32Array::from_iter_values(edges.iter().map(|edge| edge.distance))), false),
            ("resemblance", Arc::new(Float32Array::from_iter_values(edges.iter().map(|edge| edge.resemblance))), false),
        ])
    })
}

/// The groups of near-duplicates in a table of signatures or a signature file, and which document of each group is
/// kept. ``edges`` are the near-duplicates, if they are known already: ids in columns ``a`` and ``b``. With
/// ``link="complete"``, the members of a group are compared with each other by ``distance`` and ``look``.
#[pyfunction]
#[pyo3(signature = (signatures, *, edges=None, distance=None, look=true, link="single", keep="first", list="all", threads=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn clusters(
    py: Python<'_>,
    signatures: Given,
    edges: Option<PyTable>,
    distance: Option<u32>,
    look: bool,
    link: &str,
    keep: &str,
    list: &str,
    threads: Option<usize>,
) -> PyResult<Table> {
    let criterion = criterion(distance, look)?;
    let single = match link {
        "single" => true,
        "complete" => false,
        _ => return Err(unknown("link", link, "single, complete")),
    };
    let keep = match keep {
        "first" => Keep::First,
        "longest" => Keep::Longest,
        "earliest" => Keep::Earliest,
        "smallest-url" => Keep::SmallestUrl,
        _ => return Err(unknown("keep", keep, "first, longest, earliest, smallest-url")),
    };
    let list = match list {
        "all" => List::All,
        "clusters" => List::Clusters,
        "kept" => List::Kept,
        "dropped" => List::Dropped,
        _ => return Err(unknown("list", list, "all, clusters, kept, dropped")),
    };
    py.detach(|| {
        let files = [open(signatures)?];
        let documents = Documents::new(&files);
        let file = &files[0];
        let edges =
            edges.map(|edges| tables::edges(file, &batches(edges)).map_err(PyValueError::new_err)).transpose()?;
        let mut groups = match edges {
            // No edge is held in memory: of a large group there may be as many as the square of its size.
            None => {
                let forest = JoinedForest::new(file.rows());
                join(file, None, criterion, effort(threads), &forest, &|_| {});
                forest.into_forest()
            }
            Some(edges) => {
                let mut forest = Forest::new(file.rows());
                edges.iter().for_each(|edge| forest.join(edge.a, edge.b));
                forest
            }
        };
        if !single {
            groups = complete(documents, &mut groups, criterion, effort(threads).threads, &|_| {});
        }
        let (mut ids, mut representatives) = (Vec::new(), Vec::new());
        let (mut numbers, mut kept, mut distances, mut shares) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let listed = documents.members(&mut groups, keep, list, &mut |member| {
            ids.push(member.id.to_owned());
            representatives.push(member.representative.to_owned());
            numbers.push(member.cluster);
            kept.push(member.keep);
            distances.push(member.distance);
            shares.push(member.resemblance);
            Ok(())
        });
        listed.map_err(os_error)?;
        let column = |ids: &[String]| tables::id_column(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        table([
            ("id", column(&ids), false),
            ("cluster", Arc::new(UInt64Array::from(numbers)), false),
            ("representative", column(&representatives), false),
            ("keep", Arc::new(BooleanArray::from(kept)), false),
            ("distance", Arc::new(UInt32Array::from(distances)), true),
            ("resemblance", Arc::new(Float32Array::from(shares)), false),
        ])
    })
}

fn open(given: Given) -> PyResult<Signatures> {
    match given {
        Given::Path(path) => {
            let file = Signatures::open(&path).and_then(|file| file.check().map(|()| file));
            file.map_err(|error| os_error(error.about(&path)))
        }
        Given::Table(table) => {
            let records = tables::of_batches(&batches(table)).map_err(PyValueError::new_err)?;
            Signatures::of(records).map_err(os_error)
        }
    }
}

fn table<const N: usize>(columns: [(&str, ArrayRef, bool); N]) -> PyResult<Table> {
    let field =
        |(name, column, nullable): &(&str, ArrayRef, bool)| Field::new(*name, column.data_type().clone(), *nullable);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let columns = columns.into_iter().map(|(_, column, _)| column).collect();
    RecordBatch::try_new(schema, columns).map(Table::of).map_err(value_error)
}

fn criterion(distance: Option<u32>, look: bool) -> PyResult<NearCriterion> {
    if distance > Some(64) {
        return Err(PyValueError::new_err("distance is at most 64"));
    }
    Ok(NearCriterion::new(distance, look))
}

fn effort(threads: Option<usize>) -> Effort {
    Effort { threads: cores(threads), block: Effort::BLOCK }
}

fn cores(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

fn unknown(what: &str, given: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what} is {given:?}; known are {known}"))
}

fn os_error(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
