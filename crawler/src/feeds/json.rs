//! JSON Feed 1.1: `items`, each with a `url`, and `next_url`, which leads to the next part of the feed. It is read as a
//! stream, and nothing else of an item is kept.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::Url;

use super::MAX_ENTRIES;

/// Whether a document says that it is a JSON Feed.
pub fn looks_like_feed(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"jsonfeed.org/version/").is_some()
}

/// The links of the complete items, and the number of items beyond [`MAX_ENTRIES`].
pub fn links(body: &[u8], base: &Url) -> (Vec<Url>, usize) {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let (mut entries, mut cut) = (Vec::new(), 0);
    let mut reader = serde_json::Deserializer::from_slice(body);
    // An error ends the reading. The items before it count.
    let _ = Feed { entries: &mut entries, cut: &mut cut, base }.deserialize(&mut reader);
    (entries, cut)
}

/// The members of an item that matter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    url: Text,
    external_url: Text,
    id: Text,
}

/// A string; `None` for any other value.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Text(String),
            Other(IgnoredAny),
        }
        Ok(match Any::deserialize(deserializer)? {
            Any::Text(text) => Self(Some(text)),
            Any::Other(_) => Self(None),
        })
    }
}

impl Item {
    fn entry(self, base: &Url) -> Option<Url> {
        let resolve = |text: Text| {
            let mut url = base.join(text.0?.trim()).ok()?;
            url.set_fragment(None);
            matches!(url.scheme(), "http" | "https").then_some(url)
        };
        // An identifier is often the URL. Otherwise, it is no URL at all.
        let id = Text(self.id.0.filter(|id| id.starts_with("http")));
        resolve(self.url).or_else(|| resolve(self.external_url)).or_else(|| resolve(id))
    }
}

struct Feed<'a> {
    entries: &'a mut Vec<Url>,
    cut: &'a mut usize,
    base: &'a Url,
}

impl<'de> DeserializeSeed<'de> for Feed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Feed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a feed")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "next_url" && self.entries.len() < MAX_ENTRIES {
                let item = Item { url: map.next_value()?, ..Item::default() };
                self.entries.extend(item.entry(self.base));
            } else if key == "items" {
                map.next_value_seed(Items { entries: &mut *self.entries, cut: &mut *self.cut, base: self.base })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Items<'a> {
    entries: &'a mut Vec<Url>,
    cut: &'a mut usize,
    base: &'a Url,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while self.entries.len() < MAX_ENTRIES {
            let Some(item) = seq.next_element::<Item>()? else { return Ok(()) };
            self.entries.extend(item.entry(self.base));
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            *self.cut += 1;
        }
        Ok(())
    }
}
