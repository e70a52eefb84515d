//! Estimates what the attributes of a page's tags would cost.
//!
//! html5ever compares the name of each attribute with the names of all attributes before it in the same tag. So the
//! cost of a tag grows with the square of their number, and one tag of a megabyte would cost a minute. One pass over
//! the bytes finds such pages first.

use memchr::memchr;

/// The most comparisons of names, over all tags of a page. They take about a tenth of a second.
const MOST: u64 = 100_000_000;

/// Whether a tokenizer that compares the names of attributes would take too long for a page.
pub fn are_too_many(html: &[u8]) -> bool {
    let (mut at, mut comparisons) = (0, 0u64);
    while let Some(found) = memchr(b'<', &html[at..]) {
        at += found + 1;
        let name = html[at..].strip_prefix(b"/").unwrap_or(&html[at..]);
        if !name.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let (attributes, length) = count(&html[at..]);
        comparisons = comparisons.saturating_add(attributes * attributes / 2);
        if comparisons > MOST {
            return true;
        }
        at += length;
    }
    false
}

/// The part of a tag in which a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Between the name of the tag and the attributes, or between two attributes.
    Between,
    /// In the name of an attribute, or of the tag.
    Name,
    /// After the name of an attribute and a space.
    AfterName,
    /// After `=`, before the value.
    Equals,
    /// In a value without quotes.
    Plain,
    /// In a value within these quotes.
    Quoted(u8),
}

/// The number of attributes of the tag that begins here, and its length in bytes.
fn count(tag: &[u8]) -> (u64, usize) {
    let (mut part, mut names) = (Part::Name, 0);
    for (at, byte) in tag.iter().enumerate() {
        part = match (part, byte) {
            (Part::Quoted(quote), byte) if *byte == quote => Part::Between,
            (Part::Quoted(quote), _) => Part::Quoted(quote),
            (_, b'>') => return (names, at + 1),
            (Part::Equals, quote @ (b'"' | b'\'')) => Part::Quoted(*quote),
            (Part::Equals, byte) if byte.is_ascii_whitespace() => Part::Equals,
            (Part::Equals | Part::Plain, byte) if !byte.is_ascii_whitespace() => Part::Plain,
            (Part::Name | Part::AfterName, byte) if byte.is_ascii_whitespace() && names > 0 => Part::AfterName,
            (_, byte) if byte.is_ascii_whitespace() || *byte == b'/' => Part::Between,
            (Part::Name | Part::AfterName, b'=') => Part::Equals,
            (Part::Name, _) => Part::Name,
            _ => {
                names += 1;
                Part::Name
            }
        };
    }
    (names, tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_as_the_standard_reads_them() {
        for (tag, attributes) in [
            ("a>", 0),
            ("a href=x>", 1),
            ("a href = 'x y z' b>", 2),
            ("a b=\"1>2\" c=d/e f>", 3),
            ("a \"b c>", 2),
            ("br/>", 0),
            ("/p x y>", 3),
            ("a b=c", 1),
            ("a b=1 =\"c d e>", 4),
            ("a b =c d>", 2),
        ] {
            let (found, length) = count(tag.as_bytes());
            assert_eq!((found, length), (attributes, tag.len()), "{tag}");
        }
    }

    #[test]
    fn one_tag_with_many_attributes_is_too_much_and_many_tags_with_a_few_are_not() {
        let attributes = |count: u32| (0..count).map(|n| format!(" a{n}")).collect::<String>();
        for tag in ["<p", "</p", "<br", "<svg"] {
            assert!(are_too_many(format!("<p>{tag}{}>", attributes(20_000)).as_bytes()), "{tag}");
        }
        assert!(!are_too_many(format!("<p{}>", attributes(10_000)).as_bytes()));
        assert!(!are_too_many(format!("<p{}>", attributes(20)).repeat(20_000).as_bytes()));
        assert!(!are_too_many(format!("<img src='data:{}'>", "x y ".repeat(50_000)).as_bytes()));
    }
}
