//! The topic of a crawl: weighted terms, from words, files of words and example pages.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dedup_stage::page::{Input, Reader};
use dedup_stage::store::{self, Session, Space};
use dedup_stage::words::{WordHash, Words};
use serde::{Deserialize, Serialize};
use url::Url;

/// The terms of a topic. A term is a word in the singular or plural.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// The settings from which it was made. They are kept to notice when they change.
    source: config::Focus,
    terms: Vec<(String, f32)>,
    #[serde(skip)]
    by_word: Vec<(WordHash, u16)>,
}

/// The reasons why a topic cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    /// A file of words, or an example page, cannot be read.
    #[error("--{flag} {}: {error}", .path.display())]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the file.
        error: std::io::Error,
    },
    /// An example page cannot be fetched.
    #[error("--like {url}: {reason}")]
    Example {
        /// The URL of the page.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The topic has no words.
    #[error("the topic has no words: give some with --topic, --topic-file or --like")]
    Empty,
    /// The state failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Topic {
    /// The most terms. If a topic has more, those with the greatest weight are kept.
    pub const MOST: usize = 256;
    /// The length in letters of the shortest word that is taken from an example page. The IDF is small for other common
    /// words.
    const SHORTEST: usize = 3;
    /// The key of the topic in [`Space::META`].
    pub const RECORD: &[u8] = b"topic";

    /// The topic of a crawl: the stored one, unless the settings have changed; `None` without a topic. `fetch` fetches
    /// example pages that are URLs.
    pub fn open(
        focus: &config::Focus,
        session: &mut Session,
        fetch: &mut dyn FnMut(&Url) -> Result<String, TopicError>,
    ) -> Result<Option<Self>, TopicError> {
        if !focus.has_topic() {
            return Ok(None);
        }
        let stored = session.get(Space::META, Self::RECORD)?;
        let stored = stored.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        if let Some(stored) = stored.filter(|stored| stored.source == *focus) {
            return Ok(Some(Self::new(stored.source, stored.terms)));
        }
        let topic = Self::read(focus, fetch)?;
        let record = serde_json::to_vec(&topic).map_err(|error| store::Error::Io(error.into()))?;
        session.put(Space::META, Self::RECORD, record);
        Ok(Some(topic))
    }

    /// Reads everything that the settings name.
    fn read(
        focus: &config::Focus,
        fetch: &mut dyn FnMut(&Url) -> Result<String, TopicError>,
    ) -> Result<Self, TopicError> {
        let file =
            |flag, path: &str| std::fs::read(path).map_err(|error| TopicError::File { flag, path: path.into(), error });
        let mut counts = BTreeMap::<String, f32>::new();
        for text in &focus.topic {
            stems(text).for_each(|stem| *counts.entry(stem).or_default() += 1.0);
        }
        for path in &focus.topic_file {
            stems(&String::from_utf8_lossy(&file("topic-file", path)?))
                .for_each(|stem| *counts.entry(stem).or_default() += 1.0);
        }
        for example in &focus.like {
            let text = match Url::parse(example) {
                Ok(url) if matches!(url.scheme(), "http" | "https") => fetch(&url)?,
                _ => text_of(&file("like", example)?, None),
            };
            let long = stems(&text).filter(|stem| stem.chars().count() >= Self::SHORTEST);
            long.for_each(|stem| *counts.entry(stem).or_default() += 1.0);
        }
        let mut terms: Vec<(String, f32)> = counts.into_iter().map(|(stem, n)| (stem, 1.0 + n.ln())).collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms.truncate(Self::MOST);
        if terms.is_empty() { Err(TopicError::Empty) } else { Ok(Self::new(focus.clone(), terms)) }
    }

    fn new(source: config::Focus, terms: Vec<(String, f32)>) -> Self {
        let (mut by_word, mut words, mut hashes) = (Vec::new(), Words::default(), Vec::new());
        for (term, (stem, _)) in terms.iter().enumerate() {
            hashes.clear();
            for form in [stem.clone(), format!("{stem}s"), format!("{stem}es")] {
                words.hashes(&form, &mut hashes);
            }
            if let Some(stem) = stem.strip_suffix('y') {
                words.hashes(&format!("{stem}ies"), &mut hashes);
            }
            by_word.extend(hashes.iter().map(|hash| (*hash, term as u16)));
        }
        by_word.sort_unstable();
        by_word.dedup_by_key(|(hash, _)| *hash);
        Self { source, terms, by_word }
    }

    /// The term to which a word belongs.
    pub fn term(&self, word: WordHash) -> Option<u16> {
        self.by_word.binary_search_by_key(&word, |(hash, _)| *hash).ok().map(|at| self.by_word[at].1)
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are no terms. A topic that was opened has some.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The weight of a term within the topic.
    pub fn weight(&self, term: usize) -> f32 {
        self.terms[term].1
    }
}

/// The visible text of a page.
pub(super) fn text_of(body: &[u8], content_type: Option<&str>) -> String {
    let url = Url::parse("http://example.invalid/").unwrap_or_else(|error| panic!("a URL of our own: {error}"));
    let mut reader = Reader::default();
    let page = reader.read(&Input { url: &url, status: 200, content_type, body });
    let content: Vec<&str> = reader.content().collect();
    let text = if content.is_empty() { reader.text().to_owned() } else { content.join("\n") };
    format!("{} {text}", page.title)
}

/// The words of a text in lower case, English plurals folded.
fn stems(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(|word| {
        let word = word.to_lowercase();
        let fold = |suffix: &str, with: &str| {
            word.strip_suffix(suffix).filter(|stem| stem.len() >= 3).map(|stem| format!("{stem}{with}"))
        };
        let kept = word.ends_with("ss") || word.ends_with("us") || word.ends_with("is");
        if kept {
            None
        } else {
            fold("ies", "y").or_else(|| fold("sses", "ss")).or_else(|| fold("xes", "x")).or_else(|| fold("s", ""))
        }
        .unwrap_or(word)
    })
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    fn hash(word: &str) -> WordHash {
        let mut hashes = Vec::new();
        Words::default().hashes(word, &mut hashes);
        hashes[0]
    }

    fn focus(topic: &str) -> config::Focus {
        config::Focus { topic: vec![topic.into()], ..config::Settings::default().focus }
    }

    #[test]
    fn a_term_is_met_in_singular_and_plural() -> Result<(), TopicError> {
        let mut session = Session::new(Box::new(Memory::default()));
        let never = &mut |_: &Url| panic!("no example to fetch");
        let topic = Topic::open(&focus("Indexes queries glass"), &mut session, never)?.expect("a topic");
        let term = |word| topic.term(hash(word));
        assert_eq!(topic.len(), 3);
        assert!(term("query").is_some() && term("query") == term("QUERIES"));
        assert!(term("glass").is_some() && term("index") == term("indexes"), "{topic:?}");
        assert_eq!(term("other"), None);
        Ok(())
    }

    #[test]
    fn the_topic_on_record_stays_unless_the_settings_change() -> Result<(), TopicError> {
        let mut session = Session::new(Box::new(Memory::default()));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("words");
        std::fs::write(&file, "alpha beta").expect("written");
        let mut focus = focus("gamma");
        focus.topic_file = vec![file.to_string_lossy().into_owned()];
        let never = &mut |_: &Url| panic!("no example to fetch");
        let first = Topic::open(&focus, &mut session, never)?;
        assert_eq!(first.as_ref().map(Topic::len), Some(3));
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(Topic::open(&focus, &mut session, never)?, first);
        focus.topic.push("delta".into());
        assert!(matches!(Topic::open(&focus, &mut session, never), Err(TopicError::File { .. })));
        Ok(())
    }
}
