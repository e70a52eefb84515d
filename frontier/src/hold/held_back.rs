//! All URLs that are held back (held or stopped). The rescue looks at them again and again.
//!
//! Each round of the rescue looks at all held and stopped URLs, some rounds several times. A look at the store has to
//! read the records of all URLs that were ever met. So the result of the first look is kept in memory, unless it is too
//! large. Later looks read only the records that have changed since ([`Urls::take_changes`]).

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;

use super::sample::Drawn;
use super::url_sets::{UrlSets, url_sets};
use crate::spaces;
use crate::url::{EndedAs, Standing, State, Urls};

/// What the last look found.
#[derive(Debug, Default)]
pub struct HeldBack {
    /// `None` before the first look, and if there is too much to be kept.
    kept: Option<BTreeMap<UrlId, Item>>,
}

/// A URL that is held or stopped.
#[derive(Clone, Copy, Debug)]
struct Item {
    sets: UrlSets,
    depth: u32,
    /// The hash of the URL that was or is to be fetched in its place; `None` if there is none.
    stands_in: Option<u64>,
}

impl HeldBack {
    /// At most this many URLs are kept in memory; they take about 10 MB.
    const MOST: u64 = if cfg!(test) { 16 } else { 1 << 17 };

    /// Calls `visit` with every URL that is held or stopped.
    pub fn each(&mut self, urls: &mut Urls, session: &Session, visit: &mut dyn FnMut(Drawn)) -> Result<()> {
        let count = urls.counters().held() + urls.counters().stopped();
        let (kept, changes) = (self.kept.take(), urls.take_changes());
        if count > Self::MOST {
            return scan(session, &mut |id, item| visit(item.drawn(id, urls)));
        }
        let kept = match (kept, changes) {
            (Some(mut kept), Some(changes)) => {
                for id in changes {
                    match urls.state(id, session)?.and_then(|state| Item::of(id, &state)) {
                        Some(item) => kept.insert(id, item),
                        None => kept.remove(&id),
                    };
                }
                kept
            }
            _ => {
                let mut found = BTreeMap::new();
                if count > 0 {
                    scan(session, &mut |id, item| _ = found.insert(id, item))?;
                }
                found
            }
        };
        urls.watch();
        kept.iter().for_each(|(id, item)| visit(item.drawn(*id, urls)));
        self.kept = Some(kept);
        Ok(())
    }
}

impl Item {
    /// `None` if the URL is in no such state.
    fn of(id: UrlId, state: &State) -> Option<Self> {
        let stands_in = match state {
            State::HeldAs { .. } => None,
            state => state.anchor(id).map(|anchor| anchor.url),
        };
        let depth = state.link().map_or(0, |link| link.depth);
        url_sets(id, state).map(|sets| Self { sets, depth, stands_in })
    }

    fn drawn(&self, id: UrlId, urls: &Urls) -> Drawn {
        let standing = self.stands_in.and_then(|other| urls.get(other));
        let covered = matches!(standing, Some(Standing::Done(EndedAs::Well | EndedAs::Redirected)));
        Drawn { id, sets: self.sets, covered, depth: self.depth, stands_in: self.stands_in }
    }
}

/// Reads the records of all URLs.
fn scan(session: &Session, visit: &mut dyn FnMut(UrlId, Item)) -> Result<()> {
    let mut failure = None;
    session.scan(spaces::URLS, &[], &[], &mut |key, value| {
        if !State::may_be_held_back(value) {
            return ControlFlow::Continue(());
        }
        match Urls::read(key, value) {
            Ok((id, state)) => {
                if let Some(item) = Item::of(id, &state) {
                    visit(id, item);
                }
            }
            Err(error) => failure = Some(error),
        }
        if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    failure.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dedup_stage::store::Double;
    use dedup_stage::url::SiteId;

    use super::*;
    use crate::url::{End, KeptLink, Visit};

    /// Changes the states of random URLs, few of them and many, and compares each look with a scan.
    #[test]
    fn a_look_shows_what_a_scan_of_the_records_shows() {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut urls, mut session) = (Urls::default(), Session::new(Box::new(Double::default())));
        let id = |url: u64| UrlId { site: SiteId { domain: url % 3, host: url % 3 }, url };
        let mut held_back = HeldBack::default();
        let (mut most, mut looks) = (0, 0);
        for crowd in [12, 60, 12, 200] {
            for step in 0..400 {
                let one = id(random.u64(1..crowd));
                let link = KeptLink { url: "http://a.test/x".into(), depth: random.u32(0..9), ..KeptLink::default() };
                let held = State::HeldFor { counterparts: vec![id(random.u64(1..crowd))], link };
                let done = State::Done(Visit { number: 1, end: End::Answered { status: 200 } });
                // A change that the table does not have changes nothing.
                match random.u8(0..4) {
                    0 | 1 => _ = urls.change(one, &held, &mut session),
                    2 => _ = urls.queue(one, None, 0, &mut session),
                    _ => _ = urls.change(one, &done, &mut session),
                }
                if step % 7 == 0 {
                    let mut seen = Vec::new();
                    held_back.each(&mut urls, &session, &mut |drawn| seen.push(drawn)).unwrap();
                    let mut expected = Vec::new();
                    scan(&session, &mut |id, item| expected.push(item.drawn(id, &urls))).unwrap();
                    assert_eq!(seen, expected);
                    assert_eq!(seen.iter().map(|drawn| drawn.id).collect::<BTreeSet<_>>().len(), seen.len());
                    most = most.max(seen.len());
                    looks += usize::from(!seen.is_empty() && seen.len() <= HeldBack::MOST as usize);
                }
            }
        }
        assert!(most > 2 * HeldBack::MOST as usize && looks > 20, "{most}, {looks}");
    }
}
