//! A document as schemes compare it: a page or text after reading, with the parts that a scheme may use besides the
//! content.

use crate::page::{BlockKind, Input, Reader};
use crate::signature::Signature;
use crate::words::WordHash;

/// A page or text after reading.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Its content.
    pub text: String,
    /// The hashes of the words of its content, in order.
    pub words: Vec<WordHash>,
    /// Its signature by the recipe of this program, if it has one.
    pub signature: Option<Signature>,
    /// Its language, as in [`crate::page::Page::language`].
    pub language: String,
    /// The parts of the page that are not content, or that stand out in it.
    pub parts: Vec<(Part, WeightedText)>,
}

/// Features that a scheme may add to those of the content (Manku, Jain, Das Sarma, WWW 2007, section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The title.
    Title,
    /// The headings.
    Headings,
    /// The texts of the page's links.
    Anchors,
    /// The words around its links, in the same block. A word counts less if it stands farther from the link
    /// (Haveliwala, Gionis, Klein, Indyk, "Evaluating Strategies for Similarity Search on the Web", WWW 2002).
    Windows,
}

impl Part {
    /// All of them, with the names that schemes have for them.
    pub const ALL: [(Part, &'static str); 4] =
        [(Part::Title, "title"), (Part::Headings, "headings"), (Part::Anchors, "anchors"), (Part::Windows, "windows")];
}

/// A run of text with a weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedText {
    /// The text.
    pub text: String,
    /// The weight of its words, in sixteenths of the weight of a word of the content.
    pub sixteenths: u32,
}

impl Document {
    /// Reads a page or text.
    pub fn read(reader: &mut Reader, input: &Input<'_>) -> Self {
        let page = reader.read(input);
        let text = reader.content().collect::<Vec<_>>().join("\n");
        let words = reader.content_words().collect();
        let mut parts = Vec::new();
        let mut add = |part, text: &str, sixteenths| {
            if !text.trim().is_empty() {
                parts.push((part, WeightedText { text: text.to_owned(), sixteenths }));
            }
        };
        add(Part::Title, &page.title, 64);
        for block in reader.blocks().iter().filter(|block| block.shape == BlockKind::Heading) {
            add(Part::Headings, &reader.text()[block.range()], 32);
        }
        for anchor in reader.anchors() {
            add(Part::Anchors, &reader.text()[anchor.clone()], 16);
            // Blocks are in the order of the text. This is the block in which the anchor begins.
            let block = reader.blocks().partition_point(|block| block.end as usize <= anchor.start);
            let Some(block) = reader.blocks().get(block).filter(|block| block.end as usize >= anchor.end) else {
                continue;
            };
            let before = reader.text().get(block.start as usize..anchor.start).unwrap_or_default();
            let after = reader.text().get(anchor.end..block.end as usize).unwrap_or_default();
            for (text, sixteenths) in window(before.split_whitespace().rev()).chain(window(after.split_whitespace())) {
                add(Part::Windows, &text, sixteenths);
            }
        }
        Self { sha256: page.sha256, text, words, signature: page.signature, language: page.language, parts }
    }
}

/// The words beside a link, the nearest first, in bands. The weight falls from band to band.
fn window<'t>(words: impl Iterator<Item = &'t str>) -> impl Iterator<Item = (String, u32)> {
    let words: Vec<&str> = words.take(32).collect();
    let band = |from: usize, to: usize| words[from.min(words.len())..to.min(words.len())].join(" ");
    [(band(0, 4), 8), (band(4, 12), 4), (band(12, 32), 2)].into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_page() {
        let html = "<title>Rivers</title><body><h1>The Rhine</h1><p>It rises in the <a href=/alps>high Alps</a> and \
                    flows north.</p><nav><a href=/>Home</a></nav>";
        let url = ::url::Url::parse("http://a.example/").unwrap();
        let input = Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() };
        let document = Document::read(&mut Reader::default(), &input);
        let part = |part: Part| -> Vec<(&str, u32)> {
            let own = document.parts.iter().filter(|(of, _)| *of == part);
            own.map(|(_, part)| (part.text.as_str(), part.sixteenths)).collect()
        };
        assert_eq!(part(Part::Title), [("Rivers", 64)]);
        assert_eq!(part(Part::Headings), [("The Rhine", 32)]);
        assert_eq!(part(Part::Anchors), [("high Alps", 16)]);
        assert_eq!(part(Part::Windows), [("the in rises It", 8), ("and flows north.", 8)]);
        assert!(document.text.contains("flows north") && !document.text.contains("Home"));
    }
}
