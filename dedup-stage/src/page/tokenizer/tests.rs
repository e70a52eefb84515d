//! Compares the tokenizer with html5ever's on odd markup.

use proptest::prelude::*;

use super::oracle::both;

fn agrees(html: &str) {
    let [ours, theirs] = both(html);
    assert_eq!(ours, theirs, "{html:?}");
}

/// Pieces of markup that have a meaning beside each other.
const PIECES: [&str; 84] = [
    "<",
    ">",
    "</",
    "/>",
    "<!",
    "<?",
    "<!--",
    "-->",
    "--!>",
    "--",
    "->",
    "!",
    "-",
    "<!doctype html>",
    "<!DOCTYPE a \"b>c\">",
    "<![CDATA[",
    "]]>",
    "]",
    "<a href=",
    "<a",
    "</a",
    " href='",
    " HREF=\"",
    "class",
    "=",
    "'",
    "\"",
    "/",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\x0C",
    "\0",
    "x",
    "B",
    "é",
    "漢字",
    "\u{FEFF}",
    "&",
    "&amp;",
    "&amp",
    "&amp=",
    "&lt;b",
    "&copy",
    "&copy=",
    "&copyx",
    "&notit;",
    "&notin;",
    "&NotEqualTilde;",
    "&#",
    "&#x",
    "&#65;",
    "&#65",
    "&#x41;",
    "&#0;",
    "&#x80;",
    "&#xD800;",
    "&#x110000;",
    "&#99999999999;",
    ";",
    "#",
    "<script>",
    "</script>",
    "</script x='>'>",
    "<SCRIPT ",
    "</scripts>",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "</TITLE\n>",
    "<textarea>",
    "</textarea>",
    "<plaintext>",
    "<iframe src=x>",
    "</iframe>",
    "<svg>",
    "</svg>",
    "<svg/>",
    "<math>",
    "words of text",
    "<p hidden id=\"x\" ID=y data-src>",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn any_markup(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24)) {
        agrees(&pieces.concat());
    }

    #[test]
    fn any_tag(inside in "[ a-dA-D=/'\"&;<\n\r\0é-]{0,24}") {
        agrees(&format!("<a{inside}>text</a{inside}>"));
        agrees(&format!("<p {inside}"));
    }

    #[test]
    fn any_comment(inside in "[-!<> a]{0,16}") {
        agrees(&format!("<!--{inside}-->b<p>--!>c"));
    }

    #[test]
    fn any_script(inside in "[-!<>/ ]{0,4}(<!--)?(<script)?[-!<>/ s]{0,4}(</script)?[ >]?(-->)?[<>/ ]{0,4}(</script>)?") {
        agrees(&format!("<script>{inside}</script>b</script>c"));
    }

    #[test]
    fn any_reference(name in "[a-zA-Z0-9#;=]{0,9}", place in 0..3) {
        agrees(&match place {
            0 => format!("&{name}"),
            1 => format!("<a href='?x&{name}'>"),
            _ => format!("<a href=&{name}>&{name}<title>&{name}"),
        });
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        agrees(&text);
    }
}

#[test]
fn every_named_reference() {
    for name in html5ever::data::NAMED_ENTITIES.keys() {
        let html = format!("&{name}x &{name}= &{name};<a href='&{name}x' id='&{name}=' class='&{name}' title=&{name}>");
        agrees(&html);
    }
}

#[test]
fn every_numeric_reference() {
    for number in
        (0..0x1_0000).step_by(if cfg!(debug_assertions) { 37 } else { 1 }).chain([0x10_FFFE, 0x10_FFFF, 0x11_0000])
    {
        agrees(&format!("&#{number};&#x{number:x} <a href='&#{number}x&#X{number:X};'>"));
    }
}
