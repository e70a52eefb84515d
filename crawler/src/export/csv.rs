//! Makes tables in CSV (RFC 4180) from JSON Lines: `crawler export --format csv`.

use std::fmt;
use std::io::{self, Write};

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Takes JSON Lines and writes a row for each object, under a row of names. Unless the columns are given, they are the
/// members of the first object, in its order. Members without a column are left out, and missing members are empty.
/// Lists and objects are written as JSON.
///
/// A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return,
/// and is no number) gets an apostrophe in front. This is necessary because strangers write the titles and the URLs.
#[derive(Debug)]
pub struct Table<W> {
    out: W,
    columns: Vec<String>,
    /// The line that has not ended yet.
    line: Vec<u8>,
    has_names: bool,
}

impl<W: Write> Table<W> {
    /// A table without rows, whose columns are those of the first object.
    pub fn new(out: W) -> Self {
        Self { out, columns: Vec::new(), line: Vec::new(), has_names: false }
    }

    /// A table without rows that has these columns.
    pub fn with_columns<'n>(out: W, names: impl IntoIterator<Item = &'n str>) -> Self {
        Self { columns: names.into_iter().map(str::to_owned).collect(), ..Self::new(out) }
    }

    /// Ends the table. A table without rows gets a row of these names.
    pub fn finish<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> io::Result<()> {
        if !self.has_names {
            row(names.into_iter().map(|name| cell(&Value::from(name))), &mut self.out)?;
        }
        self.out.flush()
    }

    fn row(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let object: Map<String, Value> = serde_json::from_slice(&line)?;
        if self.columns.is_empty() {
            self.columns = serde_json::from_slice::<Names>(&line)?.0;
        }
        if !self.has_names {
            row(self.columns.iter().map(|name| cell(&Value::from(name.as_str()))), &mut self.out)?;
            self.has_names = true;
        }
        row(self.columns.iter().map(|name| object.get(name).map(cell).unwrap_or_default()), &mut self.out)
    }
}

impl<W: Write> Write for Table<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.row()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The names of an object's members, in the order of the text. [`Map`] does not keep this order.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn row(cells: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    out.write_all(cells.join(",").as_bytes())?;
    out.write_all(b"\r\n")
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::Bool(_) | Value::Number(_) => return value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    let acts = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text = if acts { format!("'{text}") } else { text };
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of these lines, written byte by byte.
    fn csv(lines: &str) -> String {
        let mut table = Table::new(Vec::new());
        lines.as_bytes().chunks(1).for_each(|byte| table.write_all(byte).unwrap());
        String::from_utf8(table.out).unwrap()
    }

    #[test]
    fn rows_have_the_columns_of_the_first() {
        let lines = "{\"z\":1,\"b\":\"x, \\\"y\\\"\",\"c\":[1,2]}\n\n{\"b\":null,\"z\":true,\"d\":\"later\"}\n";
        assert_eq!(csv(lines), "z,b,c\r\n1,\"x, \"\"y\"\"\",\"[1,2]\"\r\ntrue,,\r\n");
        assert_eq!(csv(""), "");
        let mut table = Table::with_columns(Vec::new(), ["b", "d", "z"]);
        table.write_all(lines.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(table.out).unwrap(), "b,d,z\r\n\"x, \"\"y\"\"\",,1\r\n,later,true\r\n");
        let mut empty = Vec::new();
        Table::new(&mut empty).finish(["url", "reason"]).unwrap();
        assert_eq!(empty, b"url,reason\r\n", "a table without rows has its names all the same");
        assert!(Table::new(Vec::new()).write_all(b"not JSON\n").is_err());
    }

    #[test]
    fn no_text_is_a_formula() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@x", "'@x"),
            ("-1.5", "-1.5"),
            ("+1", "+1"),
            ("-x", "'-x"),
            ("\tx", "'\tx"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv(&format!("{}\n", serde_json::json!({"n": text}))), format!("n\r\n{cell}\r\n"));
        }
    }
}
