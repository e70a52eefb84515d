//! Requisites: the files that a page needs to be shown, such as images, styles, scripts and fonts (`--requisites`).
//!
//! They are only for the archive. If a page says something new, its requisites are queued before further pages. They
//! are fetched as politely as anything else, also from hosts outside the scope, and robots.txt is obeyed. They are no
//! pages: they are not judged, they lead only to their own requisites (what a style imports), and they have no line in
//! `pages.jsonl`.

mod css;
mod html;

use dedup_stage::page::Kind;
use dedup_stage::url::drop_user;
use url::Url;

pub use css::of_style;
pub use html::of_page;

/// The most requisites of one page or style that are fetched.
pub const MOST: usize = 500;
/// The most steps in a row from requisite to requisite, and of redirects.
pub const MOST_HOPS: u8 = 5;

/// The requisites of an answer, by its content type.
pub fn of_answer(url: &Url, content_type: Option<&str>, body: &[u8], is_requisite: bool) -> Vec<Url> {
    let is_style = content_type.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/css"));
    match Kind::of(content_type) {
        _ if is_style => of_style(&String::from_utf8_lossy(body), url),
        Kind::Html | Kind::Unknown if !is_requisite => of_page(body, url),
        _ => Vec::new(),
    }
}

/// Resolves addresses. Keeps those with http and https, each once, at most [`MOST`].
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
