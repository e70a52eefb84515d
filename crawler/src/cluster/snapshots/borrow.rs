//! Takes the records of the judge from a snapshot of another share, for a new share whose part of the stream of pages
//! was cut. All judges know the same, so a snapshot of any share will do.

use dedup_stage::store::{Space, Store};

use super::super::board::Board;
use super::super::connect::BrokerConnection;
use super::super::record::keys;
use super::super::shares::Assignment;
use super::super::{ClusterError, Result, broker, pages};
use super::records::{commit_records, failed};
use super::restore::whole;
use super::{Folder, kept};
use crate::engine::PAGES_AT;
use crate::record::PageRecord;
use crate::spaces;

/// Whether messages of the stream of pages after this place have been dropped.
pub async fn is_cut(cluster: &BrokerConnection, after: u64) -> Result<bool> {
    let what = "looking at the stream of pages";
    let stream = cluster.context.get_stream_no_info(pages::stream_of(cluster)).await.map_err(broker(what))?;
    let state = stream.get_info().await.map_err(broker(what))?.state;
    Ok(state.first_sequence > after + 1)
}

/// The error of a worker that cannot join without a folder of snapshots.
pub fn nameless() -> ClusterError {
    ClusterError::Usage(
        "the earlier part of this crawl is stored in snapshots: name their folder with --snapshots".into(),
    )
}

/// Puts the records of the judge into a state, from the newest undamaged snapshot of any share. `folder` gives the
/// folder of a share.
///
/// # Errors
///
/// [`ClusterError::Usage`] if there is no folder, or no undamaged snapshot in it.
pub async fn borrow(board: &Board, folder: impl Fn(usize) -> Option<Folder>, disk: &mut impl Store) -> Result<()> {
    let shares = board.need::<Assignment>(keys::ASSIGNMENT).await?.record.shares.len();
    let mut all = Vec::new();
    for share in 0..shares {
        let folder = folder(share).ok_or_else(nameless)?;
        let newest = kept(board, share).await?.newest_first().next().cloned();
        all.extend(newest.map(|entry| (entry, folder)));
    }
    all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.places.pages));
    for (entry, folder) in all {
        match whole(&folder, &entry) {
            Ok(manifest) => {
                read_judge(&mut folder.read(&manifest.state)?, disk)?;
                return Ok(());
            }
            Err(error) => tracing::warn!("a snapshot cannot be used: {error}"),
        }
    }
    Err(ClusterError::Usage("the folder of --snapshots has no whole snapshot of any share".into()))
}

/// Commits the records of a snapshot that all judges share. Their place in the stream of pages comes last.
fn read_judge(from: &mut dyn std::io::Read, disk: &mut impl Store) -> Result<()> {
    let is_place = |space: Space, key: &[u8]| space == Space::META && key == PAGES_AT;
    commit_records(from, disk, is_place, |space, value| {
        if space == spaces::PAGES {
            // The pages of that share are pages of another worker here.
            let page = PageRecord::decode(&value).map_err(failed)?;
            return Ok(page.seen_from_elsewhere().map(|value| (spaces::ELSEWHERE, value)));
        }
        let is_shared = space == spaces::ELSEWHERE || dedup_stage::spaces::JUDGE.contains(&space);
        Ok(is_shared.then_some((space, value)))
    })
}
