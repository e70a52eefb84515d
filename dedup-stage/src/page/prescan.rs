//! The prescan of the first bytes for an encoding declared in a `<meta>` element (WHATWG HTML, "prescan a byte stream
//! to determine its encoding").

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// This many bytes are always looked at.
const FIRST: usize = 1024;
/// This many bytes are looked at if the word "charset" stands behind the first ones. (If a parser meets such an element
/// later, it begins anew with the encoding that the element names.)
const LATER: usize = 64 * 1024;

/// The encoding that a `<meta>` element declares; `None` if no element does.
pub fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    prescan_within(&body[..body.len().min(FIRST)]).or_else(|| {
        let body = &body[..body.len().min(LATER)];
        let rest = body.get(FIRST - b"charset".len()..)?;
        memchr::memmem::find(rest, b"charset").and_then(|_| prescan_within(body))
    })
}

fn prescan_within(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut scan = Scan { bytes, at: 0 };
    while scan.at < scan.bytes.len() {
        let rest = &scan.bytes[scan.at..];
        if rest.starts_with(b"<!--") {
            // The dashes of "<!-->" may belong to the beginning and to the end.
            let end = rest[2..].windows(3).position(|window| window == b"-->")?;
            scan.at += 2 + end + 3;
        } else if starts_with_tag(rest, b"<meta") {
            scan.at += b"<meta".len();
            if let Some(encoding) = scan.meta() {
                return Some(encoding);
            }
        } else if rest[0] == b'<' && rest.get(1).is_some_and(|b| b.is_ascii_alphabetic())
            || rest.starts_with(b"</") && rest.get(2).is_some_and(|b| b.is_ascii_alphabetic())
        {
            scan.skip_until(|b| b.is_ascii_whitespace() || b == b'>');
            while scan.attribute().is_some() {}
            scan.at += 1;
        } else if rest.starts_with(b"<!") || rest.starts_with(b"</") || rest.starts_with(b"<?") {
            scan.skip_until(|b| b == b'>');
            scan.at += 1;
        } else {
            scan.at += 1;
        }
    }
    None
}

/// Whether `rest` opens the tag `name`, followed by white space or a slash.
fn starts_with_tag(rest: &[u8], name: &[u8]) -> bool {
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (rest[name.len()].is_ascii_whitespace() || rest[name.len()] == b'/')
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn skip_until(&mut self, stop: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && !stop(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Reads the attributes of a `<meta>` tag. Returns the encoding that they declare.
    fn meta(&mut self) -> Option<&'static Encoding> {
        let (mut pragma, mut needs_pragma) = (false, None);
        let mut charset: Option<&'static Encoding> = None;
        let mut seen: Vec<&[u8]> = Vec::new();
        while let Some([name, value]) = self.attribute().map(|parts| parts.map(|part| &self.bytes[part])) {
            if seen.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            if name.eq_ignore_ascii_case(b"http-equiv") {
                pragma |= value.eq_ignore_ascii_case(b"content-type");
            } else if name.eq_ignore_ascii_case(b"content") {
                if charset.is_none()
                    && let Some(encoding) = charset_in_content(&value.to_ascii_lowercase())
                {
                    charset = Some(encoding);
                    needs_pragma = Some(true);
                }
            } else if name.eq_ignore_ascii_case(b"charset") {
                charset = Encoding::for_label(value);
                needs_pragma = Some(false);
            }
            seen.push(name);
        }
        if needs_pragma? && !pragma {
            return None;
        }
        let encoding = charset?;
        Some(if encoding == UTF_16BE || encoding == UTF_16LE {
            UTF_8
        } else if encoding == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            encoding
        })
    }

    /// The ranges of the name and of the value of the next attribute of a tag; `None` at the end of the tag.
    fn attribute(&mut self) -> Option<[Range<usize>; 2]> {
        self.skip_until(|b| !b.is_ascii_whitespace() && b != b'/');
        if self.peek()? == b'>' {
            return None;
        }
        let from = self.at;
        // An equals sign at the first place belongs to the name.
        self.at += usize::from(self.peek()? == b'=');
        self.skip_until(|b| b.is_ascii_whitespace() || matches!(b, b'=' | b'/' | b'>'));
        let name = from..self.at;
        self.skip_until(|b| !b.is_ascii_whitespace());
        if self.peek()? != b'=' {
            return Some([name, 0..0]);
        }
        self.at += 1;
        self.skip_until(|b| !b.is_ascii_whitespace());
        let value = match self.peek()? {
            quote @ (b'"' | b'\'') => {
                let from = self.at + 1;
                self.at = from;
                self.skip_until(|b| b == quote);
                self.peek()?;
                self.at += 1;
                from..self.at - 1
            }
            _ => {
                let from = self.at;
                self.skip_until(|b| b.is_ascii_whitespace() || b == b'>');
                self.peek()?;
                from..self.at
            }
        };
        Some([name, value])
    }
}

/// "Extracting a character encoding from a meta element"; `content` is in lower case.
fn charset_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let at = rest.windows(7).position(|window| window == b"charset")?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = value.trim_ascii_start();
            break;
        }
    }
    let label = match rest.first()? {
        quote @ (b'"' | b'\'') => {
            let end = rest[1..].iter().position(|b| b == quote)?;
            &rest[1..1 + end]
        }
        _ => rest.split(|b| b.is_ascii_whitespace() || *b == b';').next()?,
    };
    Encoding::for_label(label)
}
