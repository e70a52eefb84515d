//! Checks the state for contradictions.

use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{KeySet, UrlId};
use url::Url;

use super::Frontier;
use crate::host::entry::Packed;
use crate::host::{Host, Hosts};
use crate::spaces;
use crate::url::{Counters, Standing, State, Urls};

/// At most this many findings are told.
const MOST: usize = 100;
/// This many records are read together.
const PART: usize = 4_096;

impl Frontier {
    /// Looks for contradictions in the state: a URL in two states, a queued URL without an entry, wrong counters, a URL
    /// that is held for nothing, a record under the key of another URL. One sentence for each finding, at most 100.
    pub fn check(&self, session: &Session) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut counted = Counters::default();
        self.check_records(&mut counted, &mut found, session)?;
        self.check_index(&mut found, session)?;
        self.check_queue(&mut counted, &mut found, session)?;
        let known = self.urls.counters();
        // The entry of a job that is open is still in the queue.
        let expected = Counters { queued: known.queued + known.open, open: 0, ..*known };
        if counted != expected {
            found.push(format!("the counters are {expected:?}, and the records say {counted:?}"));
        }
        found.truncate(MOST);
        Ok(found)
    }

    /// Checks each record: it lies under the key of its URL, memory knows it, and the index has it.
    fn check_records(&self, counted: &mut Counters, found: &mut Vec<String>, session: &Session) -> Result<()> {
        let mut from = Vec::new();
        loop {
            let mut part = Vec::new();
            session.scan(spaces::URLS, &from, &[], &mut |key, value| {
                part.push((key.to_vec(), value.to_vec()));
                if part.len() == PART { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            let Some((last, _)) = part.last() else { return Ok(()) };
            from = [last.as_slice(), &[0]].concat();
            for (key, value) in &part {
                match Urls::read(key, value) {
                    Ok((id, state)) => self.check_record(id, &state, counted, found, session)?,
                    Err(error) => found.push(error.to_string()),
                }
            }
        }
    }

    fn check_record(
        &self,
        id: UrlId,
        state: &State,
        counted: &mut Counters,
        found: &mut Vec<String>,
        session: &Session,
    ) -> Result<()> {
        let name = || state.link().map_or_else(|| format!("{:016x}", id.url), |link| link.url.to_string());
        let is_queued = matches!(state, State::Queued { .. });
        if !is_queued {
            counted.add(Standing::of(state));
        }
        let known = self.urls.get(id.url);
        let agrees = match known {
            Some(Standing::Queued { .. } | Standing::Open { .. }) => is_queued,
            known => known == Some(Standing::of(state)),
        };
        if !agrees {
            found.push(format!("{} is {} on disk, and in memory {known:?}", name(), state.name()));
        }
        if let Some(link) = state.link() {
            match Url::parse(&link.url) {
                Ok(url) if self.keys.id(&url) == id => {}
                _ => found.push(format!("{} lies under the key of another URL", link.url)),
            }
        }
        if let Some(anchor) = state.anchor(id)
            && session.get(spaces::HELD_FOR, &crate::url::pair(anchor, id))?.is_none()
        {
            found.push(format!("{} is {}, and what it waits for does not know", name(), state.name()));
        }
        Ok(())
    }

    /// Checks each entry of the index: the URL is held or stopped for what the entry says.
    fn check_index(&self, found: &mut Vec<String>, session: &Session) -> Result<()> {
        let mut from = Vec::new();
        loop {
            let mut part = Vec::new();
            session.scan(spaces::HELD_FOR, &from, &[], &mut |key, _| {
                part.push(key.to_vec());
                if part.len() == PART { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            let Some(last) = part.last() else { return Ok(()) };
            from = [last.as_slice(), &[0]].concat();
            for key in &part {
                let Some((anchor, id)) = UrlId::read(key).zip(key.get(UrlId::BYTES..).and_then(UrlId::read)) else {
                    found.push("an entry of the index of what is held cannot be read".into());
                    continue;
                };
                let holds = self.urls.state(id, session)?.and_then(|state| state.anchor(id)) == Some(anchor);
                if !holds {
                    let (id, anchor) = (id.url, anchor.url);
                    found.push(format!("{id:016x} is said to be held for {anchor:016x}, and is not"));
                }
            }
        }
    }

    /// Checks the queue: each lane has the number of entries that it says, and each queued URL has an entry.
    fn check_queue(&self, counted: &mut Counters, found: &mut Vec<String>, session: &Session) -> Result<()> {
        let (mut asleep, mut queued) = (Vec::new(), KeySet::default());
        for (_, host) in self.hosts.iter() {
            self.check_host(host, &mut queued, found, session)?;
        }
        Hosts::read_all(session, &mut |host| {
            if host.has_work() && self.hosts.find(host.site).is_none() {
                asleep.push(host.site);
            }
        })?;
        for site in asleep {
            if let Some(host) = Hosts::read(site, session)? {
                self.check_host(&host, &mut queued, found, session)?;
            }
        }
        counted.queued = queued.len() as u64;
        Ok(())
    }

    fn check_host(&self, host: &Host, queued: &mut KeySet, found: &mut Vec<String>, session: &Session) -> Result<()> {
        for lane in &host.lanes {
            let (mut left, authority) = (lane.undone(), host.authority(lane.group));
            let mut visit = |entry: &[u8]| {
                let entry = Packed::new(entry);
                let live = match self.urls.get(entry.url()) {
                    Some(Standing::Queued { band, .. }) => band == lane.band,
                    Some(Standing::Open { .. }) => true,
                    _ => false,
                };
                if entry.is_sitemap() || !live {
                    return;
                }
                queued.insert(entry.url());
                let url = entry.open(host.site, &authority).ok().and_then(|entry| Url::parse(&entry.url).ok());
                if url.is_none_or(|url| self.keys.id(&url).url != entry.url()) {
                    found.push(format!("an entry of {} lies under the key of another URL", host.name));
                }
            };
            self.queues.look(lane, host.site, session, &mut |_, entry| {
                left -= 1;
                visit(entry);
                true
            })?;
            if left > 0 {
                found.push(format!("{} has {left} queued URLs less than it should have", host.name));
            }
        }
        Ok(())
    }
}
