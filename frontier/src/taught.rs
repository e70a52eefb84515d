//! What an answer teaches the frontier.

/// The new things that a judged page brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// Text that no page before it had.
    Content,
    /// Media, a text in its chrome, or links beside a few words. Its text is that of another page, or consists of
    /// pieces that pages of its kind have shown. Or it is a directory of other sites.
    Media,
    /// A few words. It is a near-duplicate, because most of its text stands on other pages of its host, too.
    Words,
    /// Nothing, and its host has a stock of words: the words that other pages brought were no contents either.
    WordsOfStock,
    /// Only links. Its text is that of another page, but it has other links. It counts as unique, and trials show what
    /// its links are worth.
    Links,
    /// Nothing: it is a duplicate.
    Nothing,
}

/// What an answer teaches about the group and the host of its URL, and about the template of the link that led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Taught {
    /// It is an error page.
    Error,
    /// It is a page that was judged.
    Page {
        /// The new things that it brought.
        brought: Brought,
        /// How much of it is new, 0..1.
        novelty: f32,
    },
    /// It is a file.
    File {
        /// Whether the crawl was not shown it before.
        is_new: bool,
    },
    /// It is a page that is no evidence, for one of three reasons: its few words were shown by its host before; only its
    /// links are new; or it only rearranges pieces that its host has shown before. One such page in four spends the
    /// budget of its group and host, as a duplicate does.
    Little,
    /// Nothing: it is an answer that is not judged.
    Nothing,
}

impl Taught {
    /// What a trial of news brought; `None` if it tells nothing.
    pub fn brought(self) -> Option<Brought> {
        match self {
            Taught::Page { brought, .. } => Some(brought),
            Taught::File { is_new: true } => Some(Brought::Media),
            Taught::File { is_new: false } => Some(Brought::Nothing),
            Taught::Error | Taught::Little | Taught::Nothing => None,
        }
    }
}
