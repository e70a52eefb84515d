//! Draws the parts of the page while there are viewers, and sends each viewer the parts that have changed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::sync::watch;

use super::drawn::Drawn;
use super::fragments::{self, HEAVY, LIGHT};
use super::shared::{Shared, Viewer};

/// The time between two drawings.
const INTERVAL: Duration = Duration::from_secs(1);
/// The parts that cost more are drawn again after this many turns at the earliest.
const HEAVY_TURNS: u32 = 2;
/// The time between two drawings of these parts is at least this many times as long as a drawing takes.
const HEAVY_SHARE: u32 = 100;

/// Draws until the crawl ends. Sleeps while there are no viewers.
pub async fn draw(shared: Arc<Shared>) {
    let mut all = HashMap::new();
    let mut heavy_due = Instant::now();
    loop {
        let woken = shared.wake.notified();
        let finished = shared.is_finished();
        if shared.viewers() > 0 || finished {
            all.extend(fragments::draw(&shared, &LIGHT));
            if Instant::now() >= heavy_due || finished {
                let start = Instant::now();
                all.extend(fragments::draw(&shared, &HEAVY));
                heavy_due = start + (INTERVAL * HEAVY_TURNS).max(start.elapsed() * HEAVY_SHARE);
            }
            // This fails only if there are no viewers.
            let _ = shared.drawn.send(Drawn { parts: Arc::new(all.clone()), last: finished });
        }
        if finished {
            return;
        }
        // A new viewer, an order and the end of the crawl cut this wait short.
        let _ = tokio::time::timeout(INTERVAL, woken).await;
    }
}

/// The parts that were sent to one viewer, and those that must be sent.
struct Sent {
    drawn: watch::Receiver<Drawn>,
    /// Each part as it was sent last.
    parts: HashMap<&'static str, String>,
    /// The parts that must be sent.
    due: Vec<(&'static str, String)>,
    /// Whether nothing comes after `due`.
    last: bool,
    ended: bool,
    _viewer: Viewer,
}

/// The events for one viewer: `fragment` for a part that has changed, `end` when the crawl has ended.
pub fn events(shared: &Arc<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let sent = Sent {
        drawn: subscribe(shared),
        parts: HashMap::new(),
        due: Vec::new(),
        last: false,
        ended: false,
        _viewer: shared.view(),
    };
    Sse::new(stream::unfold(sent, next)).keep_alive(KeepAlive::default())
}

/// Subscribes a viewer. The parts that were drawn before count as changed for it.
fn subscribe(shared: &Shared) -> watch::Receiver<Drawn> {
    let mut drawn = shared.drawn.subscribe();
    drawn.mark_changed();
    drawn
}

async fn next(mut sent: Sent) -> Option<(Result<Event, Infallible>, Sent)> {
    loop {
        if let Some((id, html)) = sent.due.pop() {
            let data = json!({"id": id, "html": &html}).to_string();
            sent.parts.insert(id, html);
            return Some((Ok(Event::default().event("fragment").data(data)), sent));
        }
        if sent.ended {
            return None;
        }
        if sent.last {
            sent.ended = true;
            return Some((Ok(Event::default().event("end").data("end")), sent));
        }
        sent.drawn.changed().await.ok()?;
        let Drawn { parts: drawn, last } = sent.drawn.borrow_and_update().clone();
        sent.last = last;
        let changed = drawn.iter().filter(|(id, html)| sent.parts.get(*id) != Some(*html));
        sent.due = changed.map(|(id, html)| (*id, html.clone())).collect();
    }
}
