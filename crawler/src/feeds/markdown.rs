//! Links of Markdown: `[text](href)`, `<https://…>`, `[name]: href`. This is no parser of the whole language, because a
//! wrong link costs only one request. Code is left out, because links in it are examples.

use url::Url;

/// The most links of one document.
const MAX_LINKS: usize = config::bounds::LINKS;

/// The links in their order, each once: http or https, without fragments.
pub fn links(text: &str, base: &Url) -> Vec<Url> {
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut fence: Option<(char, usize)> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match fence {
            Some((open, least)) if mark == Some(open) && length >= least && trimmed[length..].trim().is_empty() => {
                fence = None
            }
            Some(_) => {}
            None if length >= 3 => fence = mark.map(|mark| (mark, length)),
            None if line.starts_with("    ") || line.starts_with('\t') => {}
            None => {
                for href in hrefs(trimmed) {
                    let Ok(mut url) = base.join(href) else { continue };
                    url.set_fragment(None);
                    if matches!(url.scheme(), "http" | "https") && found.len() < MAX_LINKS && seen.insert(url.clone()) {
                        found.push(url);
                    }
                }
            }
        }
    }
    found
}

/// The addresses in one line.
fn hrefs(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if let Some((_, href)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        let href = href.trim_start();
        let href = href.strip_prefix('<').and_then(|rest| rest.split('>').next()).or(href.split_whitespace().next());
        found.extend(href.filter(|href| !href.is_empty()));
        return found;
    }
    let bytes = line.as_bytes();
    let (mut at, mut in_code) = (0, None);
    while at < bytes.len() {
        let rest = &line[at..];
        match bytes[at] {
            b'\\' => at += 1,
            b'`' => {
                let length = rest.bytes().take_while(|byte| *byte == b'`').count();
                in_code = match in_code {
                    None if rest[length..].contains(&"`".repeat(length.min(100))) => Some(length),
                    Some(open) if open == length => None,
                    other => other,
                };
                at += length - 1;
            }
            b']' if in_code.is_none() && rest[1..].starts_with('(') => {
                let href = rest[2..].trim_start();
                let end = if let Some(inner) = href.strip_prefix('<') {
                    found.extend(inner.split_once('>').map(|(href, _)| href));
                    0
                } else {
                    closing(href)
                };
                let href = href[..end].split_whitespace().next().unwrap_or_default();
                found.extend(Some(href).filter(|href| !href.is_empty()));
            }
            b'<' if in_code.is_none() && (rest.starts_with("<http://") || rest.starts_with("<https://")) => {
                let inside = rest[1..].split_once('>').map(|(href, _)| href);
                found.extend(inside.filter(|href| !href.contains(char::is_whitespace)));
            }
            _ => {}
        }
        at += 1;
        while !line.is_char_boundary(at) {
            at += 1;
        }
    }
    found
}

/// The end of the text within an open bracket; 0 if it is not closed.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    0
}
