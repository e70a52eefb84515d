//! The requisites of a style sheet: its imports, and the images and fonts that it names by `url()`.

use std::sync::LazyLock;

use regex::Regex;
use url::Url;

use super::resolve;

/// The number of bytes of a style that are read.
const MAX_BYTES: usize = 2 << 20;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?i)url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]+))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')"#;
    Regex::new(pattern).expect("a pattern that compiles")
});

static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)/\*.*?\*/").expect("a pattern that compiles"));

/// The requisites of a style at `base`.
pub fn of_style(style: &str, base: &Url) -> Vec<Url> {
    let style = COMMENT.replace_all(crate::extract::head(style, MAX_BYTES), "");
    resolve(base, addresses(&style))
}

/// The addresses in a style, as they are written.
pub(super) fn addresses(style: &str) -> impl Iterator<Item = &str> {
    ADDRESS.captures_iter(style).filter_map(|found| found.iter().skip(1).flatten().next().map(|text| text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_needs_what_it_imports_and_names() {
        let style = r#"@import "a.css"; @IMPORT url('b.css') screen; /* url(no.png) */
            @font-face { src: url("f.woff2") format("woff2"), url( g.ttf ) } p { background: url(data:image/png;base64,x) }
            q { background: URL('/i.png#x') } r { background: url('/i.png') } s { behavior: url(#default) }"#;
        let base = Url::parse("http://a.test/css/main.css").unwrap();
        let found: Vec<String> = of_style(style, &base).into_iter().map(String::from).collect();
        let names = ["css/a.css", "css/b.css", "css/f.woff2", "css/g.ttf", "i.png"];
        assert_eq!(found, names.map(|name| format!("http://a.test/{name}")));
        let many: String = (0..10_000).map(|n| format!("url({n}.png)")).collect();
        assert_eq!(of_style(&many, &base).len(), super::super::MOST);
    }
}
