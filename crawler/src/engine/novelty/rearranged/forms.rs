//! The forms of URLs, and whether their pages still bring something. Session ids, dates and page numbers make URLs
//! without end, but few forms. If the last pages of a form brought nothing, a new link of this form promises nothing.
//!
//! These forms are coarser than templates ([`frontier`] holds links by templates): a random id may look like a word or
//! a number now and then, and must not make a form of its own.

use std::collections::{HashMap, VecDeque};

use dedup_stage::url::SiteId;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The hash of the form of a URL: the names of its folders and parameters, without what names a single page.
pub fn form(url: &Url) -> u64 {
    let query = url.query().filter(|query| !query.is_empty());
    let mut segments = url.path().split('/').skip(1).enumerate().peekable();
    let mut form = 0u64;
    let mut push = |part: u64| form = (form.rotate_left(23) ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    while let Some((at, segment)) = segments.next() {
        let is_last = segments.peek().is_none();
        // Paths may grow without end.
        if at >= FOLDERS && !is_last {
            continue;
        }
        let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
        let is_word = segment.len() < LONG && !segment.bytes().any(|byte| matches!(byte, b'-' | b'_' | b'%' | b'+'));
        push(match is_last && query.is_none() && !segment.is_empty() {
            _ if has_digit || !is_word => 1,
            true => 2,
            false => xxh3_64(segment.as_bytes()) | 4,
        });
    }
    // The order of the parameters does not count, nor does it count how often each appears.
    let names = query.into_iter().flat_map(|query| query.split('&')).map(|pair| pair.split('=').next().unwrap_or(pair));
    let mut names: Vec<u64> = names.map(|name| xxh3_64(name.as_bytes())).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().chain(query.map(|_| 3)).for_each(push);
    form
}

/// Only this many segments at the beginning of a path count, and the last one.
const FOLDERS: usize = 3;
/// A segment of this length names one page.
const LONG: usize = 16;

/// The forms of the URLs of each host.
#[derive(Debug, Default)]
pub struct Forms {
    /// The last forms of a host, each with the number of pages that brought nothing since one brought something.
    hosts: HashMap<u64, VecDeque<(u32, u32)>>,
}

impl Forms {
    /// At most this many hosts are remembered. When there are more, all are forgotten.
    const HOSTS: usize = config::bounds::HOSTS_COMPARED;
    /// A form whose last pages brought nothing, and are at least this many, promises nothing.
    const RUN: u32 = 20;

    /// Whether a new link promises something: the pages whose URLs have its form still bring something, or there were
    /// too few of them to say.
    pub fn promises(&self, site: SiteId, url: &Url) -> bool {
        let (forms, form) = (self.hosts.get(&site.host), form(url) as u32);
        forms.into_iter().flatten().all(|(of, run)| *of != form || *run < Self::RUN)
    }

    /// A page whose URL has this form brought something, or did not.
    pub fn brought(&mut self, site: SiteId, form: u64, something: bool) {
        if self.hosts.len() >= Self::HOSTS && !self.hosts.contains_key(&site.host) {
            self.hosts.clear();
        }
        let forms = self.hosts.entry(site.host).or_default();
        let at = forms.iter().position(|(of, _)| *of == form as u32);
        let run = at.and_then(|at| forms.remove(at)).map_or(0, |(_, run)| run);
        if forms.len() == config::bounds::FORMS {
            forms.pop_front();
        }
        forms.push_back((form as u32, if something { 0 } else { run.saturating_add(1) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: SiteId = SiteId { domain: 1, host: 2 };

    fn url(path: &str) -> Url {
        Url::parse("http://a.test").unwrap().join(path).unwrap()
    }

    #[test]
    fn what_names_one_page_is_left_out_of_a_form() {
        for [one, other] in [
            ["/s7898d81e/a/12", "/sabcdef42/a/7"],
            ["/cal/2031/5", "/cal/1999/12"],
            ["/a/3?t=17", "/a/45?t=9&t=8"],
            ["/post/ant", "/post/bee"],
            ["/post/a-title", "/post/another-title"],
            ["/list?page=2&sort=a", "/list?sort=b&page=3"],
            ["/x/y/z/1/2/3/", "/x/y/z/4/"],
        ] {
            assert_eq!(form(&url(one)), form(&url(other)), "{one} {other}");
        }
        for [one, other] in [
            ["/a/12", "/b/12"],
            ["/a/12", "/a/12?t=1"],
            ["/a?t=1", "/a?s=1"],
            ["/list?page=2", "/archive?page=2"],
            ["/a/1", "/a/1/"],
            ["/a/b/1", "/a/1"],
        ] {
            assert_ne!(form(&url(one)), form(&url(other)), "{one} {other}");
        }
    }

    #[test]
    fn a_form_promises_until_many_pages_brought_nothing_and_again_after_one_that_did() {
        let mut forms = Forms::default();
        let (it, other) = (url("/p/1"), url("/q/1"));
        for page in 0..Forms::RUN {
            assert!(forms.promises(SITE, &it), "{page}");
            forms.brought(SITE, form(&it), false);
        }
        assert!(!forms.promises(SITE, &it) && forms.promises(SITE, &other));
        assert!(forms.promises(SiteId { domain: 1, host: 3 }, &it), "another host");
        forms.brought(SITE, form(&it), true);
        assert!(forms.promises(SITE, &it));
    }

    #[test]
    fn forms_without_end_take_no_more_memory() {
        let mut forms = Forms::default();
        for number in 0..10_000 {
            forms.brought(SITE, number, false);
        }
        assert_eq!(forms.hosts[&SITE.host].len(), config::bounds::FORMS);
    }
}
