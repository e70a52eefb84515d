//! The document about one page: its line, its twin, and the words in which they differ.

use std::collections::HashSet;
use std::io;

use crate::report::bodies::Bodies;
use crate::report::html::{Web, WebLink, put};
use crate::report::line::PageLine;
use crate::report::source::Lines;
use crate::report::view;
use crate::report::words::Difference;
use crate::sink::PagesJsonl;

use super::shared::{Shared, lock};

/// The body of the document for the page whose line begins at `at`; `None` if no line begins there.
pub fn document(shared: &Shared, at: u64) -> io::Result<Option<String>> {
    let lines = Lines::open(&shared.dir, PagesJsonl::NAME, None)?;
    if !lines.is_start(at)? {
        return Ok(None);
    }
    let found = lines.at([at])?;
    let Some(page) = found.first().and_then(|line| PageLine::parse(line)) else { return Ok(None) };
    let mut out = String::from("<header><p><a href=\"/\">All of the crawl</a></p>\n");
    put!(out, "<h1>{}</h1></header>\n<main>\n", Web(page.title.as_deref().unwrap_or("A page without a title")));
    put!(out, "<p class=\"lead\">{}</p>\n", WebLink(&page.url));
    view::pages(&mut out, None, "What is known of it", &found, &|_| None);

    let twin_at = page.duplicate_of.as_deref().and_then(|twin| lock(&shared.read).tally.clusters.line_of(twin));
    view::section(&mut out, "twin", "Its twin", "The earlier page that it repeats.");
    match twin_at {
        None => out.push_str("<p class=\"note\">It repeats no earlier page.</p>\n"),
        Some(twin_at) => {
            let twin = lines.at([twin_at])?;
            let twin = twin.first().and_then(|line| PageLine::parse(line)).unwrap_or_default();
            let bodies = Bodies::find(&shared.dir, &HashSet::from([&*page.url, &*twin.url]))?;
            let texts = bodies.text(&page.url).zip(bodies.text(&twin.url));
            let difference = texts.map(|(here, there)| Difference::of(&here, &there));
            view::twins(&mut out, &page, &twin, difference.as_ref());
            put!(out, "<p><a href=\"page?at={twin_at}\">The twin by itself</a></p>\n");
        }
    }
    view::end(&mut out);
    out.push_str("</main>");
    Ok(Some(out))
}
