//! Sorts a file of lines bytewise, in place, in bounded memory. It sorts runs of lines, and merges them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;

/// The number of bytes of lines in memory.
const RUN: usize = 32 << 20;

/// Sorts the lines of `path` as `LC_ALL=C sort` does. The file is replaced as a whole when the sorted file is durable.
/// A file that is already sorted is not changed.
pub fn sort_lines(path: &Path) -> io::Result<()> {
    sort_in_runs(path, RUN)
}

fn sort_in_runs(path: &Path, run: usize) -> io::Result<()> {
    if is_sorted(path)? {
        return Ok(());
    }
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut input = BufReader::new(File::open(path)?);
    let mut runs = Vec::new();
    loop {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while bytes < run
            && let Some(line) = next(&mut input)?
        {
            bytes += line.len();
            lines.push(line);
        }
        if lines.is_empty() {
            break;
        }
        lines.sort_unstable();
        let mut file = BufWriter::new(tempfile(folder)?);
        for line in &lines {
            file.write_all(line)?;
        }
        let mut file = file.into_inner()?;
        file.rewind()?;
        runs.push(BufReader::new(file));
    }
    let sorted = path.with_extension("sorted");
    let mut out = BufWriter::new(File::create(&sorted)?);
    let mut heads = BinaryHeap::new();
    for (number, run) in runs.iter_mut().enumerate() {
        heads.extend(next(run)?.map(|line| Reverse((line, number))));
    }
    while let Some(Reverse((line, number))) = heads.pop() {
        out.write_all(&line)?;
        heads.extend(next(&mut runs[number])?.map(|line| Reverse((line, number))));
    }
    out.into_inner()?.sync_all()?;
    std::fs::rename(&sorted, path)?;
    File::open(folder)?.sync_all()
}

fn is_sorted(path: &Path) -> io::Result<bool> {
    let mut input = BufReader::new(File::open(path)?);
    let mut last = Vec::new();
    while let Some(line) = next(&mut input)? {
        if line < last {
            return Ok(false);
        }
        last = line;
    }
    Ok(true)
}

/// The next line, with its line feed.
fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    Ok((input.read_until(b'\n', &mut line)? > 0).then_some(line))
}

/// A file without a name. So it never remains on the disk.
fn tempfile(folder: &Path) -> io::Result<File> {
    let path = folder.join("index.run");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_sorted_in_runs_of_any_size(lines in proptest::collection::vec("[a-c]{0,4}", 0..60), run in 1..80usize) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("index.cdxj");
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(&path, text).unwrap();
            sort_in_runs(&path, run).unwrap();
            let mut expected = lines;
            expected.sort_unstable();
            let expected: String = expected.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
        }
    }
}
