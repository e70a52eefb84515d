//! The media of a page with little text, compared with those of its twin.

use crate::page::media::MediumKind;

/// The media of a page with little text.
#[derive(Debug, Default)]
pub(super) struct Media {
    /// Those that its twin shows, too.
    pub common: Vec<u32>,
    /// Those that its twin lacks.
    pub others: Vec<u32>,
}

impl Media {
    /// Whether the twin shows some of them, and lacks others.
    pub(super) fn are_mixed(&self) -> bool {
        !self.common.is_empty() && !self.others.is_empty()
    }

    /// Whether the twin lacks more than half of the page's media of its own site, or of its media of other sites. Only
    /// those count that `is_common` and `is_other` name.
    pub(super) fn are_others(&self, is_common: &dyn Fn(u32) -> bool, is_other: &dyn Fn(u32) -> bool) -> bool {
        let lacks = |kind: MediumKind| {
            let count = |media: &[u32], counts: &dyn Fn(u32) -> bool| {
                media.iter().filter(|medium| MediumKind::of(**medium) == kind && counts(**medium)).count()
            };
            count(&self.others, is_other) > count(&self.common, is_common)
        };
        lacks(MediumKind::Own) || lacks(MediumKind::Away) && lacks(MediumKind::AwayThere)
    }
}
