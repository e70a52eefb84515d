//! The search for the twin of a page: the nearest accepted page with the same text whose links do not contradict.

use std::ops::ControlFlow;

use super::counterpart::Comparison;
use super::entry::Entry;
use super::{Acquitted, Case, Judge, Judgement, UrlOf, Verdict};
use crate::signature::{SecondLook, Signature};
use crate::store::{Result, Session};

/// What the search found.
#[derive(Debug)]
pub(super) struct Found {
    /// `Near`, or `Unique` where there is no twin.
    pub(super) judgement: Judgement,
    /// The page beside its twin; or, if it is unique only by its links, beside the earliest page with its text.
    pub(super) twin: Option<Comparison>,
    /// Whether some page was accepted with this very fingerprint, now or once.
    pub(super) is_known: bool,
}

/// An accepted page whose text is alike.
struct Alike {
    entry: Entry,
    look: SecondLook,
}

impl Judge {
    /// Pages with the same text whose links are read and compared, for one page. A list of ten thousand pages with equal text
    /// would else cost as many reads for each of its pages.
    const COMPARED: usize = 32;

    /// Looks for the twin of a page among the accepted pages of other URLs.
    pub(super) fn look(
        &mut self,
        case: &Case<'_>,
        signature: &Signature,
        url_of: UrlOf<'_>,
        session: &Session,
    ) -> Result<Found> {
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        self.index.within(signature.simhash, &mut near);
        near.sort_unstable_by_key(|(_, distance)| *distance);
        let is_known = near.first().is_some_and(|(_, distance)| *distance == 0);
        let (mut acquitted, mut left) = (None, Self::COMPARED);
        let mut alike_text = None;
        let mut found = None;
        for ring in near.chunk_by(|(_, a), (_, b)| a == b) {
            let mut alike = self.alike(ring, case, signature, session)?;
            if alike.len() > left {
                // Those whose links seem to be the same, by the estimate of the sketch.
                alike.sort_by(|a, b| b.look.links.total_cmp(&a.look.links).then(a.entry.order.cmp(&b.entry.order)));
                alike.truncate(left);
            }
            left -= alike.len();
            alike.sort_unstable_by_key(|alike| alike.entry.order);
            for Alike { entry, look } in alike {
                let mut twin = Comparison::accepted(case, entry.id, &self.keys, session)?;
                if let Some(why) = twin.contradicts(case, signature.sketch.words(), url_of, session)? {
                    if look.resemblance >= Self::SAME_TEXT {
                        // Other media are something new, whatever the links are.
                        acquitted = if acquitted == Some(Acquitted::ByMedia) { acquitted } else { Some(why) };
                        alike_text.get_or_insert(twin);
                    }
                    continue;
                }
                let resemblance = look.resemblance;
                let verdict = Verdict::Near { of: entry.id, distance: ring[0].1, resemblance };
                let novelty = (1.0 - resemblance * (1.0 + twin.common(case)) / 2.0).clamp(0.0, 1.0);
                found = Some((Judgement { verdict, novelty, acquitted: None }, twin));
                break;
            }
            if found.is_some() || left == 0 {
                break;
            }
        }
        self.near = near;
        Ok(match found {
            Some((judgement, twin)) => Found { judgement, twin: Some(twin), is_known },
            None => {
                let judgement = Judgement { verdict: Verdict::Unique, novelty: 1.0, acquitted };
                Found { judgement, twin: alike_text.filter(|_| acquitted == Some(Acquitted::ByLinks)), is_known }
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
            self.accepted.visit(*fingerprint, session, &mut |entry| {
                if entry.id.url != case.id.url {
                    let look = signature.sketch.compare(&entry.sketch);
                    alike.extend(look.same_text.then_some(Alike { entry: *entry, look }));
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(alike)
    }
}
