//! Reads the cookie files of browsers and other tools: Netscape's `cookies.txt`, and JSON.

use serde::Deserialize;

use super::Record;

/// The reasons why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The text is no JSON, or JSON that is no list of cookies.
    #[error("not a JSON list of cookies: {0}")]
    Json(String),
    /// The file has entries, but none of them has the fields of a cookie.
    #[error("no entry in it is a cookie: each needs a \"domain\" and a \"name\"")]
    Foreign,
    /// A line of `cookies.txt` does not have its seven fields.
    #[error("line {0}: not seven fields, parted by tabs: domain, subdomains, path, secure, expires, name, value")]
    Line(usize),
}

/// Reads a file of either kind. It is JSON if it begins with a bracket. Errors never contain values.
pub fn read(text: &str) -> Result<Vec<Record>, FileError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['[', '{']) { json(text) } else { netscape(text) }
}

/// Reads a list of cookies, or an object that contains one (such as Playwright's storage state).
fn json(text: &str) -> Result<Vec<Record>, FileError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum File {
        List(Vec<Record>),
        State { cookies: Vec<Record> },
    }
    match serde_json::from_str(text) {
        Ok(File::List(cookies) | File::State { cookies }) => {
            let is_elsewhere = |cookie: &Record| cookie.domain.trim().is_empty() || cookie.name.is_empty();
            if !cookies.is_empty() && cookies.iter().all(is_elsewhere) { Err(FileError::Foreign) } else { Ok(cookies) }
        }
        Err(error) if error.is_syntax() || error.is_eof() => {
            Err(FileError::Json(format!("line {}, column {}", error.line(), error.column())))
        }
        Err(_) => Err(FileError::Json("expected [{\"domain\", \"name\", \"value\", …}, …]".into())),
    }
}

/// Reads lines of seven fields. `#` begins a comment, but `#HttpOnly_` begins a cookie that scripts do not see.
fn netscape(text: &str) -> Result<Vec<Record>, FileError> {
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        let (http_only, line) = line.strip_prefix("#HttpOnly_").map_or((false, line), |rest| (true, rest));
        if line.trim().is_empty() || (line.starts_with('#') && !http_only) {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let (domain, subdomains, path, secure, expires, name, value) = match fields.as_slice() {
            [a, b, c, d, e, f, g] => (*a, *b, *c, *d, *e, *f, *g),
            // curl leaves out the last tab if the value is empty.
            [a, b, c, d, e, f] => (*a, *b, *c, *d, *e, *f, ""),
            _ => return Err(FileError::Line(number + 1)),
        };
        let expires = expires.trim().parse::<f64>().map_err(|_| FileError::Line(number + 1))?;
        records.push(Record {
            domain: domain.to_owned(),
            host_only: Some(!subdomains.eq_ignore_ascii_case("true")),
            path: path.to_owned(),
            secure: secure.eq_ignore_ascii_case("true"),
            http_only,
            name: name.to_owned(),
            value: value.to_owned(),
            expires: (expires > 0.0).then_some(expires),
        });
    }
    Ok(records)
}
