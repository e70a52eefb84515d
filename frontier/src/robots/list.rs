//! The rules of one robots.txt in the form that stays in memory. A file of 500 KiB can have 60,000 rules, so the rules
//! have no allocations of their own: their patterns are one text.

use super::pattern::RobotsRule;

/// Rules in order of precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleList {
    /// All patterns, one after the other.
    text: Box<str>,
    /// The end of each pattern in the text, with [`RuleList::ALLOW`] if the rule allows.
    ends: Box<[u32]>,
}

impl RuleList {
    const ALLOW: u32 = 1 << 31;

    /// The list of these rules, which must be in order of precedence.
    pub fn of<'a>(rules: impl IntoIterator<Item = RobotsRule<'a>>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for rule in rules {
            text.push_str(&rule.pattern);
            let end = u32::try_from(text.len()).ok().filter(|end| *end < Self::ALLOW);
            // No file is that long.
            let Some(end) = end else { break };
            ends.push(end | if rule.allow { Self::ALLOW } else { 0 });
        }
        Self { text: text.into(), ends: ends.into() }
    }

    /// The rules, in order.
    pub fn iter(&self) -> impl Iterator<Item = RobotsRule<'_>> {
        let mut begin = 0;
        self.ends.iter().map(move |end| {
            let (allow, end) = (end & Self::ALLOW != 0, (end & !Self::ALLOW) as usize);
            let pattern = self.text[begin..end].into();
            begin = end;
            RobotsRule { pattern, allow }
        })
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes that the list holds on the heap.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.ends)
    }
}
