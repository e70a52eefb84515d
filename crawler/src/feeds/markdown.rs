//! Links of Markdown: `[text](href)`, `<https://…>`, `[name]: href`. This is no parser of the whole language, because a
//! wrong link costs only one request. Code is left out, because links in it are examples.

use url::Url;

use super::targets::Targets;

/// The most brackets within each other in an address (the limit of other readers of Markdown, too). Without it, an
/// address that does not end would make reading take a time that grows with the square of the text.
const MAX_NESTED: u32 = 32;

/// The links in their order, each once: http or https, without fragments, and within the bounds of the links of a page.
/// Also the number of places of links beyond these bounds.
pub fn links(text: &str, base: &Url) -> (Vec<Url>, usize) {
    let mut found = Targets::new(config::bounds::LINKS);
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
                    if !matches!(url.scheme(), "http" | "https") || seen.contains(&url) {
                        continue;
                    }
                    if found.add(url.clone()) {
                        seen.insert(url);
                    }
                }
            }
        }
    }
    found.finish()
}

/// The addresses in one line. This takes a time that grows with the length of the line, and no faster.
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
                    found.extend(pointed(inner));
                    0
                } else {
                    closing(href)
                };
                let href = href[..end].split_whitespace().next().unwrap_or_default();
                found.extend(Some(href).filter(|href| !href.is_empty()));
            }
            b'<' if in_code.is_none() && (rest.starts_with("<http://") || rest.starts_with("<https://")) => {
                found.extend(pointed(&rest[1..]).filter(|href| !href.contains(char::is_whitespace)));
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

/// The address at the start of a text, if `>` ends it. There is no `<` in such an address.
fn pointed(text: &str) -> Option<&str> {
    let end = text.find(['<', '>'])?;
    text[end..].starts_with('>').then_some(&text[..end])
}

/// The end of the text within an open bracket; 0 if it is not closed, or if too many brackets are open.
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
        if depth > MAX_NESTED {
            return 0;
        }
    }
    0
}
