//! Resolves links, as pages write them, to URLs.

use url::{ParseError, Url};

/// The URL to which `href` leads on a page at `base`, by the URL standard. The parser refuses an http reference that
/// begins with three slashes or more. The standard takes them for two.
pub fn resolve(base: &Url, href: &str) -> Result<Url, ParseError> {
    let reference = href.trim_start_matches(|c: char| c <= ' ');
    let is_slash = |c: char| matches!(c, '/' | '\\');
    if matches!(base.scheme(), "http" | "https") && reference.starts_with(is_slash) {
        let rest = reference.trim_start_matches(is_slash);
        if reference.len() - rest.len() > 2 {
            return base.join(&format!("//{rest}"));
        }
    }
    base.join(href)
}

/// The URL in no more memory than it needs. The parser may leave as much room after a URL as the URL is long. Short
/// URLs stay as they are.
pub fn compact(url: Url) -> Url {
    const SHORT: usize = 256;
    if url.as_str().len() > SHORT { url.clone() } else { url }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_url_takes_no_more_memory_than_it_needs() {
        let base = Url::parse(&format!("https://a.example/{}/", "b".repeat(1_900))).unwrap();
        let url = resolve(&base, "d").unwrap();
        assert_eq!(compact(url.clone()), url);
        assert_eq!(String::from(compact(resolve(&base, "d").unwrap())).capacity(), url.as_str().len());
    }

    #[test]
    fn slashes_too_many_are_two() {
        let base = Url::parse("https://a.example/b/c").unwrap();
        for (href, expected) in [
            ("d", "https://a.example/b/d"),
            ("/d", "https://a.example/d"),
            ("//b.example", "https://b.example/"),
            (" ///b.example/d", "https://b.example/d"),
            ("/\\/\\b.example//d", "https://b.example//d"),
            ("?d", "https://a.example/b/c?d"),
        ] {
            assert_eq!(resolve(&base, href).unwrap().as_str(), expected, "{href}");
        }
        assert!(resolve(&base, "///").is_err());
    }
}
