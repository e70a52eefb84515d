//! A search over all pages of the crawl, even if the table of pages is a sample. The document contains the pages as
//! data, and its script searches them.

use std::io;

use serde_json::json;

use super::super::html::put;
use super::super::line::PageLine;
use super::super::source::Lines;
use crate::units;

/// The most bytes of data in one document.
const MOST: usize = 16 << 20;

/// The search field and its data. Without scripts the field is not shown.
pub fn search(out: &mut String, pages: &Lines) -> io::Result<()> {
    let (mut data, mut found, mut left_out) = (String::from("["), 0u64, 0u64);
    pages.each(&mut |_, line| {
        let Some(page) = PageLine::parse(line) else { return };
        if data.len() >= MOST {
            left_out += 1;
            return;
        }
        let verdict = if page.status.is_none() { "failed" } else { page.verdict.name() };
        let title = page.title.as_deref().unwrap_or_default();
        let row = json!([&*page.url, title, verdict, page.status]);
        data.push_str(if found == 0 { "" } else { ",\n" });
        plain(&row.to_string(), &mut data);
        found += 1;
    })?;
    data.push(']');
    if found == 0 {
        return Ok(());
    }
    let all = match left_out {
        0 => format!("all {}", units::counted(found, "page")),
        more => format!(
            "the first {} ({} more are in pages.jsonl alone)",
            units::counted(found, "page"),
            units::count(more)
        ),
    };
    put!(
        out,
        "<p class=\"search\" hidden><label>Search {all} by words of URL, title, verdict or status <input type=\"search\" \
         id=\"find\" aria-controls=\"found\"></label> <span id=\"find-status\" role=\"status\"></span></p>\n\
         <ul id=\"found\" class=\"found\"></ul>\n<template id=\"all-pages\">{data}</template>\n"
    );
    Ok(())
}

/// Writes JSON in ASCII, without characters that have a meaning in HTML. So no text from the web can end the element,
/// or change what is shown.
fn plain(json: &str, out: &mut String) {
    for letter in json.chars() {
        if letter.is_ascii() && !matches!(letter, '<' | '>' | '&' | '\0'..='\x1f' | '\x7f') {
            out.push(letter);
        } else {
            letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| put!(out, "\\u{unit:04x}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_json_that_html_cannot_read() {
        let mut out = String::new();
        plain(&json!(["</template><b>&amp;\u{202e}\u{0}", "ä𝄞"]).to_string(), &mut out);
        assert!(out.is_ascii() && !out.contains(['<', '>', '&']), "{out}");
        let read: Vec<String> = serde_json::from_str(&out).unwrap();
        assert_eq!(read, ["</template><b>&amp;\u{202e}\u{0}", "ä𝄞"]);
    }
}
