//! Adds queries to the links of a page. Links are found by searching for `href="`.

/// Returns the page with a query added to each link for which `query` returns one. `query` gets the link without its
/// fragment.
pub fn with_queries(html: &str, query: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len() * 9 / 8);
    let mut rest = html;
    while let Some(at) = rest.find("href=\"") {
        let (before, after) = rest.split_at(at + 6);
        out.push_str(before);
        let (link, tail) = after.split_at(after.find('"').unwrap_or(after.len()));
        let (file, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
        out.push_str(file);
        if let Some(query) = query(file) {
            out.push('?');
            out.push_str(&query);
        }
        out.push_str(fragment);
        rest = tail;
    }
    out.push_str(rest);
    out
}
