//! Directives of single pages. Meta elements and `X-Robots-Tag` headers use the same words.

/// The directives of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// The page must not be indexed.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
}

/// Directives with a value after a colon. Any other word before a colon is the name of an agent.
const WITH_VALUE: [&str; 5] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max-age"];

/// The directives for us, from the contents of `<meta name="robots">` (and of meta elements named after `token`) and
/// the values of `X-Robots-Tag` headers. In a header, `token: noindex` is for that agent alone, and so are the words
/// that follow, up to the next agent's name. If several directives are for us, each prohibition counts.
pub fn page_directives<'a>(
    metas: impl IntoIterator<Item = &'a str>,
    headers: impl IntoIterator<Item = &'a str>,
    token: &str,
) -> Directives {
    let mut directives = Directives::default();
    for meta in metas {
        meta.split(',').for_each(|word| directives.take(word));
    }
    for header in headers {
        header_words(header, token).for_each(|word| directives.take(word));
    }
    directives
}

/// The words of an `X-Robots-Tag` header that are for us, without those that have a value.
pub fn header_words<'a>(value: &'a str, token: &'a str) -> impl Iterator<Item = &'a str> {
    let mut for_us = true;
    value.split(',').filter_map(move |item| {
        let word = match item.split_once(':') {
            Some((name, _)) if WITH_VALUE.iter().any(|known| name.trim().eq_ignore_ascii_case(known)) => return None,
            Some((name, word)) => {
                for_us = name.trim().eq_ignore_ascii_case(token);
                word
            }
            None => item,
        };
        for_us.then_some(word)
    })
}

impl Directives {
    fn take(&mut self, word: &str) {
        let is = |name: &str| word.trim().eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
    }
}
