//! The section about troubles. It is directly below the headline, so that no reader can miss it.

use super::super::html::{Web, put};
use crate::engine::WorstHost;
use crate::outcome::Trouble;
use crate::units;

/// At most this many kinds of trouble are shown, and as many hosts.
const MOST: usize = 8;

/// Writes a list of the troubles, the most frequent first, and of the hosts that had most of them. Writes nothing if
/// there are none.
pub fn troubles(out: &mut String, troubles: &[Trouble], worst_hosts: &[WorstHost]) {
    if troubles.is_empty() {
        return;
    }
    out.push_str("<section class=\"troubles\" aria-label=\"What went wrong\"><h2>What went wrong</h2>\n<ul>\n");
    for trouble in troubles.iter().take(MOST) {
        put!(out, "<li><strong>{}</strong> {}</li>\n", units::count(trouble.count), Web(&trouble.meaning));
    }
    for worst in worst_hosts.iter().take(MOST) {
        put!(
            out,
            "<li>{} of them at <code>{}</code>, {}</li>\n",
            units::count(worst.troubles),
            Web(&worst.host),
            Web(&worst.kinds())
        );
    }
    out.push_str("</ul></section>\n");
}
