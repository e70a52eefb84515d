//! The character encoding of a page: byte order mark, `Content-Type` header, `<meta>` prescan, then a guess from the
//! bytes (WHATWG HTML, section 13.2.3; Encoding standard).

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::prescan::prescan;

/// The guess looks at this many bytes at most.
const GUESS: usize = 64 * 1024;

/// The encoding of `body`. What the page says about its encoding counts; if it says nothing, the bytes decide. `domain`
/// is the last label of the host, which is a hint for the guess.
pub fn detect(body: &[u8], content_type: Option<&str>, domain: Option<&str>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding;
    }
    if let Some(encoding) = content_type.and_then(charset_parameter) {
        return encoding;
    }
    if let Some(encoding) = prescan(body) {
        return encoding;
    }
    guess(body, domain)
}

/// Decodes `body`. A malformed sequence becomes U+FFFD. A byte order mark is dropped.
pub fn decode<'a>(body: &'a [u8], encoding: &'static Encoding) -> Cow<'a, str> {
    let body = match Encoding::for_bom(body) {
        Some((_, length)) => &body[length..],
        None => body,
    };
    encoding.decode_without_bom_handling(body).0
}

/// The encoding that `charset=` names in a `Content-Type` value.
fn charset_parameter(content_type: &str) -> Option<&'static Encoding> {
    let at = find_ignore_case(content_type.as_bytes(), b"charset")?;
    let rest = content_type[at + "charset".len()..].trim_start().strip_prefix('=')?.trim_start();
    let label = match rest.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(['"', '\'']).next()?,
        None => rest.split([';', ',', ' ']).next()?,
    };
    Encoding::for_label(label.as_bytes())
}

fn guess(body: &[u8], domain: Option<&str>) -> &'static Encoding {
    let ascii = Encoding::ascii_valid_up_to(body);
    if ascii == body.len() {
        if memchr::memchr(0x1b, body).is_none() {
            return WINDOWS_1252;
        }
    } else if std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let domain = domain.map(str::as_bytes).filter(|label| {
        !label.is_empty() && label.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
    });
    // Encodings differ from the first byte on that is not ASCII.
    let sample = &body[if ascii == body.len() { 0 } else { ascii.saturating_sub(64) }..];
    let sample = &sample[..sample.len().min(GUESS)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() < GUESS);
    detector.guess(domain, Utf8Detection::Allow)
}

/// The first position of an ASCII needle. Case makes no difference.
pub(super) fn find_ignore_case(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_comes_first_then_the_header_then_the_page() {
        let (header, meta) = (Some("text/html; charset=iso-8859-2"), "<meta charset=koi8-r>");
        let marked = ["\u{feff}", meta].concat();
        for (body, header, expected) in [
            (marked.as_bytes(), header, "UTF-8"),
            (meta.as_bytes(), header, "ISO-8859-2"),
            (meta.as_bytes(), None, "KOI8-R"),
            (b"plain", None, "windows-1252"),
        ] {
            assert_eq!(detect(body, header, None).name(), expected);
        }
    }
}
