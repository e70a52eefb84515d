//! A change of a template is one event, not a change of every page that uses it.
//!
//! When a site changes its navigation or its footer, all of its pages change at once and in the same way. The caller tells
//! what changed on a page as a hash of the changed passages. Where several pages of a host show the same hash within a few
//! days, the template has changed: what counted as changes of the first of them is taken back, and later ones do not count.

use std::collections::{HashMap, VecDeque};

use super::time::{DAY, PageId, Seconds};
use super::turns::HostId;

/// From so many pages on it is the template that has changed.
const PAGES: usize = 5;
/// Within so many days.
const DAYS: f32 = 7.0;
/// Changes that are remembered, over all hosts; the oldest go.
const REMEMBERED: usize = 4096;

/// What a change turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The page's own, as far as is known.
    Own,
    /// The template's, which is seen now. These pages counted as changed before: take their changes back with
    /// [`Evidence::take_back`](super::evidence::Evidence::take_back), with the seconds between their visits.
    Template(Vec<(PageId, Seconds)>),
    /// The template's, as was known.
    TemplateAgain,
}

/// The recent changes of all hosts.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    recent: HashMap<(HostId, u64), Recent>,
    order: VecDeque<(HostId, u64)>,
}

/// One way in which pages of a host changed.
#[derive(Clone, Debug)]
struct Recent {
    first: Seconds,
    /// Pages that changed so, with the seconds since the visit before; empty once the template is known to have changed.
    pages: Vec<(PageId, Seconds)>,
}

impl Templates {
    /// A page of a host was seen to have changed: `how` is a hash of what changed, `span` the seconds since the visit before.
    pub fn changed(&mut self, host: HostId, how: u64, page: PageId, span: Seconds, at: Seconds) -> Change {
        let key = (host, how);
        let is_recent = |recent: &Recent| at.saturating_sub(recent.first) as f32 <= DAYS * DAY;
        match self.recent.get_mut(&key).filter(|recent| is_recent(recent)) {
            Some(recent) if recent.pages.is_empty() => Change::TemplateAgain,
            Some(recent) if recent.pages.iter().any(|(other, _)| *other == page) => Change::Own,
            Some(recent) if recent.pages.len() + 1 < PAGES => {
                recent.pages.push((page, span));
                Change::Own
            }
            Some(recent) => Change::Template(std::mem::take(&mut recent.pages)),
            None => {
                self.remember(key, Recent { first: at, pages: vec![(page, span)] });
                Change::Own
            }
        }
    }

    fn remember(&mut self, key: (HostId, u64), recent: Recent) {
        if self.recent.insert(key, recent).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Seconds = 1000;

    #[test]
    fn many_pages_alike_are_one_event() {
        let mut templates = Templates::default();
        for page in 1..5 {
            assert_eq!(templates.changed(0, 7, page, SPAN, 100), Change::Own);
            assert_eq!(templates.changed(0, page, page, SPAN, 100), Change::Own, "changes of their own");
            assert_eq!(templates.changed(page as HostId, 7, page, SPAN, 100), Change::Own, "another host each");
        }
        assert_eq!(templates.changed(0, 7, 4, SPAN, 200), Change::Own, "a page counts once");
        let before = (1..5).map(|page| (page, SPAN)).collect();
        assert_eq!(templates.changed(0, 7, 5, SPAN, 300), Change::Template(before));
        assert_eq!(templates.changed(0, 7, 6, SPAN, 400), Change::TemplateAgain);
    }

    #[test]
    fn slowly_is_not_at_once() {
        let mut templates = Templates::default();
        for page in 0..20 {
            // Three days apart: never five within seven days.
            let at = page as Seconds * 3 * 86_400;
            assert_eq!(templates.changed(0, 7, page, SPAN, at), Change::Own);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut templates = Templates::default();
        for how in 0..3 * REMEMBERED as u64 {
            templates.changed(0, how, 1, SPAN, 0);
        }
        assert_eq!((templates.recent.len(), templates.order.len()), (REMEMBERED, REMEMBERED));
    }
}
