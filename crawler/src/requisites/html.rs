//! The requisites of a page.

use html5ever::tokenizer::Tag;
use url::Url;

use super::{css, resolve};
use crate::tags::{self, Piece, attribute};

/// The number of bytes of a page that are read.
const MAX_BYTES: usize = 4 << 20;
/// The most addresses that are kept.
const MAX_WRITTEN: usize = 10_000;

/// The requisites of a page at `url`, in their order on the page.
pub fn of_page(body: &[u8], url: &Url) -> Vec<Url> {
    let mut found = Found::default();
    tags::read(&body[..body.len().min(MAX_BYTES)], |piece| match piece {
        Piece::Start(tag) => found.tag(tag),
        Piece::End(name) => found.in_style &= name != "style",
        Piece::Text(text) if found.in_style => found.style.push_str(text),
        Piece::Text(_) => {}
    });
    let Found { base, written, style, .. } = found;
    let base = base.and_then(|href| url.join(href.trim()).ok()).unwrap_or_else(|| url.clone());
    resolve(&base, written.iter().map(String::as_str).chain(css::addresses(&style)))
}

#[derive(Default)]
struct Found {
    base: Option<String>,
    written: Vec<String>,
    /// The text of all styles of the page.
    style: String,
    in_style: bool,
}

impl Found {
    fn tag(&mut self, tag: &Tag) {
        let value = |name: &str| attribute(tag, name);
        match &*tag.name {
            "base" if self.base.is_none() => self.base = value("href"),
            "img" | "source" => {
                self.add(value("src"));
                self.add(value("data-src"));
                self.add_set(value("srcset"));
            }
            "link" => {
                let rel = value("rel").unwrap_or_default().to_ascii_lowercase();
                let is_needed = |word: &str| {
                    let kinds = ["stylesheet", "icon", "apple-touch-icon", "mask-icon", "preload", "modulepreload"];
                    kinds.contains(&word)
                };
                if rel.split_ascii_whitespace().any(is_needed) {
                    self.add(value("href"));
                    self.add_set(value("imagesrcset"));
                }
            }
            "script" | "embed" | "track" | "audio" => self.add(value("src")),
            "video" => {
                self.add(value("poster"));
                self.add(value("src"));
            }
            "input" if value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => self.add(value("src")),
            "object" => self.add(value("data")),
            "image" | "use" => self.add(value("href").or_else(|| value("xlink:href"))),
            "body" | "table" | "td" => self.add(value("background")),
            _ => {}
        }
        if let Some(style) = value("style") {
            self.style.push_str(&style);
            self.style.push('\n');
        }
        self.in_style |= &*tag.name == "style";
    }

    fn add(&mut self, written: Option<String>) {
        if self.written.len() < MAX_WRITTEN {
            self.written.extend(written);
        }
    }

    /// Adds a list of images for several widths, such as `a.png 1x, b.png 2x`.
    fn add_set(&mut self, set: Option<String>) {
        for address in set.iter().flat_map(|set| addresses(set)) {
            self.add(Some(address.to_owned()));
        }
    }
}

/// The addresses in a `srcset` attribute, as the HTML standard reads it ("parse a srcset attribute"). An address ends
/// at a space, and may contain commas; a comma at its end separates it from the next one.
fn addresses(set: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_ascii_whitespace() || c == ',';
    let mut rest = set;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_between);
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (address, after) = rest.split_at(end);
        let alone = address.trim_end_matches(',');
        rest = match alone.len() == address.len() {
            // The width or the density follows.
            true => after.split_once(',').map_or("", |(_, next)| next),
            false => after,
        };
        (!alone.is_empty()).then_some(alone)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_needs_images_styles_scripts_and_fonts() {
        let page = br#"<link rel="stylesheet" href="/s.css"><link rel=canonical href=/no><link rel="shortcut icon" href=f.ico>
            <script src=/j.js>"<img src=no1>"</script><style>@font-face { src: url(/f.woff) }</style>
            <img src=a.png srcset="a1.png 1x, a2.png 2x"><picture><source srcset="b.webp"></picture><a href=/no2>n</a>
            <div style="background: url('bg.png')"></div><video poster=p.jpg src=v.mp4></video><img src="data:image/png;base64,x">
            <svg><use href="sprite.svg#x"/></svg><input type=image src=i.gif><textarea><img src=no3></textarea><img src=a.png>"#;
        let found: Vec<String> =
            of_page(page, &Url::parse("http://a.test/d/").unwrap()).into_iter().map(String::from).collect();
        let names = [
            "s.css",
            "d/f.ico",
            "j.js",
            "d/a.png",
            "d/a1.png",
            "d/a2.png",
            "d/b.webp",
            "d/p.jpg",
            "d/v.mp4",
            "d/sprite.svg",
            "d/i.gif",
            "f.woff",
            "d/bg.png",
        ];
        assert_eq!(found, names.map(|name| format!("http://a.test/{name}")));
        let sets = "/1,x.png 1x,/2.png 2x , /3.png,/4.png,,  /5.png 5w";
        let found: Vec<_> = addresses(sets).collect();
        assert_eq!(found, ["/1,x.png", "/2.png", "/3.png,/4.png", "/5.png"]);
        let slow: String = (0..30_000).map(|n| format!(" a{n}")).collect();
        assert!(
            of_page(format!("<img src=a.png{slow}>").as_bytes(), &Url::parse("http://a.test/").unwrap()).is_empty()
        );
        let many: String = (0..20_000).map(|n| format!("<img src={n}.png>")).collect();
        assert_eq!(of_page(many.as_bytes(), &Url::parse("http://a.test/").unwrap()).len(), super::super::MOST);
    }
}
