//! Lines while they grow. White space is folded across spans, and there is none at the ends.

use super::{Span, fold};

/// Adds text to a line. Its white space is folded together with that at the end of the line.
pub fn push_text(line: &mut Vec<Span>, text: &str) {
    let starts = text.starts_with(char::is_whitespace);
    let words = fold(text);
    let ends = !words.is_empty() && text.ends_with(char::is_whitespace);
    let spaced = starts && !line.is_empty() && !ends_with_space(line);
    if words.is_empty() && !spaced {
        return;
    }
    let piece = format!("{}{words}{}", if spaced { " " } else { "" }, if ends { " " } else { "" });
    match line.last_mut() {
        Some(Span::Text(last)) => last.push_str(&piece),
        _ => line.push(Span::Text(piece)),
    }
}

fn ends_with_space(line: &[Span]) -> bool {
    match line.last() {
        Some(Span::Text(text)) => text.ends_with(' '),
        Some(Span::Break) | None => true,
        Some(Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner)) => ends_with_space(inner),
        Some(Span::Code(_) | Span::Image(..)) => false,
    }
}

/// Puts spans into another span. White space at their ends stays outside of it.
pub fn wrap(line: &mut Vec<Span>, spans: Vec<Span>, make: impl FnOnce(Vec<Span>) -> Span) {
    let starts = matches!(spans.first(), Some(Span::Text(text)) if text.starts_with(' '));
    let ends = spans.len() > 1 && ends_with_space(&spans)
        || matches!(spans.last(), Some(Span::Text(text)) if text.ends_with(' '));
    let inner = trim(spans);
    if starts || inner.is_empty() {
        push_text(line, " ");
    }
    if !inner.is_empty() {
        line.push(make(inner));
        if ends {
            push_text(line, " ");
        }
    }
}

/// Whether a line contains text.
pub fn has_text(spans: &[Span]) -> bool {
    spans.iter().any(|span| match span {
        Span::Text(text) | Span::Code(text) => !text.trim().is_empty(),
        Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner) => has_text(inner),
        Span::Image(..) => true,
        Span::Break => false,
    })
}

/// A line without breaks and white space at its ends, and without white space beside breaks.
pub fn trim(mut line: Vec<Span>) -> Vec<Span> {
    for at in 0..line.len() {
        let after_break = at == 0 || matches!(line[at - 1], Span::Break);
        let before_break = line.get(at + 1).is_none_or(|next| matches!(next, Span::Break));
        if let Span::Text(text) = &mut line[at] {
            if after_break {
                *text = text.trim_start().to_owned();
            }
            if before_break {
                *text = text.trim_end().to_owned();
            }
        }
    }
    line.retain(|span| !matches!(span, Span::Text(text) if text.is_empty()));
    let is_break = |span: Option<&Span>| matches!(span, Some(Span::Break));
    while is_break(line.last()) {
        line.pop();
    }
    let first = line.iter().position(|span| !matches!(span, Span::Break)).unwrap_or(line.len());
    line.drain(..first);
    line.dedup_by(|a, b| matches!((a, b), (Span::Break, Span::Break)));
    if has_text(&line) { line } else { Vec::new() }
}
