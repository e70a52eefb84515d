//! What an answer is worth: to the budgets and trials of the frontier, to the rules, and to the rescue. All of this
//! follows from the verdict, from what the host has said before, and from the links, and all of it is decided here.

use dedup_stage::judge::{Judgement, UniqueBy, Verdict};
use frontier::{Brought, Taught};

use crate::engine::answers::barren::has_known_text;
use crate::engine::answers::links::LinkCounts;
use crate::engine::novelty::own_words::OwnWords;

/// How far an answer says something that its host has not said before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    /// It is unique, but its few words are no evidence ([`EngineState::says_little`]).
    ///
    /// [`EngineState::says_little`]: crate::engine::state::EngineState::says_little
    pub little: bool,
    /// Its pieces are known ([`EngineState::rearranges`]).
    ///
    /// [`EngineState::rearranges`]: crate::engine::state::EngineState::rearranges
    pub rearranges: bool,
    /// It has a fingerprint, and says the same as one of the last pages of its host, except for a few words.
    pub is_same: bool,
    /// The words of its own that a near-duplicate has.
    pub own_words: OwnWords,
    /// Whether it is a file that the crawl was not shown before; `None` if it is no file.
    pub new_file: Option<bool>,
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// What it teaches about its group, its host and its template.
    pub taught: Taught,
    /// Whether rules may learn from it.
    pub is_lesson: bool,
    /// Whether it counts as a barren page: it has no new text, and no new link out of its area.
    pub is_barren: bool,
    /// Whether it is new for the rescue: it shows that its lot is held or stopped wrongly.
    pub is_new: bool,
}

impl Worth {
    /// What an answer with this status is worth.
    pub fn of(status: u16, judgement: &Judgement, says: Says, counts: LinkCounts) -> Self {
        let has_own_words = says.own_words == OwnWords::Few;
        // In an endless series of pages with the same text, some pages are unique by chance: their fingerprints lie far
        // apart, or a text beside the content was not seen before. Such a page is no evidence that the others are worth
        // a fetch.
        let is_one_text = says.is_same && matches!(judgement.unique_by, None | Some(UniqueBy::Aside));
        let is_new_text = has_new_text(judgement, says.little) && !says.rearranges && !is_one_text;
        // An unchanged page was a lesson at an earlier visit, so now it only tests what was suggested since. Little
        // text is a lesson only if an earlier page has it: then the page may belong to a trap.
        let is_lesson = !matches!(judgement.verdict, Verdict::Unjudged | Verdict::Unchanged { .. })
            && (!says.little || has_known_text(judgement));
        Self {
            taught: taught(status, judgement, says, counts),
            is_lesson,
            is_barren: (has_known_text(judgement) || says.rearranges) && !has_own_words && counts.beyond == 0,
            is_new: has_own_words || says.new_file == Some(true) || is_new_text,
        }
    }
}

/// Whether a page is unique, and by more than its links. `says_little`: its few words are no evidence.
pub(super) fn has_new_text(judgement: &Judgement, says_little: bool) -> bool {
    let only_links = matches!(judgement.unique_by, Some(UniqueBy::Links | UniqueBy::LinksOfFewWords));
    judgement.verdict == Verdict::Unique && !only_links && !says_little
}

fn taught(status: u16, judgement: &Judgement, says: Says, counts: LinkCounts) -> Taught {
    match judgement.verdict {
        Verdict::Unjudged if status >= 400 => Taught::Error,
        Verdict::Unjudged => says.new_file.map_or(Taught::Nothing, |is_new| Taught::File { is_new }),
        _ if says.little => Taught::Little,
        Verdict::Unique if says.rearranges && !counts.promise() => Taught::Little,
        _ => Taught::Page { brought: brought(judgement, says, counts), novelty: judgement.novelty },
    }
}

fn brought(judgement: &Judgement, says: Says, counts: LinkCounts) -> Brought {
    match judgement.unique_by {
        _ if says.own_words == OwnWords::Few => Brought::Words,
        _ if says.own_words == OwnWords::OfStock => Brought::WordsOfStock,
        _ if judgement.verdict.is_duplicate() => Brought::Nothing,
        // The pages that it leads to are not fetched, so no trial can tell what they are worth.
        Some(UniqueBy::Links) if counts.away >= LinkCounts::MANY_AWAY => Brought::Media,
        Some(UniqueBy::Links) => Brought::Links,
        Some(UniqueBy::Media | UniqueBy::MediumBesideShared | UniqueBy::Aside | UniqueBy::LinksOfFewWords) => {
            Brought::Media
        }
        None if says.rearranges => Brought::Media,
        None => Brought::Content,
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::url::PageId;
    use frontier::Brought::{Content, Links, Media, Nothing, Words};

    use super::*;

    const SAYS: Says =
        Says { little: false, rearranges: false, is_same: false, own_words: OwnWords::None, new_file: None };

    fn unique(unique_by: Option<UniqueBy>) -> Judgement {
        Judgement { verdict: Verdict::Unique, novelty: 1.0, unique_by }
    }

    fn near(resemblance: f32) -> Judgement {
        let verdict = Verdict::Near { of: PageId::default(), distance: 3, resemblance };
        Judgement { verdict, novelty: 0.5, unique_by: None }
    }

    /// Each row: an answer, what it brought, and whether it is a lesson, barren, and new.
    #[test]
    fn the_worth_of_pages() {
        let by = |by| unique(Some(by));
        let rows = [
            ("new text", unique(None), SAYS, Content, [true, false, true]),
            ("new text by chance", unique(None), Says { is_same: true, ..SAYS }, Content, [true, false, false]),
            ("aside", by(UniqueBy::Aside), SAYS, Media, [true, false, true]),
            ("aside by chance", by(UniqueBy::Aside), Says { is_same: true, ..SAYS }, Media, [true, false, false]),
            ("picture", by(UniqueBy::Media), Says { is_same: true, ..SAYS }, Media, [true, false, true]),
            ("links", by(UniqueBy::Links), SAYS, Links, [true, true, false]),
            ("same text", near(0.95), SAYS, Nothing, [true, true, false]),
            ("like text", near(0.8), SAYS, Nothing, [true, false, false]),
            ("own words", near(0.95), Says { own_words: OwnWords::Few, ..SAYS }, Words, [true, false, true]),
        ];
        for (name, judgement, says, brought, expected) in rows {
            let worth = Worth::of(200, &judgement, says, LinkCounts::default());
            let novelty = judgement.novelty;
            assert_eq!(worth.taught, Taught::Page { brought, novelty }, "{name}");
            assert_eq!([worth.is_lesson, worth.is_barren, worth.is_new], expected, "{name}");
        }
    }

    #[test]
    fn the_worth_of_answers_that_are_no_evidence() {
        let little = Says { little: true, ..SAYS };
        let file = |is_new| Says { new_file: Some(is_new), ..SAYS };
        let rows = [
            ("error", 404, Judgement::UNJUDGED, SAYS, Taught::Error, [false, false, false]),
            ("feed", 200, Judgement::UNJUDGED, SAYS, Taught::Nothing, [false, false, false]),
            ("new file", 200, Judgement::UNJUDGED, file(true), Taught::File { is_new: true }, [false, false, true]),
            ("file", 200, Judgement::UNJUDGED, file(false), Taught::File { is_new: false }, [false, false, false]),
            ("few words", 200, unique(None), little, Taught::Little, [false, false, false]),
            ("a list", 200, unique(Some(UniqueBy::LinksOfFewWords)), little, Taught::Little, [true, true, false]),
        ];
        for (name, status, judgement, says, taught, expected) in rows {
            let worth = Worth::of(status, &judgement, says, LinkCounts::default());
            assert_eq!(worth.taught, taught, "{name}");
            assert_eq!([worth.is_lesson, worth.is_barren, worth.is_new], expected, "{name}");
        }
        let unchanged =
            Judgement { verdict: Verdict::Unchanged { of: None, known: None, bytes: true }, ..unique(None) };
        let worth = Worth::of(304, &unchanged, SAYS, LinkCounts::default());
        assert!(!worth.is_lesson && !worth.is_new, "it was a lesson at an earlier visit");
    }

    #[test]
    fn a_page_that_rearranges_is_worth_what_its_links_promise() {
        let says = Says { rearranges: true, ..SAYS };
        let worth = |counts| Worth::of(200, &unique(None), says, counts);
        let none = worth(LinkCounts::default());
        assert_eq!((none.taught, none.is_barren, none.is_new), (Taught::Little, true, false));
        let promising = worth(LinkCounts { promising: 1, beyond: 1, ..LinkCounts::default() });
        assert_eq!(promising.taught, Taught::Page { brought: Media, novelty: 1.0 });
        assert!(!promising.is_barren && !promising.is_new);
        let sites = LinkCounts { away: LinkCounts::MANY_AWAY, ..LinkCounts::default() };
        let directory = Worth::of(200, &unique(Some(UniqueBy::Links)), SAYS, sites);
        assert_eq!(directory.taught, Taught::Page { brought: Media, novelty: 1.0 });
    }
}
