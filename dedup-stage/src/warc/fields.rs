//! Named fields: the headers of WARC records and of HTTP messages.

use std::io::Write as _;

/// Fields in order. Names are compared without case. Values are bytes, because HTTP promises no charset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    fields: Vec<(String, Vec<u8>)>,
}

impl Fields {
    /// Reads `Name: value` lines up to the end of `head` or the first empty line. Lines may end in LF alone; a line
    /// that begins with white space continues the one before; a line without a colon is passed over.
    pub fn parse(head: &[u8]) -> Self {
        let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
        for line in head.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            if line[0] == b' ' || line[0] == b'\t' {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(b' ');
                    value.extend_from_slice(line.trim_ascii());
                }
            } else if let Some(colon) = memchr::memchr(b':', line) {
                let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
                fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
            }
        }
        Self { fields }
    }

    /// Adds a field at the end.
    pub fn push(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.fields.push((name.into(), value.into()));
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The first value of a field, if it is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Keeps the fields whose names pass.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.fields.retain(|(name, _)| keep(name));
    }

    /// Appends the fields as lines, without the empty line that ends a head. Line ends within a value become spaces, so
    /// that no value can add a field.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for (name, value) in self.iter() {
            line(out, name, value);
        }
    }
}

/// Appends one `Name: value` line.
pub(super) fn line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    let clean = |byte: &u8| if matches!(byte, b'\r' | b'\n' | 0) { b' ' } else { *byte };
    out.extend(name.as_bytes().iter().map(clean));
    out.extend_from_slice(b": ");
    out.extend(value.iter().map(clean));
    out.extend_from_slice(b"\r\n");
}

/// Appends one line with a value that can be displayed.
pub(super) fn display(out: &mut Vec<u8>, name: &str, value: impl std::fmt::Display) {
    let mut text = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = write!(text, "{value}");
    line(out, name, &text);
}
