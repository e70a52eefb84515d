//! Documents in lines of JSON.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Bad, Date, Fields, numbered};
use crate::corpus::sign::{Document, TEXT};
use crate::json_lines::mistake;

/// Calls `visit` with the document of each line. Blank lines are passed over.
pub fn documents(
    first: u64,
    bytes: &[u8],
    file: &str,
    fields: &Fields,
    visit: &mut dyn FnMut(Result<Document<'_>, Bad>),
) {
    for (number, line) in (first..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut seen = |document: &Document<'_>| visit(Ok(document.clone()));
        if let Err(what) = document(number, line, file, fields, &mut seen) {
            visit(Err(Bad { place: format!("line {number}"), what }));
        }
    }
}

/// Calls `seen` with the document of a line. An error says what is wrong with the line.
fn document(
    number: u64,
    line: &[u8],
    file: &str,
    fields: &Fields,
    seen: &mut dyn FnMut(&Document<'_>),
) -> Result<(), String> {
    let object: Object<'_> = serde_json::from_slice(line).map_err(|error| mistake(line, &error))?;
    let url = object.text(&fields.url)?.unwrap_or_default();
    let (body, content_type) = match (object.text(&fields.text)?, object.text(&fields.body)?) {
        // Some tables have both columns, and leave one of them empty.
        (Some(text), Some(body)) if text.is_empty() => (body, None),
        (Some(text), _) => (text, Some(TEXT)),
        (None, Some(body)) => (body, None),
        (None, None) => return Err(format!("neither {:?} nor {:?}", fields.text, fields.body)),
    };
    let id = object.get(&fields.id).map_or_else(|| numbered(file, number), |id| id.get().into());
    let date = object.date(&fields.date);
    seen(&Document { index: number, id, url: &url, date, content_type, body: body.as_bytes() });
    Ok(())
}

/// The fields of an object, with their values as they stand in the line.
struct Object<'de>(Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Object<'de> {
    /// The value of a field; `None` if it is missing or null. A name with a dot may lead into an inner object.
    fn get(&self, name: &str) -> Option<&'de RawValue> {
        let value = |name: &str| self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let found = value(name).or_else(|| {
            let (outer, inner) = name.split_once('.')?;
            let object: Object<'de> = serde_json::from_str(value(outer)?.get()).ok()?;
            object.get(inner)
        });
        found.filter(|value| value.get() != "null")
    }

    /// The date in a field.
    fn date(&self, name: &str) -> Date {
        let Some(value) = self.get(name) else { return Date::Absent };
        match serde_json::from_str::<serde_json::Value>(value.get()) {
            Ok(serde_json::Value::String(text)) => Date::of_text(&text),
            Ok(serde_json::Value::Number(_)) => Date::of_number(value.get()),
            Ok(_) | Err(_) => Date::Unreadable,
        }
    }

    /// The value of a field that must be a string; `None` if it is missing or null.
    fn text(&self, name: &str) -> Result<Option<Cow<'de, str>>, String> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        let Some(value) = self.get(name) else { return Ok(None) };
        let text: serde_json::Result<Text<'de>> = serde_json::from_str(value.get());
        text.map(|text| Some(text.0)).map_err(|error| format!("{name:?}: {error}"))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object<'de>, M::Error> {
                let mut fields = Vec::new();
                while let Some((Key(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Object(fields))
            }
        }
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
        json.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str, fields: &Fields) -> Vec<String> {
        let mut all = Vec::new();
        documents(1, lines.as_bytes(), "f.jsonl", fields, &mut |document| {
            all.push(match document {
                Ok(d) => format!(
                    "{} {} {:?} {} {}",
                    d.id,
                    d.url,
                    d.content_type.map(|kind| &kind[..5]),
                    d.date.millis(),
                    String::from_utf8_lossy(d.body)
                ),
                Err(bad) => format!("{}: {}", bad.place, bad.what),
            });
        });
        all
    }

    #[test]
    fn fields_by_name_or_by_path() {
        let lines = r#"{"id": 7, "text": "a \"b\" \u00fc"}
{"body":"<p>x","url":"http://a/","date":"1970-01-01T00:00:01Z","other":[1,{}]}

{"id":null,"text":"t","metadata":{"url":"http://m/"}}"#;
        let expected = [
            "7  Some(\"text/\") -9223372036854775808 a \"b\" ü",
            "\"f.jsonl#2\" http://a/ None 1000 <p>x",
            "\"f.jsonl#4\"  Some(\"text/\") -9223372036854775808 t",
        ];
        assert_eq!(read(lines, &Fields::default()), expected);
        let nested = Fields { url: "metadata.url".into(), ..Fields::default() };
        assert!(read(lines, &nested)[2].contains("http://m/"));
    }

    #[test]
    fn bad_lines_are_named() {
        let lines =
            "{\"text\":\"a\"}\nnot json\n{\"id\":1}\n[1]\n{\"text\":5}\n{\"text\":\"a\"} x\n{\"text\":\"\\ud800\"}\n";
        let read = read(lines, &Fields::default());
        assert!(!read[0].starts_with("line"));
        for (number, line) in (2..).zip(&read[1..]) {
            assert!(line.starts_with(&format!("line {number}: ")), "{line}");
        }
        assert_eq!(read.len(), 7);
    }
}
