//! The places of pages in the common order of several processes. The other processes are played by a [`Peers`] that
//! brings each group back at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, All, Event, Nobody, Parts, PeerProgress, Peers, PeersError, Phase, Proposed};
use crawler::outbound::Outbound;
use crawler::record::PageRecord;
use crawler::spaces;
use crossbeam_channel::{Receiver, Sender};
use dedup_stage::store::Double;
use tests::crawl::settings;
use tests::scripted::{Scripted, html, missing, words};
use tests::sound::Shared;
use url::Url;

/// The places that a log has given.
type Given = Arc<Mutex<BTreeSet<u64>>>;

/// A log to which one process writes.
struct Alone {
    at: u64,
    given: Given,
    send: Sender<Event>,
    events: Receiver<Event>,
}

impl Alone {
    fn new(given: &Given) -> Self {
        let (send, events) = crossbeam_channel::unbounded();
        Self { at: 0, given: Arc::clone(given), send, events }
    }

    fn tell_engine(&self, event: Event) -> Result<(), PeersError> {
        self.send.send(event).map_err(|error| PeersError(error.to_string()))
    }
}

impl Peers for Alone {
    fn events(&self) -> &Receiver<Event> {
        &self.events
    }

    fn propose(&mut self, group: &[&Proposed]) -> Result<(), PeersError> {
        assert!(!group.is_empty() && group.len() <= Proposed::MOST);
        assert!(group.iter().map(|page| page.bytes()).sum::<usize>() <= Proposed::MOST_BYTES);
        self.at += 1;
        let mut given = self.given.lock().map_err(|error| PeersError(error.to_string()))?;
        given.extend((0..group.len()).map(|place| Proposed::order(self.at, place)));
        self.tell_engine(Event::Mine { at: self.at })
    }

    fn send(&mut self, _links: &[Outbound]) -> Result<(), PeersError> {
        Ok(())
    }

    fn tell(&mut self, progress: PeerProgress) {
        let all = match progress.phase {
            Phase::Idle => All::Quiet,
            Phase::Drained => All::Over,
            _ => return,
        };
        let _ = self.tell_engine(Event::AllQuiet { round: progress.round, all });
    }
}

/// Catches a page that other processes do not hear of, because its links fill more than a message, and that is judged
/// at a place that the log did not give to it. This may be the place of the next page of its group, and two pages at
/// one place are one page for the judge. It may also lie before pages that were followed earlier.
#[test]
fn a_page_whose_links_fill_more_than_a_message_has_a_place_of_its_own() -> anyhow::Result<()> {
    const HOSTS: u64 = 24;
    let clock = Clock::System;
    let links = |host: u64| -> String {
        let long = "x".repeat(80);
        (0..8_000).map(|n| format!("<a href=http://away.test/{host}/{n}/{long}>{n}</a>")).collect()
    };
    let fetch = Scripted::new(&clock, move |url, _| {
        let host = url.host_str().and_then(|host| host.strip_prefix('h')?.strip_suffix(".test")?.parse::<u64>().ok());
        match (host, url.path()) {
            (Some(host), "/") if host % 2 == 0 => html(format!("<p>{}</p>{}", words(host, 200), links(host))),
            (Some(host), "/") => html(format!("<p>{}</p>", words(host, 200))),
            _ => missing(),
        }
    });
    let (dir, store) = (tempfile::tempdir()?, Shared::new(Double::default()));
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = (0..HOSTS).map(|host| Url::parse(&format!("http://h{host}.test/"))).collect::<Result<_, _>>()?;
    let settings = settings(&[])?;
    let parts = CrawlDir::with_session(dir.path(), store.session())?.start(&settings, seeds, clock, control)?;
    let given = Given::default();
    let parts = Parts { peers: Some(Box::new(Alone::new(&given))), ..parts };
    engine::run(parts, fetch, &mut Nobody)?;

    let (mut places, mut damage) = (BTreeMap::<u64, Vec<String>>::new(), None);
    store.session().scan(spaces::PAGES, &[], &[], &mut |_, value| {
        match PageRecord::decode(value) {
            Ok(record) => {
                if let Some(shown) = record.shown {
                    places.entry(shown.order).or_default().push(record.url);
                }
            }
            Err(error) => damage = Some(error),
        }
        ControlFlow::Continue(())
    })?;
    assert!(damage.is_none(), "{damage:?}");
    assert_eq!(places.values().map(Vec::len).sum::<usize>(), HOSTS as usize);
    let shared: Vec<_> = places.iter().filter(|(_, pages)| pages.len() > 1).collect();
    assert!(shared.is_empty(), "places of several pages: {shared:#?}");
    let given = given.lock().unwrap();
    let others: Vec<_> = places.iter().filter(|(place, _)| !given.contains(place)).collect();
    assert!(others.is_empty(), "places that the log did not give: {others:#?}");
    Ok(())
}
