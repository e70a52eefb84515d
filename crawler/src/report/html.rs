//! Writes HTML. All text from the web is written by [`Web`]. So it stays text: it has no markup, nothing invisible, and
//! nothing that changes the direction of other text.

use std::fmt::{self, Display, Formatter, Write};

/// Text of this program, escaped for content and quoted attributes.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| escape(c, f))
    }
}

/// Text from the web, for the content of an element. It is escaped, isolated (`bdi`) and cut after [`Web::LONGEST`]
/// characters. Some characters are invisible but change what others look like: controls, bidirectional overrides and
/// isolates (the "Trojan Source" characters), line separators, byte order marks, tags. Their code points are shown
/// instead.
#[derive(Clone, Copy, Debug)]
pub struct Web<'a>(pub &'a str);

impl Web<'_> {
    /// At most this many characters of a text are shown.
    pub const LONGEST: usize = 240;
}

impl Display for Web<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("<bdi>")?;
        let mut chars = self.0.chars();
        for c in chars.by_ref().take(Self::LONGEST) {
            if is_hidden(c) {
                write!(f, "<i class=\"hidden-character\">U+{:04X}</i>", u32::from(c))?;
            } else {
                escape(c, f)?;
            }
        }
        if chars.next().is_some() {
            f.write_char('…')?;
        }
        f.write_str("</bdi>")
    }
}

/// A URL from the web, as a link that does not tell its target where it came from. If it is neither http nor https, or
/// no URL in the form in which it is sent, it is plain text.
#[derive(Clone, Copy, Debug)]
pub struct WebLink<'a>(pub &'a str);

impl Display for WebLink<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let fetched = self.0.starts_with("http://") || self.0.starts_with("https://");
        if fetched && self.0.len() <= 2_048 && self.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            write!(f, "<a href=\"{}\" rel=\"noreferrer noopener external nofollow\">{}</a>", Text(self.0), Web(self.0))
        } else {
            Display::fmt(&Web(self.0), f)
        }
    }
}

fn escape(c: char, f: &mut Formatter<'_>) -> fmt::Result {
    match c {
        '&' => f.write_str("&amp;"),
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        // HTML has no character NUL.
        '\0' => f.write_char('\u{fffd}'),
        c => f.write_char(c),
    }
}

/// Whether a character is invisible but changes what is read.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes into a `String`, which cannot fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($argument)*);
    }};
}
pub(crate) use put;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_from_the_web_is_markup_or_hidden(text in any::<String>()) {
            let shown = Web(&text).to_string();
            let inside = shown.strip_prefix("<bdi>").unwrap().strip_suffix("</bdi>").unwrap();
            let plain = inside.replace("<i class=\"hidden-character\">", "").replace("</i>", "");
            prop_assert!(!plain.contains(['<', '>', '"', '\'']));
            prop_assert!(!plain.chars().any(is_hidden));
            prop_assert!(!Text(&text).to_string().contains(['<', '>', '"', '\'', '\0']));
        }
    }

    #[test]
    fn hostile_titles_are_shown_as_text() {
        let cases = [
            ("<script>alert(1)</script>", "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"),
            ("a\u{202e}gnp.exe", "<bdi>a<i class=\"hidden-character\">U+202E</i>gnp.exe</bdi>"),
            (
                "\0\u{1b}[31m",
                concat!(
                    "<bdi><i class=\"hidden-character\">U+0000</i>",
                    "<i class=\"hidden-character\">U+001B</i>[31m</bdi>"
                ),
            ),
            ("שלום & \"ok\"", "<bdi>שלום &amp; &quot;ok&quot;</bdi>"),
        ];
        for (text, html) in cases {
            assert_eq!(Web(text).to_string(), html);
        }
        assert_eq!(Web(&"x".repeat(10_000)).to_string().chars().filter(|c| *c == 'x').count(), Web::LONGEST);
    }

    #[test]
    fn only_http_urls_are_links() {
        assert_eq!(WebLink("javascript:alert(1)").to_string(), "<bdi>javascript:alert(1)</bdi>");
        assert!(
            WebLink("https://a.test/?a=1&b='\"")
                .to_string()
                .starts_with("<a href=\"https://a.test/?a=1&amp;b=&#39;&quot;\" rel=")
        );
    }
}
