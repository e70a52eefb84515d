//! Examines the directory of a crawl that was killed or has ended: the stage at which it was killed, and whether state
//! and archive are sound.

use std::fs;
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use crawler::crawl::CrawlDir;
use crawler::series::Series;
use dedup_stage::warc::read::{Piece, Reader};

use super::blow::KillPoint;
use super::files::{OUTPUTS, copy, journals, log_of};
use crate::crawl::lines;
use crate::power;
use crate::sound::sound;

/// The state of a crawl directory after a kill.
#[derive(Debug)]
pub(super) struct Left {
    /// The time from the start of the process to the kill.
    pub(super) after: Duration,
    pub(super) point: KillPoint,
    /// The number of bytes in the outputs beyond the lengths in the state.
    pub(super) ahead: u64,
    /// The findings of `crawler check`, if there are any.
    pub(super) unsound: Option<anyhow::Error>,
}

/// Examines the directory of a crawl that was killed. Opening the state would repair its end, so a copy is opened.
pub(super) fn left(dir: &Path, after: Duration) -> anyhow::Result<Left> {
    if !CrawlDir::is_at(dir) {
        return Ok(Left { after, point: KillPoint::Start, ahead: 0, unsound: None });
    }
    let durable = power::durable(&log_of(dir));
    let mut torn = false;
    for path in journals(dir) {
        let safe = durable.get(&fs::metadata(&path)?.ino()).map_or(0, |durable| durable.end);
        torn |= power::written(&path)? > safe;
    }
    let copied = dir.with_extension("look");
    copy(dir, &copied)?;
    let looked = CrawlDir::open(&copied).map_err(anyhow::Error::from).and_then(|mut look| {
        let vouched = look.lengths()?;
        Ok((vouched, sound(&mut look).err()))
    });
    fs::remove_dir_all(&copied)?;
    let (vouched, unsound) = match looked {
        Ok(found) => found,
        // The state is damaged, and the crawl was killed before it could say so.
        Err(damage) => return Ok(Left { after, point: KillPoint::Quiet, ahead: 0, unsound: Some(damage) }),
    };
    let mut ahead = 0;
    for name in OUTPUTS {
        ahead += Series::open(dir, name)?.end().saturating_sub(vouched.get(name).copied().unwrap_or(0));
    }
    let point = match (torn, ahead) {
        (true, _) => KillPoint::Journal,
        (false, 0) => KillPoint::Quiet,
        (false, _) if vouched.is_empty() => KillPoint::Start,
        (false, _) => KillPoint::Outputs,
    };
    Ok(Left { after, point, ahead, unsound })
}

/// Checks that the archive can be read to its end, and that it has a response and an index line for each page that was
/// answered.
pub(super) fn check_archive(dir: &Path) -> anyhow::Result<()> {
    if !dir.join("warc").exists() {
        return Ok(());
    }
    let answered = lines(dir, "pages.jsonl")?.iter().filter(|page| page["status"].is_u64()).count();
    let mut records = 0;
    for file in power::files(&dir.join("warc"))?.iter().filter(|file| file.extension().is_some_and(|end| end == "gz")) {
        let mut reader = Reader::new(BufReader::new(fs::File::open(file)?), u64::MAX);
        while let Some(piece) = reader.piece()? {
            records +=
                usize::from(matches!(piece, Piece::Record(record) if matches!(record.kind(), "response" | "revisit")));
        }
    }
    let index = fs::read_to_string(dir.join("warc/index.cdxj"))?.lines().count();
    ensure!(records == answered && index == answered, "{answered} pages, {records} records, {index} in the index");
    Ok(())
}
