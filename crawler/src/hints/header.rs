//! The `Link` header (RFC 8288, section 3 and appendix B.2).

/// A link with what is said of it, unresolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Where it leads.
    pub href: String,
    /// Relations, parted by white space.
    pub rel: String,
    /// What it is about, where that is not the page itself.
    pub anchor: Option<String>,
    /// Languages of what it leads to.
    pub languages: Vec<String>,
    /// Media type of what it leads to.
    pub kind: String,
}

/// Links of one header value that are read.
const MAX_LINKS: usize = 1_000;

/// The links of one value: `<href>; rel="…"; …, <href>; …`. What comes after something else is not read.
pub fn link_header(value: &str) -> Vec<Target> {
    let mut links = Vec::new();
    let mut rest = value;
    while links.len() < MAX_LINKS {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        let Some((href, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { break };
        let mut target = Target { href: href.to_owned(), ..Target::default() };
        let mut has_rel = false;
        rest = after.trim_start();
        while let Some(after) = rest.strip_prefix(';') {
            let after = after.trim_start();
            let end = after.find(['=', ';', ',']).unwrap_or(after.len());
            let name = after[..end].trim().to_ascii_lowercase();
            let mut text = String::new();
            rest = &after[end..];
            if let Some(after) = rest.strip_prefix('=') {
                (text, rest) = parameter(after.trim_start());
            }
            rest = rest.trim_start();
            match name.as_str() {
                // Of several only the first counts.
                "rel" if !has_rel => (target.rel, has_rel) = (text, true),
                "anchor" => target.anchor = target.anchor.take().or(Some(text)),
                "hreflang" => target.languages.push(text),
                "type" if target.kind.is_empty() => target.kind = text,
                _ => {}
            }
        }
        links.push(target);
    }
    links
}

/// A token or quoted string at the start of `text`, and what follows.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &quoted[at + 1..]),
            c => value.push(c),
        }
    }
    (value, "")
}
