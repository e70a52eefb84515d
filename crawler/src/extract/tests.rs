//! Tests of the blocks of small pages, and of Markdown that another parser reads.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A page whose body is taken as it is, because it is no article.
fn page(body: &str) -> Main {
    extract(&format!("<title>T</title><body>{body}"), &url("http://a.test/x/y"))
}

fn markdown(body: &str) -> String {
    markdown::write(&Main { title: String::new(), ..page(body) })
}

#[test]
fn blocks_are_written_in_both_forms() {
    for (html, plain, marked) in [
        ("<p>one\n  two<p>three", "one two\n\nthree\n", "one two\n\nthree\n"),
        ("<h2>Head</h2>text<br>more", "Head\n\ntext\nmore\n", "## Head\n\ntext\\\nmore\n"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c\n", "- a\n- b\n\n  - c\n"),
        ("<ol start=9><li>a<li><p>b<p>c</ol>", "9. a\n10. b\n    c\n", "9. a\n10. b\n\n    c\n"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n- b\n", "- a\n\n* b\n"),
        ("<blockquote><p>a<p>b</blockquote>", "  a\n\n  b\n", "> a\n>\n> b\n"),
        (
            "<pre><code class='language-rust'>fn a() {\n    ```\n}</code></pre>",
            "    fn a() {\n        ```\n    }\n",
            "````rust\nfn a() {\n    ```\n}\n````\n",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1|<td><code>x|y</code></table>",
            "a\tb\n1|\tx|y\n",
            "| a | b |\n| --- | --- |\n| 1\\| | `x\\|y` |\n",
        ),
        ("<pre>a\tb<br>c</pre>", "    a\tb\n    c\n", "```\na\tb\nc\n```\n"),
        (
            "<table><tr><td rowspan=2>a<td>b<tr><td>c<tr><td colspan=2>d</table>",
            "a\tb\n\tc\nd\t\n",
            "|  |  |\n| --- | --- |\n| a | b |\n|  | c |\n| d |  |\n",
        ),
        ("<table><tr><td>only<tr><td>arranged</table>", "only\n\narranged\n", "only\n\narranged\n"),
        ("a <b>b</b> <i>c</i> <b>d</b>e", "a b c de\n", "a **b** *c* de\n"),
        (
            "see <a href='/p?q=1#f'>this <b>page</b></a>!<a href=z>x</a>",
            "see this page!x\n",
            "see [this **page**](<http://a.test/p?q=1#f>)\\![x](<http://a.test/x/z>)\n",
        ),
        ("<a href='javascript:alert(1)'>x</a> <a href=' DATA:text/html,y'>y</a>", "x y\n", "x y\n"),
        ("<a href='/deep'><div>a</div><div>b</div></a>", "a\n\nb\n", "a\n\nb\n"),
        ("<p>a<hr><p>b<hr>", "a\n\n\nb\n", "a\n\n___\n\nb\n"),
        ("<img src=/i.png alt='a [picture]'> and <img src=j.png>", " and\n", "\\[a \\[picture\\]\\] and\n"),
        ("<nav>menu</nav><header>top</header>x<script>y</script><p hidden>z</p><footer>end</footer>", "x\n", "x\n"),
        ("<textarea>a</textarea>", "    a\n", "```\na\n```\n"),
        ("", "", ""),
    ] {
        let found = page(html);
        assert!(!found.is_article);
        assert_eq!(
            text::write(&Main { title: String::new(), ..found }).trim_start_matches(' '),
            plain.trim_start_matches(' '),
            "{html}"
        );
        assert_eq!(markdown(html), marked, "{html}");
    }
}

#[test]
fn an_article_is_told_from_what_surrounds_it() {
    let words = "Some sentence, with a comma or two, that says something of its own. ".repeat(6);
    let html = format!(
        "<title>The title of it | Site</title><base href='https://b.test/d/'><body><div class=sidebar><a href=1>menu</a> <a href=2>more menu</a></div>\
         <div id=content><h1>The title of it</h1><p>{words}</p><p>{words}<a href=n>next</a></p><h2>Part</h2><p>{words}</p></div>\
         <div class=footer>Copyright somebody</div>"
    );
    let main = extract(&html, &url("http://a.test/"));
    assert!(main.is_article);
    assert_eq!(main.title, "The title of it | Site");
    let text = text::write(&main);
    assert!(text.contains("of its own") && text.contains("Part"));
    assert!(!text.contains("menu") && !text.contains("Copyright"), "{text}");
    assert!(markdown::write(&main).starts_with("# The title of it \\| Site\n\n"));
    assert!(markdown::write(&main).contains("[next](<https://b.test/d/n>)"));
}

#[test]
fn text_cannot_become_markup() {
    for text in [
        "# heading",
        "- item",
        "+ item",
        "* item",
        "1. item",
        "2) item",
        "> quote",
        "```",
        "~~~",
        "    code",
        "---",
        "===",
        "***",
        "_a_ b_c_d __e__",
        "*a* **b**",
        "`a` ``b``",
        "[a](http://evil.test/)",
        "![a](http://evil.test/)",
        "[a]: http://evil.test/",
        "<script>alert(1)</script>",
        "<!-- a",
        "<http://evil.test/>",
        "&lt; &copy; &#60;",
        "a\\",
        "\\*",
        "a | b\n--- | ---",
        "~~a~~",
        "$a$ $$b$$",
        "[^1]: note",
        "- [ ] task",
        ": definition",
        "a\u{2028}# b",
        "\u{202e}txt.exe",
        "#",
        "a #",
        "a ##",
        "| a |",
        "!",
        "setext\n===",
        "{#id}",
    ] {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        for html in [
            format!("<p>{escaped}</p>"),
            format!("<p>{}</p>", escaped.replace('\n', "<br>")),
            format!("<h3>{escaped}</h3>"),
            format!("<ul><li>{escaped}</ul>"),
            format!("<blockquote>{escaped}</blockquote>"),
            format!("<p>x <a href=/ok>{escaped}</a></p>"),
            format!("<table><tr><th>{escaped}<th>x<tr><td>{escaped}<td>y</table>"),
            format!("<p>{escaped}<b>b</b></p>"),
            format!("<p>a <code>{escaped}</code></p>"),
            format!("<pre>{escaped}</pre>"),
            format!("<p>a!<a href=/ok>{escaped}</a>"),
        ] {
            assert_eq!(odd(&html), None, "{html}\n{}", markdown(&html));
        }
    }
}

/// The fault in the Markdown of a page, if there is one: markup that the page does not have, or other words.
fn odd(html: &str) -> Option<String> {
    let main = page(html);
    let marked = markdown(html);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_DEFINITION_LIST;
    let mut read = String::new();
    for event in Parser::new_ext(&marked, options) {
        match event {
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {
                return Some(format!("{event:?}"));
            }
            Event::Start(
                Tag::Image { .. }
                | Tag::FootnoteDefinition(_)
                | Tag::Strikethrough
                | Tag::HtmlBlock
                | Tag::MetadataBlock(_)
                | Tag::DefinitionList,
            ) => {
                return Some(format!("{event:?}"));
            }
            Event::Start(Tag::Link { dest_url, .. }) if !dest_url.starts_with("http://a.test/") => {
                return Some(format!("leads to {dest_url}"));
            }
            Event::Start(Tag::Heading { id, .. }) if id.is_some() => return Some(format!("id {id:?}")),
            Event::Text(text) | Event::Code(text) => read.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::Rule => read.push(' '),
            Event::End(end) if !matches!(end, TagEnd::Link | TagEnd::Strong | TagEnd::Emphasis) => read.push(' '),
            _ => {}
        }
    }
    // The marks of items are only in the plain text, so they are left out here.
    let blocks = words_of(&main.blocks);
    (squeeze(&read) != squeeze(&blocks)).then(|| format!("{read:?}, not {blocks:?}"))
}

fn words_of(blocks: &[Block]) -> String {
    let lines = blocks.iter().map(|block| match block {
        Block::Heading(_, spans) | Block::Paragraph(spans) => words_in(spans),
        Block::List(_, items) => items.iter().map(|item| words_of(item)).collect::<Vec<_>>().join(" "),
        Block::Quote(blocks) => words_of(blocks),
        Block::Code(_, code) => code.clone(),
        Block::Table(_, rows) => rows.iter().flatten().map(|cell| words_in(cell)).collect::<Vec<_>>().join(" "),
        Block::Rule => String::new(),
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn words_in(spans: &[Span]) -> String {
    spans
        .iter()
        .map(|span| match span {
            Span::Text(text) | Span::Code(text) => text.clone(),
            Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner) => words_in(inner),
            Span::Image(_, words) => format!("[{words}]"),
            Span::Break => " ".into(),
        })
        .collect()
}

/// Removes white space, and the characters that are never passed on.
fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{fffd}') && !c.is_control())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Catches Markdown that says more or less than its page.
    #[test]
    fn markdown_says_what_the_page_says(parts in proptest::collection::vec(prop::sample::select(vec![
        "<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<a href=/ok>", "</a>", "<ul>", "<li>", "</ul>", "<ol>", "</ol>", "<br>", "<hr>", "<code>", "</code>",
        "<pre>", "</pre>", "<blockquote>", "</blockquote>", "<table>", "<tr>", "<td>", "<th>", "</table>", "<h2>", "</h2>", "<div>", "</div>", "<img src=i alt='w ! ['>",
        "word", " ", "\n", "*", "**", "_", "`", "``", "[", "]", "(x)", "!", "#", "-", "+", "=", "1.", "2)", "&lt;b&gt;", "&amp;lt;", "~", "~~", "|", "\\", ">", "$", ":", "{#x}", "\t",
    ]), 0..40)) {
        let html = parts.concat();
        prop_assert_eq!(odd(&html), None, "{}\n---\n{}", &html, markdown(&html));
    }

    /// Catches a page for which the reading fails.
    #[test]
    fn anything_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let main = page(&String::from_utf8_lossy(&bytes));
        let _ = (text::write(&main), markdown::write(&main));
    }
}

/// Catches pages for which building a tree takes time or memory by the square of their size.
#[test]
fn hostile_pages_cost_little() {
    let nested = |tag: &str, times: usize| {
        format!("{}word{}", format!("<{tag}>").repeat(times), format!("</{tag}>").repeat(times))
    };
    let unclosed: String = (0..400).map(|n| format!("<font color={n}>")).collect();
    for (name, html) in [
        ("deep", nested("div", 100_000)),
        ("deep lists", nested("ul><li", 100_000)),
        ("deep emphasis", nested("b", 100_000)),
        ("deep tables", nested("table><tr><td", 100_000)),
        ("deep and different", (0..100_000).map(|n| format!("<x{n}>")).collect()),
        ("formatting in every paragraph", format!("{unclosed}{}", "<p>".repeat(100_000))),
    ] {
        assert_eq!(page(&html).blocks, [], "{name}");
    }
    for (name, html, words) in [
        ("deep, but not too deep", nested("div", 200), 1),
        ("paragraphs that nobody closes", "<p>word ".repeat(5_000), 5_000),
        ("items that nobody closes", format!("<ul>{}", "<li>word ".repeat(5_000)), 5_000),
        ("markup in scripts", format!("<script>{}</script>word", "'<div>'".repeat(5_000)), 1),
        ("markup in comments", format!("<!--{}-->word", "<div>".repeat(5_000)), 1),
        ("more elements than an article is sought in", "<p>word</p>".repeat(MAX_ELEMENTS + 1), MAX_ELEMENTS + 1),
    ] {
        let text = text::write(&page(&html));
        assert_eq!(text.matches("word").count(), words, "{name}");
    }
}
