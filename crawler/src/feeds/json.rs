//! JSON Feed 1.1: `items`, each with a `url`, and `next_url`, which leads to the next part of the feed. It is read as a
//! stream. Of an item, nothing is kept but its address and a digest.

use std::fmt;

use frontier::sitemap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::Url;

use super::MAX_ENTRIES;
use super::targets::Targets;

/// At most this much of a string is kept, in bytes. URLs are shorter.
const MAX_TEXT: usize = 64 << 10;

/// Whether a document says that it is a JSON Feed.
pub fn looks_like_feed(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"jsonfeed.org/version/").is_some()
}

/// The links of the complete items, at most [`MAX_ENTRIES`] and [`config::bounds::LINK_BYTES`] bytes, the number of
/// items beyond that, and the sum of the digests of these items.
pub fn links(body: &[u8], base: &Url) -> (Vec<Url>, usize, u64) {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut targets = Targets::new(MAX_ENTRIES);
    let mut reader = serde_json::Deserializer::from_slice(body);
    // An error ends the reading. The items before it count.
    let _ = Feed { targets: &mut targets, base }.deserialize(&mut reader);
    let digest = targets.digest();
    let (links, cut) = targets.finish();
    (links, cut, digest)
}

/// The members of an item that matter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    url: Text,
    external_url: Text,
    id: Text,
    title: Text,
    date_published: Text,
    date_modified: Text,
}

/// A string, if the value is one.
#[derive(Debug, Default)]
enum Text {
    Short(String),
    /// It is longer than [`MAX_TEXT`].
    Long,
    #[default]
    None,
}

impl Text {
    /// The string; empty if there is none, or if it is too long.
    fn text(&self) -> &str {
        if let Text::Short(text) = self { text } else { "" }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Takes any value, and keeps nothing but a short string.
struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(if text.len() <= MAX_TEXT { Text::Short(text.to_owned()) } else { Text::Long })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::None)
    }
}

impl Item {
    /// Adds the address of the item, if it has one.
    fn add(self, base: &Url, targets: &mut Targets) {
        let said = sitemap::says(0, "id", self.id.text());
        let said = sitemap::says(said, "title", self.title.text());
        let said = sitemap::says(said, "date", self.date_published.text());
        let modified = self.date_modified.text().to_owned();
        // An identifier is often the URL. Otherwise, it is no URL at all.
        let id = match self.id {
            Text::Short(id) if !id.starts_with("http") => Text::None,
            id => id,
        };
        for text in [self.url, self.external_url, id] {
            let text = match text {
                Text::Short(text) => text,
                Text::Long => return targets.cut(1),
                Text::None => continue,
            };
            let Ok(mut url) = base.join(text.trim()) else { continue };
            url.set_fragment(None);
            if matches!(url.scheme(), "http" | "https") {
                let digest = sitemap::digest(&url, Some(&modified), said);
                targets.add_entry(url, digest);
                return;
            }
        }
    }
}

struct Feed<'a> {
    targets: &'a mut Targets,
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
            if key == "next_url" && !self.targets.is_full() {
                let item = Item { url: map.next_value()?, ..Item::default() };
                item.add(self.base, self.targets);
            } else if key == "items" {
                map.next_value_seed(Items { targets: &mut *self.targets, base: self.base })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Items<'a> {
    targets: &'a mut Targets,
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
        while !self.targets.is_full() {
            let Some(item) = seq.next_element::<Item>()? else { return Ok(()) };
            item.add(self.base, self.targets);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            self.targets.cut(1);
        }
        Ok(())
    }
}
