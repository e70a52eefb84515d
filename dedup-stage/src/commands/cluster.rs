//! `dedup-stage cluster`: groups of near-duplicates, and which document of each is kept.

mod found;
mod groups;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::equal_ids;
use super::progress::Progress;
use super::rows;
use super::say::say;
use super::signed::{self, Looking};
use super::table::{Cell, Kind, Table, TableFormat};
use crate::corpus::cluster::{Documents, Forest, JoinedForest, Keep, List, Member, complete};
use crate::corpus::join::{Edge, EdgeFile, EdgeWriter, NearCriterion, Nodes};
use crate::corpus::output::write;
use crate::corpus::{Error, Signatures};
use crate::hamming::cluster::Link;

/// Arguments of `dedup-stage cluster`.
///
/// Signature files give JSON Lines {"id","cluster","representative","keep","distance","resemblance"}, in the order of
/// the input. Distance and resemblance are those to the representative. `--edges` names files of edges that
/// `dedup-stage pairs --edges` found. They may be larger than memory. Without `--edges`, the edges are found first;
/// documents that are in one group already are not compared. With `--link complete`, the members of each such group
/// are then compared with each other.
///
/// Raw fingerprints, or JSON Lines with a `simhash` in each, give one JSON object for each group of at least two, in
/// the order of their first rows: {"size","diameter","rows"}, and for JSON Lines also "urls". The diameter is the
/// largest distance between two members. Rows are counted from 0.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Signature files; or one fingerprint file, or JSON Lines with a `simhash` in each (other lines belong to no
    /// group)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    looking: Looking,
    /// What makes a group
    #[arg(long, value_enum, default_value_t = Linkage::Single)]
    link: Linkage,
    /// Which document of a group is kept [default: first]
    #[arg(long, value_enum)]
    keep: Option<Keep>,
    /// Which documents are listed [default: clusters]
    #[arg(long, value_enum)]
    list: Option<List>,
    /// Files of edges or forests that are joined (from `pairs --edges` or `cluster --forest`). Each names its signature
    /// files
    #[arg(long, value_name = "EDGES", num_args = 1..)]
    edges: Vec<PathBuf>,
    /// Write a forest instead of the groups: a file of edges, at most one for each document, for another --edges
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    forest: Option<PathBuf>,
    /// How documents are written [default: by the name of --output, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    /// File that documents are written to [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What makes a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Linkage {
    /// Each is near at least one other: connected components
    Single,
    /// Each is near all others: filled greedily, in the order of the input
    Complete,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent(args.files.iter().chain(&args.edges)) {
        return Ok(wrong);
    }
    let paths: Vec<&PathBuf> = args.files.iter().collect();
    if signed::are_signatures(&paths)? {
        return of_signatures(&args);
    }
    let link = if args.link == Linkage::Single { Link::Single } else { Link::Complete };
    let distance = match args.looking.of_raw() {
        Ok(_) if args.files.len() > 1 => return Ok(rows::wrong_usage(&"several files must be signature files")),
        Ok(_) if !args.edges.is_empty() || args.forest.is_some() || args.output.is_some() => {
            return Ok(rows::wrong_usage(&"--edges, --forest and --output are for signature files"));
        }
        Ok(_) if args.keep.is_some() || args.list.is_some() || args.format.is_some() => {
            return Ok(rows::wrong_usage(&"--keep, --list and --format are for signature files"));
        }
        Ok(distance) => distance,
        Err(what) => return Ok(rows::wrong_usage(&what)),
    };
    groups::run(&args.files[0], distance, link, args.looking.threads())
}

fn of_signatures(args: &Args) -> anyhow::Result<ExitCode> {
    if args.forest.is_some() && args.link == Linkage::Complete {
        return Ok(rows::wrong_usage(&"a forest says nothing of complete links"));
    }
    if args.forest.is_some() && (args.keep.is_some() || args.list.is_some() || args.format.is_some()) {
        return Ok(rows::wrong_usage(&"--keep, --list and --format are for groups, and --forest writes no groups"));
    }
    let inputs = args.files.iter().chain(&args.edges).map(PathBuf::as_path);
    let output = args.output.as_deref().or(args.forest.as_deref());
    if let Some(wrong) = rows::refuse_replacing(output, inputs) {
        return Ok(wrong);
    }
    let start = Instant::now();
    if let Some(repeated) = signed::repeated(&args.files) {
        return Ok(rows::wrong_usage(&format_args!("{} is named twice", repeated.display())));
    }
    let files = signed::open(&args.files)?;
    let nodes = Nodes::of(args.files.iter().map(PathBuf::as_path).zip(&files));
    let (criterion, compared) = match found_by(args, &nodes)? {
        Ok(found) => found,
        Err(what) => return Ok(rows::wrong_usage(&what)),
    };
    let documents = Documents::new(&files);
    let (mut groups, edges) = groups_of(args, &files, &nodes, criterion)?;
    if let Some(path) = &args.forest {
        write(path, |file| {
            let mut writer = EdgeWriter::forest(file, &nodes, criterion, compared)?;
            for (a, b) in groups.edges() {
                writer.push(&Edge { a, b, distance: 0, resemblance: 1.0, same: false })?;
            }
            writer.finish()
        })?;
        let (edges, documents) = (rows::count(edges, "edge"), rows::count(nodes.len(), "document"));
        say!("joined {edges} of {documents} in {:.1} s", start.elapsed().as_secs_f64());
        return Ok(ExitCode::SUCCESS);
    }
    equal_ids::warn(&args.files, &files)?;
    let columns = vec![
        ("id", signed::id_kind(&files)),
        ("cluster", Kind::Number),
        ("representative", signed::id_kind(&files)),
        ("keep", Kind::Bool),
        ("distance", Kind::Distance),
        ("resemblance", Kind::Share),
    ];
    let output = args.output.as_deref();
    let (keep, list) = (args.keep.unwrap_or_default(), args.list.unwrap_or(List::Clusters));
    let mut table = Table::create(columns, Table::format(args.format, output)?, output)?;
    let (mut listed, mut failure) = (0u64, None);
    let result = documents.members(&mut groups, keep, list, &mut |member: Member<'_>| {
        listed += 1;
        let cells = [
            Cell::Id(member.id),
            Cell::Number(member.cluster),
            Cell::Id(member.representative),
            Cell::Bool(member.keep),
            Cell::Distance(member.distance),
            Cell::Share(member.resemblance),
        ];
        table.row(&cells).map_err(|error| {
            failure = Some(error);
            Error::Damaged("the table cannot be written".into())
        })
    });
    if let Some(error) = failure {
        return Err(error);
    }
    result?;
    table.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    let (edges, documents) = (rows::count(edges, "edge"), rows::count(nodes.len(), "document"));
    say!("joined {edges} of {documents}, listed {listed}, in {seconds:.1} s");
    Ok(ExitCode::SUCCESS)
}

/// Pairs of files, as their numbers.
type Pairs = BTreeSet<(usize, usize)>;

/// The criterion by which the edges that are joined were found, and the pairs of files that were compared. Warns if
/// signature files were not compared. The inner `Err` says what is wrong with the command line.
fn found_by(args: &Args, nodes: &Nodes) -> Result<Result<(NearCriterion, Pairs), String>, Error> {
    let mut criterion: Option<NearCriterion> = None;
    let mut compared = Pairs::new();
    for path in &args.edges {
        let (file, name) = (EdgeFile::open(path)?, path.display());
        let found = file.criterion();
        let asked = args.looking.criterion();
        // If the user gives a distance, candidates are found by fingerprint only.
        let other_distance =
            args.looking.distance.is_some() && (asked.distance, asked.pieces) != (found.distance, found.pieces);
        if other_distance || !asked.look && found.look || criterion.is_some_and(|before| before != found) {
            let look = match (found.look, found.pieces) {
                (true, true) => "and by near sketches, with the second look",
                (true, false) => "with the second look",
                (false, _) => "by fingerprints only",
            };
            return Ok(Err(format!(
                "the edges in {name} were found at distance {}, {look}: that is not what was asked for, or not as the \
                 others were found",
                found.distance
            )));
        }
        criterion = Some(found);
        compared.extend(file.compared(nodes));
    }
    let files = args.files.len();
    let all: Pairs = (0..files).flat_map(|i| (i..files).map(move |j| (i, j))).collect();
    let Some(criterion) = criterion else { return Ok(Ok((args.looking.criterion(), all))) };
    for &(i, j) in all.difference(&compared) {
        let other = if i == j { "itself".into() } else { args.files[j].display().to_string() };
        say!("warning: no file of edges compares {} with {other}", args.files[i].display());
    }
    Ok(Ok((criterion, compared)))
}

/// The groups of all documents, and the number of edges that were joined. Edges that are found now and lie within a
/// group are not counted.
fn groups_of(
    args: &Args,
    files: &[Signatures],
    nodes: &Nodes,
    criterion: NearCriterion,
) -> anyhow::Result<(Forest, u64)> {
    let how = (criterion, args.looking.effort());
    let (mut forest, edges) = if args.edges.is_empty() {
        let forest = JoinedForest::new(nodes.len());
        found::find(files, nodes, how, &forest);
        signed::say_uncompared(forest.left_out());
        let joins = forest.joins();
        (forest.into_forest(), joins)
    } else {
        let (mut forest, mut edges) = (Forest::new(nodes.len()), 0);
        for path in &args.edges {
            EdgeFile::open(path)?.read(nodes, &mut |edge| {
                edges += 1;
                forest.join(edge.a, edge.b);
            })?;
        }
        (forest, edges)
    };
    if args.link == Linkage::Complete {
        let progress = Progress::new("groups", nodes.len() as usize, "documents");
        let threads = args.looking.threads();
        forest = complete(Documents::new(files), &mut forest, criterion, threads, &|share| progress.add(share));
    }
    Ok((forest, edges))
}
