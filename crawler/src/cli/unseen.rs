//! Messages about URLs that the crawl has not met.

use url::Url;

use crate::report::html::put;
use crate::units;

/// Tells that a URL was not met. `hosts_left` is the number of links that were left out because their registrable
/// domains have too many hosts: nothing is recorded of them.
pub(super) fn tell(out: &mut String, url: &Url, hosts_left: u64) {
    if !matches!(url.scheme(), "http" | "https") {
        out.push_str("  not looked for: of the links of pages, only those to http and https URLs are read\n");
        return;
    }
    if hosts_left == 0 {
        out.push_str("  never seen: no page fetched so far links to it, and it is no seed\n");
        return;
    }
    let links = units::counted(hosts_left, "link");
    put!(
        out,
        "  not recorded: it is no seed, and either no page fetched so far links to it, or the link was left out ({links} \
         to further hosts of registrable domains with very many hosts were left out)\n"
    );
}
