//! The purposes of `--purpose`.

/// A purpose for which pages are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Finding pages and pointing to them.
    Search,
    /// Keeping copies that people can read later.
    Archive,
    /// Training models.
    Train,
    /// Giving pages to a model as input: answers, summaries.
    Input,
    /// Text and data mining of any other kind.
    Mine,
}

impl Purpose {
    /// All purposes, with their names on the command line.
    pub const ALL: [(&'static str, Purpose); 5] = [
        ("search", Purpose::Search),
        ("archive", Purpose::Archive),
        ("train", Purpose::Train),
        ("input", Purpose::Input),
        ("mine", Purpose::Mine),
    ];

    /// The purpose with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(word, _)| *word == name).map(|(_, purpose)| purpose)
    }
}
