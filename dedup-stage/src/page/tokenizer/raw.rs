//! Finds the end of the content of elements without markup: scripts, style sheets, titles, text areas.

use super::name::Name;

const SCRIPT: Name = Name::of("script");

/// The end of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the end tag that begins here.
    At(usize),
    /// At the end of the document.
    Never,
    /// The states of the standard must find it. A script with `<!--` and then `<script` may contain end tags that do
    /// not end it (script data double escaped states).
    Unclear,
}

/// The position at which the end tag of this name begins, in the content of the element.
pub fn end(content: &str, name: Name) -> Option<usize> {
    let bytes = content.as_bytes();
    memchr::memmem::find_iter(bytes, "</").find(|at| is_tag(bytes, at + 2, name))
}

/// Finds the end of a script.
pub fn script_end(content: &str) -> End {
    let bytes = content.as_bytes();
    let mut escaped = false;
    for at in memchr::memchr_iter(b'<', bytes) {
        match bytes.get(at + 1) {
            Some(b'/') if is_tag(bytes, at + 2, SCRIPT) => return End::At(at),
            Some(b's' | b'S') if escaped && is_tag(bytes, at + 1, SCRIPT) => return End::Unclear,
            Some(b'!') => escaped |= bytes[at + 2..].starts_with(b"--"),
            _ => {}
        }
    }
    End::Never
}

/// Whether the name of a tag at `at` is this name.
fn is_tag(bytes: &[u8], at: usize, name: Name) -> bool {
    let letters = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    matches!(bytes.get(at + letters), Some(b' ' | b'\n' | b'\t' | b'\x0C' | b'/' | b'>'))
        && Name::read(bytes, at, at + letters) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_tags_are_found() {
        for (content, expected) in [
            ("a<b</scripts></SCRIPT >", End::At(13)),
            ("</script>", End::At(0)),
            ("<!-- a --></script>", End::At(10)),
            ("<!-- a <script></script>", End::Unclear),
            ("<script></script>", End::At(8)),
            ("<!-- a </script> <script>", End::At(7)),
            ("</script", End::Never),
            ("", End::Never),
        ] {
            assert_eq!(script_end(content), expected, "{content}");
        }
        assert_eq!(end("<!-- </style>", Name::of("style")), Some(5));
        assert_eq!(end("<b></b></TITLE/>", Name::of("title")), Some(7));
        assert_eq!(end("</title", Name::of("title")), None);
    }
}
