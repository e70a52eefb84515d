//! Scripts and style sheets, passed over without the tokenizer, which reads them byte by byte and of which nothing is kept.

/// The start tag of a raw element in markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// One past its first `>`, which ends it unless an attribute holds one.
    pub end: usize,
    /// Its name.
    pub name: &'static str,
}

/// The first `<script` or `<style` in `html[from..to]` that has a `>` there.
pub fn opening(html: &str, from: usize, to: usize) -> Option<Opening> {
    let bytes = &html.as_bytes()[from..to];
    let (at, name) = memchr::memmem::find_iter(bytes, "<s").find_map(|at| {
        let name = ["script", "style"].into_iter().find(|name| bytes[at + 1..].starts_with(name.as_bytes()))?;
        Some((at, name))
    })?;
    let end = from + at + memchr::memchr(b'>', &bytes[at..])? + 1;
    Some(Opening { end, name })
}

/// Where the content of such an element ends that begins at `from`: at its end tag. `None` where the tokenizer must find
/// out: without an end tag, and where a script holds `<!--`, within which an end tag may be none (HTML standard, script
/// data escaped states).
pub fn content_end(html: &str, from: usize, name: &str) -> Option<usize> {
    let bytes = html.as_bytes();
    for at in memchr::memchr_iter(b'<', &bytes[from..]).map(|found| from + found) {
        let rest = &bytes[at + 1..];
        if rest.starts_with(b"!--") && name == "script" {
            return None;
        }
        if let Some((b'/', rest)) = rest.split_first()
            && rest.len() > name.len()
            && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && matches!(rest[name.len()], b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>')
        {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_tags_are_found() {
        let found = |html: &str| opening(html, 0, html.len()).map(|found| (found.end, found.name));
        assert_eq!(found("<span><script src=x>y"), Some((20, "script")));
        assert_eq!(found("<s><style>"), Some((10, "style")));
        assert_eq!(found("<script src=x"), None);
        assert_eq!(opening("<script>", 0, 7), None);
    }

    #[test]
    fn end_tags_are_found() {
        for (content, end) in [
            ("a<b</scripts></SCRIPT >", Some(13)),
            ("</script>", Some(0)),
            ("if (a<!--b) </script>", None),
            ("</script", None),
            ("", None),
        ] {
            assert_eq!(content_end(content, 0, "script"), end, "{content}");
        }
        assert_eq!(content_end("<!-- </style>", 0, "style"), Some(5));
    }
}
