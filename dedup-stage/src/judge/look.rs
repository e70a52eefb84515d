//! Searches for the twin of a page: the nearest accepted page with the same text. If the links or media of the page are
//! new, compared with those of such a page, that page is not its twin.

use std::ops::ControlFlow;

use super::accepted::{Accepted, links_of};
use super::counterpart::Comparison;
use super::entry::Entry;
use super::host_seen::HostSeen;
use super::links::LinkSet;
use super::{Case, Judge, Judgement, UniqueBy, UrlOf, Verdict};
use crate::signature::{SecondLook, Signature};
use crate::store::{Result, Session};

/// The result of the search.
#[derive(Debug)]
pub(super) struct NearSearch {
    /// `Near`, or `Unique` if there is no twin.
    pub(super) judgement: Judgement,
    /// The comparison of the page with its twin. If the page is unique only by something that is tried
    /// ([`UniqueBy::is_tried`]), the comparison with the first page that was found with an equal text.
    pub(super) twin: Option<Comparison>,
    /// Whether some page was ever accepted with exactly this fingerprint.
    pub(super) is_known: bool,
}

/// An accepted page that has the same text at the second look.
struct Alike {
    fingerprint: u64,
    entry: Entry,
    look: SecondLook,
    /// Its record; empty if it was not read or is not kept. It may have ten thousand bytes, and very many pages may be
    /// alike, so the records of few are kept.
    record: Vec<u8>,
}

impl Alike {
    /// The links and media of the page.
    fn links(&self, session: &Session) -> Result<Option<LinkSet>> {
        let Entry { order, id, .. } = self.entry;
        match self.record.is_empty() {
            true => Accepted::links(self.fingerprint, order, id, session),
            false => links_of(&self.record, id, session),
        }
    }
}

impl Judge {
    /// For one page, the links of at most this many pages with the same text are read and compared. Otherwise a list of
    /// ten thousand pages with equal text would cost ten thousand reads for each of its pages.
    const COMPARED: usize = 32;

    /// Looks for the twin of a page among the accepted pages of other URLs.
    pub(super) fn look(
        &mut self,
        case: &Case<'_>,
        signature: &Signature,
        url_of: UrlOf<'_>,
        session: &mut Session,
    ) -> Result<NearSearch> {
        let words = signature.sketch.words();
        let mut host = HostSeen::default();
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        self.fingerprints.near(signature.simhash, case.ahead, &mut near);
        let is_known = near.iter().any(|(_, distance)| *distance == 0);
        self.accepted.retain_alike(&mut near, &signature.sketch);
        near.sort_unstable_by_key(|(_, distance)| *distance);
        let (mut unique_by, mut left) = (None, Self::COMPARED);
        let mut alike_text = None;
        let mut found = None;
        for ring in near.chunk_by(|(_, a), (_, b)| a == b) {
            let mut alike = self.alike(ring, case, signature, session)?;
            if alike.len() > left {
                // Keep the pages whose links seem to be most alike, by the estimate of the sketch.
                alike.sort_by(|a, b| b.look.links.total_cmp(&a.look.links).then(a.entry.order.cmp(&b.entry.order)));
                alike.truncate(left);
            }
            left -= alike.len();
            alike.sort_unstable_by_key(|alike| alike.entry.order);
            for alike in alike {
                let Alike { entry, look, .. } = alike;
                let mut twin = Comparison::accepted(case, entry.id, alike.links(session)?, &self.keys);
                if let Some(why) = host.contradicts(&mut twin, case, words, url_of, session)? {
                    if look.resemblance >= Self::EQUAL_TEXT {
                        // If the page has other media than one of these pages, it is new, whatever its links are.
                        unique_by = unique_by.max(Some(why));
                        alike_text.get_or_insert(twin);
                    }
                    continue;
                }
                let resemblance = look.resemblance;
                let verdict = Verdict::Near { of: entry.id, distance: ring[0].1, resemblance };
                let novelty = (1.0 - resemblance * (1.0 + twin.common(case)) / 2.0).clamp(0.0, 1.0);
                found = Some((Judgement { verdict, novelty, unique_by: None }, twin));
                break;
            }
            if found.is_some() || left == 0 {
                break;
            }
        }
        self.near = near;
        host.note(case, session)?;
        Ok(match found {
            Some((judgement, twin)) => NearSearch { judgement, twin: Some(twin), is_known },
            None => {
                let judgement = Judgement { verdict: Verdict::Unique, novelty: 1.0, unique_by };
                NearSearch {
                    judgement,
                    twin: alike_text.filter(|_| unique_by.is_some_and(UniqueBy::is_tried)),
                    is_known,
                }
            }
        })
    }

    /// The accepted pages of other URLs with one of these fingerprints, and with the same text.
    fn alike(
        &mut self,
        ring: &[(u64, u32)],
        case: &Case<'_>,
        signature: &Signature,
        session: &Session,
    ) -> Result<Vec<Alike>> {
        let mut alike = Vec::new();
        for (fingerprint, _) in ring {
            self.accepted.visit(*fingerprint, session, &mut |entry, record| {
                if entry.id.url != case.id.url {
                    let look = signature.sketch.compare(&entry.sketch);
                    let kept = if alike.len() < Self::COMPARED { record } else { &[] };
                    let of_page = || Alike { fingerprint: *fingerprint, entry: *entry, look, record: kept.to_vec() };
                    alike.extend(look.alike.then(of_page));
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(alike)
    }
}

#[cfg(test)]
mod tests {
    use crate::flow::OnDuplicate;
    use crate::judge::{Case, Judge};
    use crate::testing::{Web, html, links, words};
    use crate::url::PageId;

    /// Each page has other links, so all are accepted. All of them are alike for the next one.
    #[test]
    fn the_records_of_few_pages_are_held_at_a_time() {
        let (mut web, text) = (Web::new(OnDuplicate::Drop), words(1, 600));
        let page = |number: u32| html(&text, &links("/item/#", 9 * number..9 * number + 9));
        for number in 0..2 * Judge::COMPARED as u32 {
            web.show(&format!("http://a.test/{number}"), &page(number));
        }
        let next = web.prepare("http://a.test/next", 200, &page(1_000));
        let case = Case {
            order: 1_000,
            id: PageId { url: next.id, visit: 1 },
            url: &next.url,
            before: None,
            judgeable: true,
            page: &next.page,
            links: &next.links,
            ahead: None,
        };
        let signature = next.page.signature.as_ref().unwrap();
        let alike = web.flow.judge_mut().alike(&[(signature.simhash, 0)], &case, signature, &web.session).unwrap();
        let kept = alike.iter().filter(|alike| !alike.record.is_empty()).count();
        assert!(alike.len() > Judge::COMPARED && kept > 0 && kept <= Judge::COMPARED, "{kept} of {}", alike.len());
        for one in &alike {
            let links = one.links(&web.session).unwrap().unwrap();
            assert_eq!((links.url.is_some(), links.links.count), (true, 9), "read, or read again");
        }
    }
}
