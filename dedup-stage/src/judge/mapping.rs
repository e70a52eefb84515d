//! Turns links of a page into links of its twin. The differences between the URLs of the two pages tell how: in host,
//! folders and parameters.

use ::url::Url;

/// Turns the URL of a link on a page into the URLs that the twin may have in its place.
///
/// A page at `http://a/docs/14/sql.html` and its twin at `http://b/docs/15/sql.html` differ in the host and in a
/// folder. So `http://a/docs/14/x` on the page may stand for `http://b/docs/15/x` on the twin, or for
/// `http://b/docs/14/x`.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    /// The twin.
    twin: Url,
    /// Beginnings of paths: of the page, and of the twin.
    prefixes: Vec<(String, String)>,
    /// Parameters (`name=value`) of the page, with the parameters that the twin has in their place, if any.
    parameters: Vec<(String, Option<String>)>,
    /// Parameters that only the twin has.
    added: Vec<String>,
}

impl Mapping {
    /// Makes the mapping from links of `page` to links of `twin`. The constant parameters of the links of both are
    /// given.
    pub(super) fn new(page: &Url, twin: &Url, constants: &[String], constants_of_twin: &[String]) -> Self {
        let mut prefixes = Vec::new();
        let folders = (folder(page.path()), folder(twin.path()));
        let first = first_difference(&folders.0, &folders.1);
        for swap in [by_common_end(page.path(), twin.path()), folders, first] {
            if swap.0 != swap.1 && !prefixes.contains(&swap) {
                prefixes.push(swap);
            }
        }
        let own = || pairs(page).chain(constants.iter().map(String::as_str));
        let others = || pairs(twin).chain(constants_of_twin.iter().map(String::as_str));
        let mut parameters: Vec<(String, Option<String>)> = Vec::new();
        for pair in own().filter(|pair| others().all(|other| other != *pair)) {
            let other = others().find(|other| name(other) == name(pair));
            if parameters.iter().all(|(known, _)| known != pair) {
                parameters.push((pair.to_owned(), other.map(str::to_owned)));
            }
        }
        let mut added: Vec<String> = Vec::new();
        for pair in others().filter(|pair| own().all(|own| name(own) != name(pair))) {
            if added.iter().all(|known| name(known) != name(pair)) {
                added.push(pair.to_owned());
            }
        }
        Self { twin: twin.clone(), prefixes, parameters, added }
    }

    /// The URLs that the twin may have in place of a link. Those with the fewest changes come first. Hosts and folders
    /// are swapped only in links to the page's own host.
    pub(super) fn variants<'a>(&'a self, link: &'a Url, to_own_host: bool) -> impl Iterator<Item = Url> + 'a {
        let queries = self.queries(link.query());
        let (base, paths) =
            if to_own_host { (&self.twin, self.paths(link.path())) } else { (link, vec![link.path().to_owned()]) };
        queries.into_iter().flat_map(move |query| {
            let paths = paths.clone();
            paths.into_iter().map(move |path| with(base, &path, query.as_deref()))
        })
    }

    /// The URL that the twin most probably has in place of a link to the page's own host, if the links of the twin are
    /// not known. Everything in which the two pages differ is swapped.
    pub(super) fn likeliest(&self, link: &Url) -> Url {
        let paths = self.paths(link.path());
        let path = paths.get(1).unwrap_or(&paths[0]);
        let query = self.swapped(link.query());
        with(&self.twin, path, query.as_deref())
    }

    fn paths(&self, path: &str) -> Vec<String> {
        let mut paths = vec![path.to_owned()];
        for (from, to) in &self.prefixes {
            let rest = path.strip_prefix(from.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let swapped = rest.map(|rest| format!("{to}{rest}")).filter(|swapped| !paths.contains(swapped));
            paths.extend(swapped);
        }
        paths
    }

    fn queries(&self, query: Option<&str>) -> Vec<Option<String>> {
        let mut queries = vec![query.map(str::to_owned)];
        let swapped = self.swapped(query);
        let mut all = swapped.clone().unwrap_or_default();
        for pair in &self.added {
            if all.split('&').all(|own| name(own) != name(pair)) {
                all = if all.is_empty() { pair.clone() } else { format!("{all}&{pair}") };
            }
        }
        for other in [swapped, (!all.is_empty()).then_some(all)] {
            if !queries.contains(&other) {
                queries.push(other);
            }
        }
        queries
    }

    /// A query in which the parameters of the page are replaced by those of the twin.
    fn swapped(&self, query: Option<&str>) -> Option<String> {
        let query = query?;
        let twins = |pair| match self.parameters.iter().find(|(own, _)| own == pair) {
            Some((_, twins)) => twins.as_deref(),
            None => Some(pair),
        };
        let kept: Vec<&str> = query.split('&').filter_map(twins).collect();
        (!kept.is_empty()).then(|| kept.join("&"))
    }
}

/// A URL with another path and query.
fn with(base: &Url, path: &str, query: Option<&str>) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(query);
    url.set_fragment(None);
    url
}

/// The parameters of a URL.
fn pairs(url: &Url) -> impl Iterator<Item = &str> {
    url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty())
}

fn name(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

/// Two paths without the segments that both end with.
fn by_common_end(a: &str, b: &str) -> (String, String) {
    let (segments_of_a, segments_of_b): (Vec<&str>, Vec<&str>) = (a.split('/').collect(), b.split('/').collect());
    let common = segments_of_a.iter().rev().zip(segments_of_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let without_end = |segments: &[&str]| segments[..segments.len() - common].join("/");
    (without_end(&segments_of_a), without_end(&segments_of_b))
}

/// The path of a page's folder, without the slash at its end.
fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// Two folders up to the first segment in which they differ.
fn first_difference(a: &str, b: &str) -> (String, String) {
    let common = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count();
    let beginning = |folder: &str| folder.split('/').take(common + 1).collect::<Vec<_>>().join("/");
    (beginning(a), beginning(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse("http://a.test/").unwrap().join(text).unwrap()
    }

    fn variants(page: &str, twin: &str, constants: [&[&str]; 2], link: &str) -> Vec<String> {
        let [own, others] = constants.map(|pairs| pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>());
        let mapping = Mapping::new(&url(page), &url(twin), &own, &others);
        mapping.variants(&url(link), true).map(String::from).collect()
    }

    #[test]
    fn hosts_and_folders_are_swapped() {
        for (page, twin, link, expected) in [
            ("/x/a", "http://b.test:8080/x/a", "/y?z=1#f", &["http://b.test:8080/y?z=1"][..]),
            ("/docs/14/sql.html", "/docs/15/sql.html", "/docs/14/x", &["/docs/14/x", "/docs/15/x"]),
            ("/docs/14/a/sql.html", "/docs/15/a/sql.html", "/docs/14/b/", &["/docs/14/b/", "/docs/15/b/"]),
            ("/docs/14/sql.html", "/docs/15/sql.html", "/docs/145", &["/docs/145"]),
            ("/", "/copy/", "/x", &["/x", "/copy/x"]),
            ("/copy/index.html", "/index.html", "/copy/x", &["/copy/x", "/x"]),
            ("/copy/index.html", "/index.html", "/copy", &["/copy", "/"]),
            ("/b/2", "/c/1", "/b/9", &["/b/9", "/c/9"]),
            ("/b/2", "/c/1", "/b/2/9", &["/b/2/9", "/c/1/9", "/c/2/9"]),
            ("/3.13/builtins/x", "/3.11/lib/x", "/3.13/lib/y", &["/3.13/lib/y", "/3.11/lib/y"]),
            ("/2024/05/", "/2024/06/", "/2024/05/17", &["/2024/05/17", "/2024/06/17"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|text| url(text).into()).collect();
            assert_eq!(variants(page, twin, [&[], &[]], link), expected, "{page} {twin} {link}");
        }
    }

    #[test]
    fn parameters_are_swapped_dropped_and_added() {
        for (page, twin, constants, link, expected) in [
            ("/a?l=de", "/a?l=en", [&[][..], &[][..]], "/x?l=de&n=1", &["/x?l=de&n=1", "/x?l=en&n=1"][..]),
            ("/a?l=de", "/a?l=en", [&[], &[]], "/x?l=fr", &["/x?l=fr"]),
            ("/a?p=1", "/a", [&[], &[]], "/x?p=1", &["/x?p=1", "/x"]),
            ("/a", "/a?p=1", [&[], &[]], "/x?n=1", &["/x?n=1", "/x?n=1&p=1"]),
            ("/a", "/a?p=1", [&[], &[]], "/x", &["/x", "/x?p=1"]),
            ("/a", "/a?p=1", [&[], &[]], "/x?p=2", &["/x?p=2"]),
            ("/a", "/a", [&["s=1"], &["s=2"]], "/x?s=1", &["/x?s=1", "/x?s=2"]),
            ("/a", "/a", [&["s=1"], &[]], "/x?s=1&n=1", &["/x?s=1&n=1", "/x?n=1"]),
            ("/a", "/a", [&[], &["s=2"]], "/x?n=1", &["/x?n=1", "/x?n=1&s=2"]),
            ("/a", "/a", [&["s=1"], &["s=1"]], "/x?s=1", &["/x?s=1"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|text| url(text).into()).collect();
            assert_eq!(variants(page, twin, constants, link), expected, "{page} {twin} {link}");
        }
    }

    #[test]
    fn links_to_other_hosts_keep_host_and_path() {
        let constants = [["s=1".to_owned()], ["s=2".to_owned()]];
        let mapping = Mapping::new(&url("/a/x"), &url("http://b.test/c/x"), &constants[0], &constants[1]);
        let link = url("http://c.test/a/y?s=1");
        let variants: Vec<String> = mapping.variants(&link, false).map(String::from).collect();
        assert_eq!(variants, ["http://c.test/a/y?s=1", "http://c.test/a/y?s=2"]);
    }

    #[test]
    fn where_nothing_is_known_all_that_differs_is_swapped() {
        let mapping = Mapping::new(&url("/a/x?s=1"), &url("http://b.test/c/x?s=2"), &[], &[]);
        let likeliest = |link: &str| String::from(mapping.likeliest(&url(link)));
        assert_eq!(likeliest("/a/y?s=1"), "http://b.test/c/y?s=2");
        assert_eq!(likeliest("/z"), "http://b.test/z");
    }
}
