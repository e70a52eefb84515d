//! Pages on which something around the content changes at every visit: dates, counters, sessions, advertisements, boxes
//! of related pages, the template. In some visits a paragraph of 30 words changes as well. Only these visits show new
//! content.

use std::ops::Range;

use fastrand::Rng;

use super::{Called, Site};
use crate::{data, folder};

/// The parts of a page that change besides its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The date of the visit, at the bottom.
    Date,
    /// A counter of visitors.
    Counter,
    /// A session in each link and in the text.
    Session,
    /// An advertisement in the middle of the page, one of six.
    Advertisement,
    /// An advertisement of 10 to 60 words between two paragraphs of the page, one of twenty.
    Inserted,
    /// Three teasers of 8 to 16 words with links, drawn from forty.
    Teasers,
    /// Links to five other pages of the site, drawn anew at each visit.
    Related,
    /// A footer of 40 words, which changes on all pages at every third visit.
    Template,
    /// All of these but `Inserted` and `Teasers`.
    All,
}

impl Noise {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Date,
        Self::Counter,
        Self::Session,
        Self::Advertisement,
        Self::Inserted,
        Self::Teasers,
        Self::Related,
        Self::Template,
        Self::All,
    ];

    /// The name of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Counter => "counter",
            Self::Session => "session",
            Self::Advertisement => "advertisement",
            Self::Inserted => "inserted",
            Self::Teasers => "teasers",
            Self::Related => "related",
            Self::Template => "template",
            Self::All => "all",
        }
    }

    fn has(self, other: Self) -> bool {
        self == other || self == Self::All && !matches!(other, Self::Inserted | Self::Teasers)
    }
}

/// The judgements about the visits to a site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Visits that show the same as the visit before.
    pub equal: Called,
    /// Visits at which a paragraph of 30 words has changed.
    pub changed: Called,
}

/// The number of visits to each page, including the first one.
const VISITS: u32 = 20;
/// On average, one in this many visits shows a new paragraph.
const CHANGES: usize = 10;

/// This many made-up words.
fn prose(random: &mut Rng, count: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ko", "ri", "mu", "ten", "sal", "vo", "din", "per", "la", "nu", "shi", "gra", "fe", "tor", "el"];
    let mut word = || (0..random.usize(1..4)).map(|_| SYLLABLES[random.usize(..16)]).collect::<String>();
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// The pages of a site, before parts are added to them.
#[derive(Clone, Debug)]
pub struct Pages {
    /// Their bodies, which end with `</body>`.
    pub html: Vec<String>,
    /// The number of words of the paragraph of its own that each page gets, and that changes in some visits.
    pub own: usize,
}

/// Made-up pages of 600 words, in twelve paragraphs.
pub fn made_up(pages: usize, seed: u64) -> Pages {
    Pages { html: with_paragraphs(pages, 12, seed), own: 30 }
}

/// Made-up pages with a heading and a paragraph of 8 words, which is too little text for a fingerprint.
pub fn short(pages: usize, seed: u64) -> Pages {
    Pages { html: with_paragraphs(pages, 0, seed), own: 8 }
}

fn with_paragraphs(pages: usize, paragraphs: usize, seed: u64) -> Vec<String> {
    let mut random = Rng::with_seed(seed);
    (0..pages)
        .map(|_| {
            let paragraphs: String = (0..paragraphs).map(|_| format!("<p>{}.</p>\n", prose(&mut random, 50))).collect();
            format!(
                "<html><head><title>x</title></head><body><h1>{}</h1>\n{paragraphs}</body></html>",
                prose(&mut random, 4)
            )
        })
        .collect()
}

/// Real pages: those of the documentation that are not too long.
pub fn documentation(pages: usize) -> anyhow::Result<Option<Pages>> {
    let Some(docs) = data::docs("postgresql-15")? else { return Ok(None) };
    let all = folder::pages(&docs)?.into_values().filter(|html| (4_000..20_000).contains(&html.len()));
    Ok(Some(Pages { html: all.step_by(7).take(pages).collect(), own: 30 }))
}

/// Visits these pages. If `marked` is true, each changing part is in an element whose class says what it is.
pub fn visit(
    Pages { html: pages, own: length }: &Pages,
    noise: Noise,
    marked: bool,
    seed: u64,
) -> anyhow::Result<Found> {
    let (mut site, mut found, mut random) = (Site::new()?, Found::default(), Rng::with_seed(seed));
    let advertisements: Vec<String> = (0..6).map(|_| prose(&mut random, 22)).collect();
    let mut texts = |count: usize, words: Range<usize>| -> Vec<String> {
        let mut text = |_| {
            let words = random.usize(words.clone());
            prose(&mut random, words)
        };
        (0..count).map(&mut text).collect()
    };
    let (inserted, teasers) = (texts(20, 10..60), texts(40, 8..16));
    let titles: Vec<String> = pages.iter().map(|_| prose(&mut random, 7)).collect();
    let mut footer = prose(&mut random, 40);
    let mut own: Vec<String> = pages.iter().map(|_| prose(&mut random, *length)).collect();
    for visit in 0..VISITS {
        if visit % 3 == 2 {
            footer = prose(&mut random, 40);
        }
        let around = Around {
            noise,
            marked,
            visit,
            advertisements: &advertisements,
            inserted: &inserted,
            teasers: &teasers,
            titles: &titles,
            footer: &footer,
        };
        for (number, page) in pages.iter().enumerate() {
            let changes = visit > 0 && random.usize(..CHANGES) == 0;
            if changes {
                own[number] = prose(&mut random, *length);
            }
            let html = around.page(page, &own[number], &mut random);
            if let Some(content) = site.show(&format!("p{number}.html"), &html)? {
                (if changes { &mut found.changed } else { &mut found.equal }).count(content);
            }
        }
    }
    Ok(found)
}

/// The parts around the pages at one visit.
struct Around<'a> {
    noise: Noise,
    marked: bool,
    visit: u32,
    advertisements: &'a [String],
    inserted: &'a [String],
    teasers: &'a [String],
    titles: &'a [String],
    footer: &'a str,
}

impl Around<'_> {
    /// A page with its own paragraph and the parts around it.
    fn page(&self, page: &str, own: &str, random: &mut Rng) -> String {
        let Self { noise, visit, .. } = *self;
        let mut tail = format!("<p>{own}.</p>\n");
        if noise.has(Noise::Advertisement) {
            tail += &self
                .part("ad", &format!("<p>{}!</p>", self.advertisements[random.usize(..self.advertisements.len())]));
        }
        if noise.has(Noise::Teasers) {
            let teasers: String = (0..3)
                .map(|_| {
                    let at = random.usize(..self.teasers.len());
                    format!("<li><a href=\"t{at}.html\">{}</a></li>", self.teasers[at])
                })
                .collect();
            tail += &self.part("teasers", &format!("<ul>{teasers}</ul>"));
        }
        if noise.has(Noise::Related) {
            let box_of = |number: usize| format!("<li><a href=\"p{number}.html\">{}</a></li>", self.titles[number]);
            let links: String = (0..5).map(|_| box_of(random.usize(..self.titles.len()))).collect();
            tail += &self.part("related", &format!("<h3>Related pages</h3><ul>{links}</ul>"));
        }
        if noise.has(Noise::Session) {
            let session = random.u32(..);
            let links: String =
                (1..6).map(|to| format!("<a href=\"p{to}.html?sid={session:08x}\">{to}</a> ")).collect();
            tail += &self.part("nav", &format!("<p>Your session is {session:08x}. {links}</p>"));
        }
        if noise.has(Noise::Counter) {
            let count = 1_000 * visit + random.u32(..1_000);
            tail += &self
                .part("counter", &format!("<p>This page has been read {count} times by {} people.</p>", count / 3));
        }
        if noise.has(Noise::Template) {
            tail += &self.part("footer", &format!("<p>{}.</p>", self.footer));
        }
        if noise.has(Noise::Date) {
            let months = ["January", "February", "March", "April", "May", "June"];
            let (month, day, hour) = (months[random.usize(..6)], random.u8(1..29), random.u8(..24));
            tail += &self
                .part("footer", &format!("<p>Last updated on {day} {month} 2026, at {hour:02}:05 by the team.</p>"));
        }
        let end = page.rfind("</body>").unwrap_or(page.len());
        if noise.has(Noise::Inserted) {
            let paragraphs: Vec<usize> = page.match_indices("</p>").map(|(at, end)| at + end.len()).collect();
            let at = paragraphs.get(paragraphs.len() / 2).copied().unwrap_or(end);
            let ad = self.part("ad", &format!("<p>{}</p>", self.inserted[random.usize(..self.inserted.len())]));
            return format!("{}{ad}{}{tail}{}", &page[..at], &page[at..end], &page[end..]);
        }
        format!("{}{tail}{}", &page[..end], &page[end..])
    }

    fn part(&self, class: &str, html: &str) -> String {
        if self.marked { format!("<div class=\"{class}\">{html}</div>\n") } else { format!("<div>{html}</div>\n") }
    }
}
