//! Directives of single pages: meta elements and `X-Robots-Tag` headers speak one language.

/// What a page says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// It is not to be indexed.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
}

/// Directives that have a value behind a colon; any other word before a colon is the name of an agent.
const WITH_VALUE: [&str; 5] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max-age"];

/// What the content of `<meta name="robots">` (and of meta elements named after `token`) and the values of `X-Robots-Tag`
/// headers ask of us. In a header `token: noindex` speaks to that agent alone, up to the next agent's name. Where several
/// speak to us, each prohibition counts.
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

/// The words of an `X-Robots-Tag` that speak to us, without those that have a value.
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
