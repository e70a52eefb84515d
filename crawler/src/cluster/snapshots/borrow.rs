//! What the judge of a share begins with, where the stream of pages begins too late for it: that of another share. All judges
//! know the same, so a snapshot of any share serves.

use dedup_stage::store::{Space, Store};

use super::super::board::Board;
use super::super::connect::BrokerConnection;
use super::super::record::keys;
use super::super::shares::Muster;
use super::super::{ClusterError, Result, broker, pages};
use super::records::{commit_records, failed};
use super::restore::whole;
use super::{Folder, kept};
use crate::engine::PAGES_AT;
use crate::record::PageRecord;
use crate::spaces;

/// Whether pages that come after this place are gone from the stream.
pub async fn is_cut(cluster: &BrokerConnection, after: u64) -> Result<bool> {
    let what = "looking at the stream of pages";
    let stream = cluster.context.get_stream_no_info(pages::stream_of(cluster)).await.map_err(broker(what))?;
    let state = stream.get_info().await.map_err(broker(what))?.state;
    Ok(state.first_sequence > after + 1)
}

/// Why a worker without a folder of snapshots cannot join.
pub fn nameless() -> ClusterError {
    ClusterError::Usage("what was found so far is in snapshots: name their folder with --snapshots".into())
}

/// Puts what a judge knows into a state, from the newest whole snapshot there is. `folder` names those of a share.
///
/// # Errors
///
/// [`ClusterError::Usage`] where there is no folder, or nothing whole in it.
pub async fn borrow(board: &Board, folder: impl Fn(usize) -> Option<Folder>, disk: &mut impl Store) -> Result<()> {
    let shares = board.need::<Muster>(keys::MUSTER).await?.record.shares.len();
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

/// Commits the records of a snapshot that judges share, with their place in the stream of pages last.
fn read_judge(from: &mut dyn std::io::Read, disk: &mut impl Store) -> Result<()> {
    let is_place = |space: Space, key: &[u8]| space == Space::META && key == PAGES_AT;
    commit_records(from, disk, is_place, |space, value| {
        if space == spaces::PAGES {
            // That share's own pages are another's here.
            let page = PageRecord::decode(&value).map_err(failed)?;
            return Ok(page.seen_from_elsewhere().map(|value| (spaces::ELSEWHERE, value)));
        }
        let is_shared = space == spaces::ELSEWHERE || dedup_stage::spaces::JUDGE.contains(&space);
        Ok(is_shared.then_some((space, value)))
    })
}
