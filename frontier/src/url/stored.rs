//! The stored form of the record of a URL, under its identity in [`spaces::URLS`](crate::spaces::URLS).

use dedup_stage::store::{Result, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use super::WaitPlace;
use super::compact::{CompactPriority, Id, Source};
use super::{HoldCause, KeptLink, State, Visit};
use crate::numbers::RuleId;
use crate::reason::{Detail, SkipReason};

/// A [`State`] as it is stored. The order of the variants and of their fields is the format.
#[derive(Serialize, Deserialize)]
enum Stored {
    Queued {
        before: Option<Visit>,
    },
    HeldFor {
        counterparts: Vec<Id>,
        link: Link,
    },
    HeldAs {
        cause: HoldCause,
        link: Link,
    },
    Stopped {
        rules: Vec<RuleId>,
        reason: SkipReason,
        representative: Option<Id>,
        link: Link,
    },
    Refused {
        reason: SkipReason,
        detail: Detail,
        link: Link,
    },
    Done(Visit),
    Gone(Visit),
    /// Stopped, and waiting for its representative. (In the records of earlier versions, such a URL is `Stopped`.)
    Waits {
        rules: Vec<RuleId>,
        reason: SkipReason,
        representative: Option<Id>,
        waits: WaitPlace,
        link: Link,
    },
}

/// A [`KeptLink`] as it is stored.
#[derive(Serialize, Deserialize)]
struct Link {
    depth: u32,
    source: Source,
    worth: CompactPriority,
    url: Box<str>,
}

impl Link {
    fn of(kept: &KeptLink, site: SiteId) -> Self {
        Self {
            depth: kept.depth,
            source: Source::of(kept.source, site),
            worth: CompactPriority::of(kept.priority, kept.merits),
            url: kept.url.clone(),
        }
    }

    fn open(self, site: SiteId) -> KeptLink {
        let (priority, merits) = self.worth.open();
        KeptLink { url: self.url, depth: self.depth, source: self.source.open(site), priority, merits }
    }
}

/// The stored form of the record of a URL of `site`.
pub fn encode(state: &State, site: SiteId) -> Vec<u8> {
    codec::encode(&match state {
        State::Queued { before } => Stored::Queued { before: *before },
        State::HeldFor { counterparts, link } => Stored::HeldFor {
            counterparts: counterparts.iter().map(|id| Id::of(*id, site)).collect(),
            link: Link::of(link, site),
        },
        State::HeldAs { cause, link } => Stored::HeldAs { cause: cause.clone(), link: Link::of(link, site) },
        State::Stopped { rules, reason, representative, waits, link } => {
            let (rules, reason, link) = (rules.clone(), *reason, Link::of(link, site));
            let representative = representative.map(|id| Id::of(id, site));
            match *waits {
                None => Stored::Stopped { rules, reason, representative, link },
                Some(waits) => Stored::Waits { rules, reason, representative, waits, link },
            }
        }
        State::Refused { reason, detail, link } => {
            Stored::Refused { reason: *reason, detail: *detail, link: Link::of(link, site) }
        }
        State::Done(visit) => Stored::Done(*visit),
        State::Gone(visit) => Stored::Gone(*visit),
    })
}

/// The record of a URL of `site` from its stored form.
pub fn decode(bytes: &[u8], site: SiteId) -> Result<State> {
    Ok(match codec::decode(bytes, "a URL")? {
        Stored::Queued { before } => State::Queued { before },
        Stored::HeldFor { counterparts, link } => State::HeldFor {
            counterparts: counterparts.into_iter().map(|id| id.open(site)).collect(),
            link: link.open(site),
        },
        Stored::HeldAs { cause, link } => State::HeldAs { cause, link: link.open(site) },
        Stored::Stopped { rules, reason, representative, link } => State::Stopped {
            rules,
            reason,
            representative: representative.map(|id| id.open(site)),
            waits: None,
            link: link.open(site),
        },
        Stored::Waits { rules, reason, representative, waits, link } => State::Stopped {
            rules,
            reason,
            representative: representative.map(|id| id.open(site)),
            waits: Some(waits),
            link: link.open(site),
        },
        Stored::Refused { reason, detail, link } => State::Refused { reason, detail, link: link.open(site) },
        Stored::Done(visit) => State::Done(visit),
        Stored::Gone(visit) => State::Gone(visit),
    })
}

impl State {
    /// Whether a stored record may be one of a URL that is held or stopped; told by its first byte.
    pub fn may_be_held_back(bytes: &[u8]) -> bool {
        matches!(bytes, [1..=3 | 7, ..])
    }

    /// Whether a stored record has a link: its URL is held, stopped or refused.
    pub fn has_link(bytes: &[u8]) -> bool {
        matches!(bytes, [1..=4 | 7, ..])
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::{PageId, UrlId};

    use super::*;
    use crate::failure::Failure;
    use crate::job::Merits;
    use crate::url::End;

    const SITE: SiteId = SiteId { domain: 1, host: 2 };

    fn states() -> Vec<State> {
        let id = UrlId { site: SITE, url: 7 };
        let link = KeptLink {
            url: "http://a.test/ä".into(),
            depth: 300,
            source: Some(PageId { url: id, visit: 1 }),
            priority: 1.0,
            merits: Merits { novelty: 1, in_links: 2, hint: 3, relevance: 4 },
        };
        let before = Visit { number: 2, end: End::Failed { failure: Failure::Tls } };
        vec![
            State::Queued { before: None },
            State::Queued { before: Some(before) },
            State::HeldFor { counterparts: vec![id], link: link.clone() },
            State::HeldAs { cause: HoldCause::News { template: 9 }, link: link.clone() },
            State::HeldAs { cause: HoldCause::Known { corpus: "old".into() }, link: link.clone() },
            State::Stopped {
                rules: vec![1],
                reason: SkipReason::Mirror,
                representative: Some(UrlId { site: SiteId { domain: 5, host: 6 }, url: 7 }),
                waits: None,
                link: link.clone(),
            },
            State::Refused { reason: SkipReason::Robots, detail: Detail::RobotsStatus(503), link: link.clone() },
            State::Done(Visit { number: 1, end: End::Answered { status: 200 } }),
            State::Gone(Visit { number: 3, end: End::Redirected { status: 301, target: id } }),
            State::Stopped {
                rules: vec![1],
                reason: SkipReason::Rule,
                representative: Some(id),
                waits: Some(WaitPlace { rule: 1, folder: 2 }),
                link,
            },
        ]
    }

    #[test]
    fn a_record_comes_back_and_a_cut_one_is_damage() {
        for state in states() {
            let bytes = encode(&state, SITE);
            assert_eq!(decode(&bytes, SITE).unwrap(), state);
            assert_eq!(State::has_link(&bytes), state.link().is_some());
            let held = state.link().is_some() && !matches!(state, State::Refused { .. });
            assert_eq!(State::may_be_held_back(&bytes), held);
            assert!((0..bytes.len()).all(|cut| decode(&bytes[..cut], SITE).is_err()), "{state:?}");
        }
    }

    #[test]
    fn the_stored_form_stays_what_it_is() {
        // Golden forms: states on disk are read by later versions.
        let golden: Vec<String> = states().iter().map(|state| hex(&encode(state, SITE))).collect();
        compare(&golden, include_str!("stored.golden"));
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn compare(lines: &[String], golden: &str) {
        let found = lines.join("\n") + "\n";
        assert!(found == golden, "the stored form has changed; it is now:\n{found}");
    }
}
