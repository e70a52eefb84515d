//! Statements of preference about categories of use: the vocabulary of `draft-ietf-aipref-vocab`, and Content Signals.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::purpose::Purpose;

/// A category of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Training of generative models (`train-ai`; `ai-train` as a content signal).
    TrainAi,
    /// Search (`search` in both).
    Search,
    /// Input to models (`ai-input`; a content signal only).
    AiInput,
}

impl Category {
    /// The categories that must be allowed for a purpose.
    pub fn of(purpose: Purpose) -> &'static [Category] {
        match purpose {
            Purpose::Train => &[Category::TrainAi],
            Purpose::Search => &[Category::Search],
            Purpose::Input => &[Category::AiInput],
            Purpose::Archive | Purpose::Mine => &[],
        }
    }
}

/// One statement: for each category, whether it is allowed, disallowed or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    categories: [Option<bool>; 3],
}

impl Preferences {
    /// The preference for a category; `None` if it is unknown.
    pub fn get(&self, category: Category) -> Option<bool> {
        self.categories[category as usize]
    }

    /// Reads the exemplary format (vocab, section 6.6): a dictionary of structured fields. Its keys `train-ai` and
    /// `search` count, with the tokens `y` and `n`. If it cannot be parsed, everything is unknown.
    pub fn from_usage(value: &[u8]) -> Self {
        let mut preferences = Self::default();
        let Ok(dictionary) = Parser::new(value).parse::<Dictionary>() else { return preferences };
        for (label, category) in [("train-ai", Category::TrainAi), ("search", Category::Search)] {
            let Some(ListEntry::Item(item)) = dictionary.get(label) else { continue };
            preferences.categories[category as usize] = match &item.bare_item {
                BareItem::Token(token) if token.as_str() == "y" => Some(true),
                BareItem::Token(token) if token.as_str() == "n" => Some(false),
                _ => None,
            };
        }
        preferences
    }

    /// Reads a content signal such as `search=yes, ai-train=no`, without case. If a signal occurs twice, the stricter
    /// value counts.
    pub fn from_signal(value: &str) -> Self {
        let mut preferences = Self::default();
        for signal in value.split(',') {
            let Some((name, value)) = signal.split_once('=') else { continue };
            let category = match name.trim().to_ascii_lowercase().as_str() {
                "ai-train" => Category::TrainAi,
                "search" => Category::Search,
                "ai-input" => Category::AiInput,
                _ => continue,
            };
            let stated = match value.trim().to_ascii_lowercase().as_str() {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            };
            let known = &mut preferences.categories[category as usize];
            *known = stricter(*known, stated);
        }
        preferences
    }

    /// Combines two statements (vocab, section 5.1). What either disallows is disallowed. Otherwise, what either allows
    /// is allowed.
    pub fn combine(&self, other: &Self) -> Self {
        let mut combined = *self;
        for (known, stated) in combined.categories.iter_mut().zip(other.categories) {
            *known = stricter(*known, stated);
        }
        combined
    }
}

fn stricter(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a && b),
        (a, b) => a.or(b),
    }
}
