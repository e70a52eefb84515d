//! Main text as Markdown (CommonMark 0.31, with tables as on GitHub).
//!
//! Pages are written by strangers, and Markdown is read by programs that follow links, render HTML and load pictures.
//! So no text of a page can become markup: every character that could begin markup is escaped, links are http, https or
//! mailto and stand between `<` and `>`, pictures are named but not embedded, and code is fenced by more backticks than
//! it contains. A test reads all of it with another parser.

use super::{Block, Main, Span};

/// Writes a page. Its title comes first, as a heading.
pub fn write(main: &Main) -> String {
    let mut out = String::new();
    if !main.title.is_empty() {
        let title = [Block::Heading(1, vec![Span::Text(main.title.clone())])];
        blocks(&title, &mut out);
        out.push('\n');
    }
    blocks(&main.blocks, &mut out);
    out.truncate(out.trim_end_matches('\n').len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn blocks(blocks: &[Block], out: &mut String) {
    // Two lists in a row with the same marks would be read as one.
    let mut other_marks = false;
    for (n, block) in blocks.iter().enumerate() {
        if n > 0 {
            out.push('\n');
            let both = matches!((&blocks[n - 1], block), (Block::List(..), Block::List(..)));
            other_marks = both && !other_marks;
        }
        self::block(block, other_marks, out);
    }
}

fn block(block: &Block, other_marks: bool, out: &mut String) {
    match block {
        Block::Heading(level, spans) => {
            let text = line(spans).replace("\\\n", " ").replace('\n', " ");
            // A `#` at the end would be taken for the end of the heading.
            let text = match text.strip_suffix('#') {
                Some(rest) if !rest.ends_with('\\') => format!("{rest}\\#"),
                _ => text,
            };
            out.push_str(&format!("{} {text}\n", "#".repeat(usize::from(*level))));
        }
        Block::Paragraph(spans) => {
            out.push_str(&line(spans));
            out.push('\n');
        }
        Block::List(start, items) => {
            for (n, item) in items.iter().enumerate() {
                let mark = match (start, other_marks) {
                    (Some(start), _) => {
                        let number = (u64::from(*start) + n as u64).min(999_999_999);
                        format!("{number}{} ", if other_marks { ')' } else { '.' })
                    }
                    (None, false) => "- ".to_owned(),
                    (None, true) => "* ".to_owned(),
                };
                let mut inner = String::new();
                blocks(item, &mut inner);
                indent(&inner, &mark, &" ".repeat(mark.len()), out);
            }
        }
        Block::Quote(parts) => {
            let mut inner = String::new();
            blocks(parts, &mut inner);
            indent(&inner, "> ", "> ", out);
        }
        Block::Code(language, code) => {
            let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
            out.push_str(&format!("{fence}{language}\n{code}\n{fence}\n"));
        }
        Block::Table(head, rows) => table(*head, rows, out),
        // After the mark of an item, `---` or `***` would be read as part of the mark.
        Block::Rule => out.push_str("___\n"),
    }
}

/// Puts `first` before the first line and `rest` before the others.
fn indent(text: &str, first: &str, rest: &str, out: &mut String) {
    for (n, line) in text.trim_end_matches('\n').split('\n').enumerate() {
        let line = format!("{}{line}", if n == 0 { first } else { rest });
        out.push_str(line.trim_end_matches(' '));
        out.push('\n');
    }
}

fn table(head: bool, rows: &[Vec<Vec<Span>>], out: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let (first, body) = if head { (rows[0].as_slice(), &rows[1..]) } else { (&[][..], rows) };
    row(first, columns, out);
    out.push_str(&format!("|{}\n", " --- |".repeat(columns)));
    body.iter().for_each(|cells| row(cells, columns, out));
}

fn row(cells: &[Vec<Span>], columns: usize, out: &mut String) {
    out.push('|');
    for n in 0..columns {
        let cell = cells.get(n).map(|spans| line(spans)).unwrap_or_default();
        out.push_str(&format!(" {} |", bars(&cell.replace("\\\n", " ").replace('\n', " "))));
    }
    out.push('\n');
}

/// Escapes the bars that are not escaped yet: those in code. In a table, GitHub removes the backslash before it reads
/// the code.
fn bars(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    let mut escaped = false;
    for c in cell.chars() {
        if c == '|' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// One paragraph. A break is a backslash at the end of a line.
fn line(spans: &[Span]) -> String {
    let mut out = String::new();
    write_spans(spans, &mut out, Within::default());
    let lines: Vec<String> = out.split('\n').map(guard_start).collect();
    lines.join("\n")
}

/// The marks around a span. Emphasis and links do not nest in themselves.
#[derive(Clone, Copy, Default)]
struct Within {
    strong: bool,
    emphasis: bool,
    link: bool,
}

fn write_spans(spans: &[Span], out: &mut String, within: Within) {
    for (n, span) in spans.iter().enumerate() {
        match span {
            Span::Text(text) => escape(text, out),
            Span::Code(code) => write_code(code, out),
            Span::Break => out.push_str("\\\n"),
            Span::Image(_, words) => {
                out.push_str("\\[");
                escape(words, out);
                out.push_str("\\]");
            }
            Span::Strong(inner) if !within.strong && stands_alone(out, spans.get(n + 1)) => {
                mark("**", inner, out, Within { strong: true, ..within });
            }
            Span::Emphasis(inner) if !within.emphasis && stands_alone(out, spans.get(n + 1)) => {
                mark("*", inner, out, Within { emphasis: true, ..within });
            }
            Span::Link(url, inner) if !within.link => {
                // `![` would be a picture.
                if out.ends_with('!') {
                    out.pop();
                    out.push_str("\\!");
                }
                out.push('[');
                write_spans(inner, out, Within { link: true, ..within });
                let target =
                    url.as_str().replace('\\', "%5C").replace('<', "%3C").replace('>', "%3E").replace(' ', "%20");
                out.push_str(&format!("](<{}>)", target.replace('|', "%7C")));
            }
            Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner) => write_spans(inner, out, within),
        }
    }
}

fn mark(with: &str, inner: &[Span], out: &mut String, within: Within) {
    let mut text = String::new();
    write_spans(inner, &mut text, within);
    // Beside punctuation or another mark, the meaning of a delimiter depends on both sides. So none is written there.
    let is_plain = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if is_plain(text.chars().next()) && is_plain(text.chars().next_back()) {
        out.push_str(with);
        out.push_str(&text);
        out.push_str(with);
    } else {
        out.push_str(&text);
    }
}

/// Whether there is white space or an end of the line on both sides.
fn stands_alone(before: &str, after: Option<&Span>) -> bool {
    let free_before = before.chars().next_back().is_none_or(char::is_whitespace);
    let free_after = match after {
        None | Some(Span::Break) => true,
        Some(Span::Text(text)) => text.starts_with(' '),
        Some(_) => false,
    };
    free_before && free_after
}

fn write_code(code: &str, out: &mut String) {
    // Two runs of backticks beside each other would be read as one.
    if out.ends_with('`') {
        out.push(' ');
    }
    let fence = "`".repeat(longest_run(code, '`') + 1);
    // A reader removes one space at each end if both ends have one, unless all is space.
    let pad = if code.starts_with(['`', ' ']) || code.ends_with(['`', ' ']) { " " } else { "" };
    out.push_str(&format!("{fence}{pad}{code}{pad}{fence}"));
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}

/// Escapes characters that could be markup anywhere in a line.
fn escape(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    let mut previous = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '$' | '{' | '}' => true,
            '_' => !(is_word(previous) && is_word(next)),
            '&' => is_word(next) || next == Some('#'),
            // After a bar, a line could be read as the row of a table.
            '|' => true,
            _ => false,
        };
        if special {
            out.push('\\');
        }
        // A page must not insert other line ends, or characters that change the direction of text.
        match c {
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\r' | '\n' => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
        previous = Some(c);
    }
}

/// Escapes characters that could be markup at the beginning of a line: headings, items, rules, underlines, fences.
fn guard_start(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.as_bytes().get(digits);
    if digits > 0 && matches!(after, Some(b'.' | b')')) {
        return format!("{}\\{}", &line[..digits], &line[digits..]);
    }
    match line.as_bytes().first() {
        Some(b'#' | b'+' | b'-' | b'=' | b':') => format!("\\{line}"),
        _ => line.to_owned(),
    }
}
