//! Compares this project's HTML tokenizer with the one of html5ever: both must produce the same tokens for any input.

use dedup_stage::page::tokenizer::oracle::{Token, both};

use super::Target;

/// The target.
pub const TARGET: Target = Target {
    name: "tokens",
    words: &[
        "<",
        ">",
        "</",
        "/>",
        "<a href=",
        "<p class=\"x\">",
        "</p>",
        "<!",
        "<?",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<!doctype html>",
        "<![CDATA[",
        "]]>",
        "<script>",
        "</script>",
        "<script",
        "</script",
        "<style>",
        "</style>",
        "<title>",
        "</title>",
        "<textarea>",
        "</textarea>",
        "<plaintext>",
        "<iframe src=x>",
        "</iframe>",
        "<svg>",
        "</svg>",
        "<math/>",
        " href='",
        " ID=\"",
        " class",
        "=",
        "'",
        "\"",
        "/",
        "\0",
        "\r",
        "\r\n",
        "\n",
        "\x0c",
        "&",
        ";",
        "&amp;",
        "&amp",
        "&lt",
        "&notin;",
        "&notit;",
        "&copy=",
        "&NotEqualTilde;",
        "&#",
        "&#x",
        "&#65;",
        "&#x80;",
        "&#xD800;",
        "&#x110000;",
        "é",
        "漢",
        "\u{feff}",
        "words of text",
    ],
    seeds: &[
        "<!DOCTYPE html PUBLIC \"a>b\"><html lang=en><title>A &amp; b</title><body class='x y'\n id=\"z\" hidden>\
         <p>Text &eacute; &copyx <a HREF=\"?a=1&copy=2&amp;b\" rel=nofollow/>link</a ></p></body></html>",
        "<script><!-- if (a < b) <script> x </script> --></script ><style><!-- </style>--><title></titles></TITLE>",
        "<!-- a -- b --!> c <!----><!-><!--->d--><svg><![CDATA[ <a> ]]]></svg><![CDATA[ <b> ]]><?php echo '>' ?>",
        "<textarea>\r\n&lt;\0</textarea x='>'><a\0b =c==d e='f'g=\"h\"i><\0></1></><br/ ><br / /><plaintext></plaintext>&amp;",
    ],
    run,
};

/// Panics if the tokens differ. The behaviour is the kinds of the tokens.
fn run(input: &[u8]) -> u64 {
    let html = String::from_utf8_lossy(input);
    let [ours, theirs] = both(&html);
    assert_eq!(ours, theirs);
    let kind = |token: &Token| match token {
        Token::Text(text) => (0, text.len().min(3), text.is_ascii()),
        Token::Start(_, closing, attributes, known) => (1, known.len().min(3), *closing ^ *attributes),
        Token::End(_) => (2, 0, false),
    };
    super::invariants::word(ours.iter().take(12).map(kind).collect::<Vec<_>>())
}
