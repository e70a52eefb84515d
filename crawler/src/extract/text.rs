//! Main text as plain text. Empty lines separate blocks, items begin with dashes or numbers, and tabs separate cells.

use super::{Block, Main, Span};

/// Writes a page. Its title comes first.
pub fn write(main: &Main) -> String {
    let mut out = String::new();
    if !main.title.is_empty() {
        out.push_str(&main.title);
        out.push('\n');
    }
    for block in &main.blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        self::block(block, "", &mut out);
    }
    out
}

/// Writes a block, with `indent` before each line.
fn block(block: &Block, indent: &str, out: &mut String) {
    match block {
        Block::Heading(_, spans) | Block::Paragraph(spans) => lines(&plain(spans), indent, out),
        Block::List(start, items) => {
            for (n, item) in items.iter().enumerate() {
                let mark = start.map_or_else(|| "- ".to_owned(), |start| format!("{}. ", u64::from(start) + n as u64));
                let mut inner = String::new();
                item.iter().for_each(|part| self::block(part, "", &mut inner));
                let inner = inner.trim_end_matches('\n');
                let hanging = " ".repeat(mark.len());
                for (n, line) in inner.split('\n').enumerate() {
                    out.push_str(indent);
                    out.push_str(if n == 0 { &mark } else { &hanging });
                    out.push_str(line);
                    out.push('\n');
                }
            }
        }
        Block::Quote(blocks) => {
            let indent = format!("{indent}  ");
            for (n, part) in blocks.iter().enumerate() {
                if n > 0 {
                    out.push('\n');
                }
                self::block(part, &indent, out);
            }
        }
        Block::Code(_, code) => lines(code, &format!("{indent}    "), out),
        Block::Table(_, rows) => {
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| plain(cell).replace('\n', " ")).collect();
                lines(&cells.join("\t"), indent, out);
            }
        }
        Block::Rule => {}
    }
}

fn lines(text: &str, indent: &str, out: &mut String) {
    for line in text.split('\n') {
        out.push_str(indent);
        out.push_str(line);
        out.push('\n');
    }
}

/// The words of a line. Breaks become line ends, and pictures are left out.
pub(super) fn plain(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        match span {
            Span::Text(text) | Span::Code(text) => out.push_str(text),
            Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner) => out.push_str(&plain(inner)),
            Span::Image(..) => {}
            Span::Break => out.push('\n'),
        }
    }
    out
}

/// The number of bytes of a block's words.
pub(super) fn block_len(block: &Block) -> usize {
    let spans = |spans: &Vec<Span>| plain(spans).len();
    match block {
        Block::Heading(_, line) | Block::Paragraph(line) => spans(line),
        Block::List(_, items) => items.iter().flatten().map(block_len).sum(),
        Block::Quote(blocks) => blocks.iter().map(block_len).sum(),
        Block::Code(_, code) => code.len(),
        Block::Table(_, rows) => rows.iter().flatten().map(spans).sum(),
        Block::Rule => 0,
    }
}
