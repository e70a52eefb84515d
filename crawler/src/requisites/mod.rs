//! Requisites: what a page needs to be shown: images, styles, scripts, fonts (`--requisites`).
//!
//! They are for the archive alone. A page that says something new has its requisites queued, before further pages; they are
//! fetched as politely as anything else, also from hosts outside the scope, and robots.txt is obeyed. They are no pages: they
//! are not judged, lead nowhere but to their own requisites (what a style imports), and have no line in `pages.jsonl`.

mod css;
mod html;

use dedup_stage::page::Kind;
use dedup_stage::url::drop_user;
use url::Url;

pub use css::of_style;
pub use html::of_page;

/// Requisites of one page or style that are fetched.
pub const MOST: usize = 500;
/// Requisites of requisites, and redirects, in a row.
pub const MOST_HOPS: u8 = 5;

/// What an answer needs, by what it is.
pub fn of_answer(url: &Url, content_type: Option<&str>, body: &[u8], is_requisite: bool) -> Vec<Url> {
    let is_style = content_type.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/css"));
    match Kind::of(content_type) {
        _ if is_style => of_style(&String::from_utf8_lossy(body), url),
        Kind::Html | Kind::Unknown if !is_requisite => of_page(body, url),
        _ => Vec::new(),
    }
}

/// Addresses as written, resolved: http and https, each once, at most [`MOST`].
fn resolve<'a>(base: &Url, written: impl Iterator<Item = &'a str>) -> Vec<Url> {
    let mut found: Vec<Url> = Vec::new();
    for text in written {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') || text.starts_with("data:") {
            continue;
        }
        let Ok(mut url) = base.join(text) else { continue };
        url.set_fragment(None);
        drop_user(&mut url);
        if matches!(url.scheme(), "http" | "https") && url.has_host() && !found.contains(&url) {
            found.push(url);
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}
