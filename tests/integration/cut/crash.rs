//! A cut that is interrupted, or that is requested where it cannot be made.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use crawler::clock::Clock;
use crawler::crawl::{CrawlDir, CutError, OpenError};
use crawler::engine::{self, Nobody};
use crawler::spaces::of_crawl;
use dedup_stage::store::{Double, Fault, Session, Space};
use dedup_stage::url::Sites;
use tests::sound::{Shared, sound};
use url::Url;

use super::web::{name, web};
use super::{START, copy_dir, settings_of};

/// A half-finished crawl, with its state in a store that the test can read.
fn half_way(dir: &Path) -> anyhow::Result<(Double, Sites)> {
    let (clock, store) = (Clock::at(START), Double::default());
    let (_keep, control) = crossbeam_channel::unbounded();
    let settings = settings_of(&[("limits.max-pages", "150")])?;
    let session = Session::new(Box::new(store.clone()));
    let seeds = vec![format!("http://{}/", name(0)).parse()?];
    let parts = CrawlDir::with_session(dir, session)?.start(&settings, seeds, clock.clone(), control)?;
    engine::run(parts, web(&clock, false), &mut Nobody)?;
    let keys = open(dir, &store)?.keys()?;
    let hosts = [1, 3, 5].map(|host| Url::parse(&format!("http://{}/", name(host))).map(|url| keys.site(&url)));
    Ok((store, Sites::of(hosts.into_iter().collect::<Result<Vec<_>, _>>()?)))
}

fn open(dir: &Path, store: &Double) -> Result<CrawlDir, OpenError> {
    CrawlDir::with_session(dir, Shared::new(store.clone()).session())
}

/// Values by space and key.
type Contents = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// The contents of a state, without the records about the cut and about commits.
fn contents(store: &Double) -> anyhow::Result<Contents> {
    let (session, mut all) = (Session::new(Box::new(store.clone())), BTreeMap::new());
    for space in of_crawl().iter().filter(|space| *space != Space::META) {
        session.scan(space, &[], &[], &mut |key, value| {
            all.insert((space.name(), key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        })?;
    }
    Ok(all)
}

/// A copy of the state in a store of its own.
fn twin(store: &Double) -> anyhow::Result<Double> {
    let (twin, from) = (Double::default(), Session::new(Box::new(store.clone())));
    let mut to = Session::new(Box::new(twin.clone()));
    for space in of_crawl().iter() {
        from.scan(space, &[], &[], &mut |key, value| {
            to.put(space, key, value);
            ControlFlow::Continue(())
        })?;
    }
    to.commit()?;
    Ok(twin)
}

#[test]
fn after_a_crash_at_any_commit_of_either_state_the_same_call_goes_on() -> anyhow::Result<()> {
    let (a, b) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (half, sites) = half_way(a.path())?;
    let undisturbed = [twin(&half)?, Double::default()];
    let commits = undisturbed.each_ref().map(|store| store.commits().0);
    let copied = open(a.path(), &undisturbed[0])?.cut(&sites, &mut open(b.path(), &undisturbed[1])?)?;
    assert!(copied > 200, "{copied} entries");
    let commits = [0, 1].map(|at| undisturbed[at].commits().0 - commits[at]);
    let want = [contents(&undisturbed[0])?, contents(&undisturbed[1])?];
    let mut refused = [0, 0];
    for fault in [Fault::Refuse, Fault::Forget] {
        for (at, commits) in commits.into_iter().enumerate() {
            assert!(commits > 5, "there is more than a beginning and an end: {commits}");
            for commit in 0..commits {
                let stores = [twin(&half)?, Double::default()];
                stores[at].fail_behind(commit, fault);
                let failed = open(a.path(), &stores[0])?.cut(&sites, &mut open(b.path(), &stores[1])?);
                assert!(
                    matches!(failed, Err(CutError::Store(_) | CutError::Open(_))),
                    "{fault:?} {commit}: {failed:?}"
                );
                // While hosts are in both states, at most one of them can be crawled.
                let can_be = [can_be_crawled(a.path(), &stores[0])?, can_be_crawled(b.path(), &stores[1])?];
                assert!(can_be != [true, true] || share_nothing(&stores)?, "{fault:?} at commit {commit} of {at}");
                for (refused, can_be) in refused.iter_mut().zip(can_be) {
                    *refused += u32::from(!can_be);
                }
                open(a.path(), &stores[0])?.cut(&sites, &mut open(b.path(), &stores[1])?)?;
                for (store, want) in stores.iter().zip(&want) {
                    assert!(contents(store)? == *want, "{fault:?} at commit {commit} of {at}: another state");
                }
                sound(&mut open(a.path(), &stores[0])?)?;
            }
        }
    }
    assert!(refused.iter().all(|refused| *refused > 5), "{refused:?}");
    Ok(())
}

/// Whether a crawl would start from a state. The state is not changed.
fn can_be_crawled(dir: &Path, store: &Double) -> anyhow::Result<bool> {
    let (scratch, store) = (tempfile::tempdir()?, twin(store)?);
    copy_dir(dir, scratch.path())?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let settings = settings_of(&[])?;
    match open(scratch.path(), &store)?.start(&settings, Vec::new(), Clock::at(START), control) {
        Ok(_) => Ok(true),
        Err(OpenError::Cut(_) | OpenError::NoSeeds) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

/// Whether no URL is in both states.
fn share_nothing(stores: &[Double; 2]) -> anyhow::Result<bool> {
    let keys = |store: &Double| -> anyhow::Result<BTreeSet<(&'static str, Vec<u8>)>> {
        let by_host = ["urls", "hosts", "queue", "pages"];
        Ok(contents(store)?.into_keys().filter(|(space, _)| by_host.contains(space)).collect())
    };
    Ok(keys(&stores[0])?.is_disjoint(&keys(&stores[1])?))
}

#[test]
fn a_cut_needs_an_empty_directory_and_one_end() -> anyhow::Result<()> {
    let (a, b) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (half, sites) = half_way(a.path())?;
    let used = twin(&half)?;
    let refused = open(a.path(), &half)?.cut(&sites, &mut open(b.path(), &used)?);
    assert!(matches!(refused, Err(CutError::NotEmpty)), "{refused:?}");
    let refused = open(a.path(), &half)?.cut(&Sites::default(), &mut open(b.path(), &Double::default())?);
    assert!(matches!(refused, Err(CutError::NoneOfThem)), "{refused:?}");
    // While one cut is under way, no other can be made.
    let (from, to) = (twin(&half)?, Double::default());
    to.fail(Fault::Refuse);
    assert!(open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &to)?).is_err());
    let others = Sites::all().without(&sites);
    let refused = open(a.path(), &from)?.cut(&others, &mut open(b.path(), &to)?);
    assert!(matches!(refused, Err(CutError::Other)), "{refused:?}");
    let refused = open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &used)?);
    assert!(matches!(refused, Err(CutError::NotEmpty)), "{refused:?}");
    assert!(open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &to)?)? > 0);
    Ok(())
}
