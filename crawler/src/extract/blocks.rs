//! Turns a tree into blocks: a block stands on its own lines, and spans run within its lines.

use dedup_stage::url::drop_user;
use dom_query::NodeRef;
use url::Url;

use super::grid::{self, Cell};
use super::line::{has_text, push_text, trim, wrap};
use super::{Block, MAX_DEPTH, Span, fold};

/// The elements of a tree that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Elements that no reader sees.
    Hidden,
    /// Elements that no reader sees, and also navigation, header, footer, asides and forms.
    Chrome,
}

/// Elements that no reader sees, or that are no text.
const HIDDEN: [&str; 20] = [
    "script", "style", "template", "noscript", "head", "title", "meta", "link", "iframe", "object", "embed", "canvas",
    "audio", "video", "svg", "math", "map", "input", "select", "button",
];
/// Elements that are not the content of a page.
const CHROME: [&str; 6] = ["nav", "header", "footer", "aside", "form", "dialog"];
/// Elements that stand on their own lines and have no other meaning here.
const PLAIN: [&str; 32] = [
    "div",
    "section",
    "article",
    "main",
    "body",
    "html",
    "p",
    "figure",
    "figcaption",
    "details",
    "summary",
    "address",
    "center",
    "fieldset",
    "legend",
    "dl",
    "dt",
    "dd",
    "hgroup",
    "header",
    "footer",
    "nav",
    "aside",
    "form",
    "caption",
    "tbody",
    "thead",
    "tfoot",
    "tr",
    "td",
    "th",
    "li",
];

/// The most rows of a table, and the most cells of a row, that are read.
const MAX_ROWS: usize = 2_000;
const MAX_CELLS: usize = 64;

/// The blocks below a node.
pub fn read(root: &NodeRef<'_>, base: &Url, skip: Skip) -> Vec<Block> {
    let reader = Reader { base, skip };
    let mut flow = Flow::default();
    reader.children(root, &mut flow, 0);
    flow.finish()
}

/// The blocks so far, and the open paragraph.
#[derive(Default)]
struct Flow {
    blocks: Vec<Block>,
    line: Vec<Span>,
}

impl Flow {
    fn end_line(&mut self) {
        let line = trim(std::mem::take(&mut self.line));
        if !line.is_empty() {
            self.blocks.push(Block::Paragraph(line));
        }
    }

    fn push(&mut self, block: Block) {
        self.end_line();
        self.blocks.push(block);
    }

    fn finish(mut self) -> Vec<Block> {
        self.end_line();
        while self.blocks.last() == Some(&Block::Rule) {
            self.blocks.pop();
        }
        self.blocks
    }
}

struct Reader<'a> {
    base: &'a Url,
    skip: Skip,
}

impl Reader<'_> {
    fn children(&self, node: &NodeRef<'_>, flow: &mut Flow, depth: usize) {
        if depth < MAX_DEPTH {
            for child in node.children_it(false) {
                self.node(&child, flow, depth + 1);
            }
        }
    }

    fn node(&self, node: &NodeRef<'_>, flow: &mut Flow, depth: usize) {
        if node.is_text() {
            push_text(&mut flow.line, &node.text());
            return;
        }
        let Some(name) = node.node_name() else {
            return self.children(node, flow, depth);
        };
        let name: &str = &name;
        match name {
            _ if self.is_skipped(node, name) => {}
            "br" => flow.line.push(Span::Break),
            "hr" => flow.push(Block::Rule),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let spans = self.spans(node, depth);
                if !spans.is_empty() {
                    flow.push(Block::Heading(name.as_bytes()[1] - b'0', spans));
                }
            }
            "ul" | "ol" | "menu" | "dir" => self.list(node, name, flow, depth),
            "blockquote" => {
                let blocks = self.inside(node, depth);
                if !blocks.is_empty() {
                    flow.push(Block::Quote(blocks));
                }
            }
            "pre" | "listing" | "xmp" | "plaintext" | "textarea" => {
                let code = code(node);
                let code = code.trim_matches(['\n', '\r']).trim_end();
                if !code.is_empty() {
                    flow.push(Block::Code(language(node), code.replace("\r\n", "\n")));
                }
            }
            "table" => self.table(node, flow, depth),
            _ if PLAIN.contains(&name) => {
                flow.end_line();
                self.children(node, flow, depth);
                flow.end_line();
            }
            _ if self.has_blocks(node) => self.children(node, flow, depth),
            _ => self.inline(node, name, &mut flow.line, depth),
        }
    }

    fn is_skipped(&self, node: &NodeRef<'_>, name: &str) -> bool {
        HIDDEN.contains(&name)
            || (self.skip == Skip::Chrome && CHROME.contains(&name))
            || node.has_attr("hidden")
            || node.attr("aria-hidden").is_some_and(|value| &*value == "true") && name != "a"
    }

    /// Whether an inline element contains blocks, as `<a><div>…</div></a>` does. If so, the inline element itself is
    /// ignored.
    fn has_blocks(&self, node: &NodeRef<'_>) -> bool {
        node.children_it(false).any(|child| {
            child.node_name().is_some_and(|name| {
                let name: &str = &name;
                PLAIN.contains(&name)
                    || matches!(name, "ul" | "ol" | "table" | "pre" | "blockquote" | "hr")
                    || name.len() == 2 && name.starts_with('h') && name.as_bytes()[1].is_ascii_digit()
            })
        })
    }

    fn inside(&self, node: &NodeRef<'_>, depth: usize) -> Vec<Block> {
        let mut flow = Flow::default();
        self.children(node, &mut flow, depth);
        flow.finish()
    }

    /// All content below a node, as one line.
    fn spans(&self, node: &NodeRef<'_>, depth: usize) -> Vec<Span> {
        let mut line = Vec::new();
        self.inline_children(node, &mut line, depth);
        trim(line)
    }

    fn inline_children(&self, node: &NodeRef<'_>, line: &mut Vec<Span>, depth: usize) {
        if depth >= MAX_DEPTH {
            return;
        }
        for child in node.children_it(false) {
            if child.is_text() {
                push_text(line, &child.text());
            } else if let Some(name) = child.node_name()
                && !self.is_skipped(&child, &name)
            {
                self.inline(&child, &name, line, depth + 1);
            }
        }
    }

    fn inline(&self, node: &NodeRef<'_>, name: &str, line: &mut Vec<Span>, depth: usize) {
        match name {
            "br" => line.push(Span::Break),
            "code" | "kbd" | "samp" | "tt" | "var" => {
                let code = fold(&node.text());
                if !code.is_empty() {
                    line.push(Span::Code(code));
                }
            }
            "img" => {
                let words = node.attr("alt").map(|alt| fold(&alt)).unwrap_or_default();
                if let Some(url) = node.attr("src").and_then(|src| self.resolve(&src)).filter(|_| !words.is_empty()) {
                    line.push(Span::Image(url, words));
                }
            }
            "a" => {
                let spans = untrimmed(self, node, depth);
                match node.attr("href").and_then(|href| self.resolve(&href)) {
                    Some(url) if has_text(&spans) => wrap(line, spans, |spans| Span::Link(url, spans)),
                    _ => line.extend(spans),
                }
            }
            "b" | "strong" => wrap(line, untrimmed(self, node, depth), Span::Strong),
            "i" | "em" | "cite" | "dfn" => wrap(line, untrimmed(self, node, depth), Span::Emphasis),
            "sup" | "sub" | "span" | "font" | "mark" | "small" | "u" | "s" | "del" | "ins" | "abbr" | "time"
            | "label" | "q" | "bdi" | "bdo" | "big" | "strike" | "data" | "ruby" | "rb" | "acronym" | "wbr"
            | "picture" | "source" => {
                self.inline_children(node, line, depth);
            }
            // This is a block in a place where only a line can be. Its words are kept apart from those beside it.
            _ => {
                push_text(line, " ");
                self.inline_children(node, line, depth);
                push_text(line, " ");
            }
        }
    }

    fn list(&self, node: &NodeRef<'_>, name: &str, flow: &mut Flow, depth: usize) {
        let start =
            node.attr("start").and_then(|start| start.trim().parse().ok()).filter(|start| *start <= 999_999_999);
        let mut items: Vec<Vec<Block>> = Vec::new();
        for child in node.children_it(false).filter(|_| depth < MAX_DEPTH) {
            let Some(tag) = child.node_name() else { continue };
            if self.is_skipped(&child, &tag) {
                continue;
            }
            // If a list is within a list, but outside any item, it belongs to the item before.
            let blocks = if &*tag == "li" {
                self.inside(&child, depth + 1)
            } else {
                let mut inner = Flow::default();
                self.node(&child, &mut inner, depth + 1);
                inner.finish()
            };
            match items.last_mut() {
                Some(last) if &*tag != "li" => last.extend(blocks),
                _ if blocks.is_empty() => {}
                _ => items.push(blocks),
            }
        }
        if !items.is_empty() {
            flow.push(Block::List((name == "ol").then(|| start.unwrap_or(1)), items));
        }
    }

    /// Reads a table. A table that only arranges things (with blocks in its cells, or a single column) does not become
    /// a table.
    fn table(&self, node: &NodeRef<'_>, flow: &mut Flow, depth: usize) {
        let mut rows = Vec::new();
        let mut head = false;
        let mut caption = Vec::new();
        for part in node.descendants_it() {
            if rows.len() >= MAX_ROWS || depth >= MAX_DEPTH {
                break;
            }
            let Some(name) = part.node_name() else { continue };
            if &*name == "caption" && caption.is_empty() {
                caption = self.spans(&part, depth + 1);
            }
            if &*name != "tr" || !belongs(&part, node) {
                continue;
            }
            let cells: Vec<NodeRef<'_>> = part
                .children_it(false)
                .filter(|cell| cell.node_name().is_some_and(|name| matches!(&*name, "td" | "th")))
                .take(MAX_CELLS)
                .collect();
            let is_head = !cells.is_empty() && cells.iter().all(|cell| cell.has_name("th"));
            head |= rows.is_empty() && is_head;
            rows.push(cells);
        }
        rows.retain(|cells| !cells.is_empty());
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let arranges = rows.iter().flatten().any(|cell| {
            cell.descendants_it().any(|inner| {
                inner.node_name().is_some_and(|name| {
                    matches!(&*name, "table" | "ul" | "ol" | "pre" | "blockquote" | "h1" | "h2" | "h3")
                })
            })
        });
        if columns < 2 || rows.len() < 2 || arranges {
            flow.end_line();
            self.children(node, flow, depth);
            return flow.end_line();
        }
        if !caption.is_empty() {
            flow.push(Block::Paragraph(caption));
        }
        let cell = |cell: &NodeRef<'_>| {
            let number = |name| cell.attr(name).and_then(|value| value.trim().parse().ok()).unwrap_or(1);
            Cell { content: self.spans(cell, depth + 1), columns: number("colspan"), rows: number("rowspan") }
        };
        let rows = rows.iter().map(|cells| cells.iter().map(cell).collect()).collect();
        let rows: Vec<Vec<Vec<Span>>> = grid::places(rows, MAX_CELLS);
        if rows.iter().flatten().any(|cell| !cell.is_empty()) {
            flow.push(Block::Table(head, rows));
        }
    }

    /// The URL of a link that is safe to follow.
    fn resolve(&self, href: &str) -> Option<Url> {
        let mut url = self.base.join(href.trim()).ok()?;
        drop_user(&mut url);
        matches!(url.scheme(), "http" | "https" | "mailto").then_some(url)
    }
}

fn untrimmed(reader: &Reader<'_>, node: &NodeRef<'_>, depth: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    reader.inline_children(node, &mut spans, depth);
    spans
}

/// Whether `row` belongs to `table` itself, and not to a table within it.
fn belongs(row: &NodeRef<'_>, table: &NodeRef<'_>) -> bool {
    row.ancestors_it(Some(4)).find(|node| node.has_name("table")).is_some_and(|nearest| nearest.id == table.id)
}

/// The text of code, with its line ends.
fn code(node: &NodeRef<'_>) -> String {
    let mut text = String::new();
    for inner in node.descendants_it() {
        if inner.is_text() {
            text.push_str(&inner.text());
        } else if inner.has_name("br") {
            text.push('\n');
        }
    }
    text
}

/// The language of code, from a class such as `language-rust`.
fn language(node: &NodeRef<'_>) -> String {
    let inner = node.children_it(false).find(|child| child.has_name("code"));
    let classes = [node.class(), inner.and_then(|code| code.class())];
    let classes = classes.iter().flatten().flat_map(|classes| classes.split_ascii_whitespace());
    let mut named = classes.filter_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")));
    let fits = |name: &&str| {
        name.len() <= 20 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte))
    };
    named.find(fits).unwrap_or_default().to_owned()
}
