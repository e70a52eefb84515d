//! The outcome of a crawl in words. Terminal, report, live page and scripts all take it from here, so they agree.

mod ending;

use std::collections::BTreeMap;

use frontier::Failure;

use crate::engine::{Attempt, Stats, Unread, WorstHost, unread};
use crate::stub::Label;
use crate::units;

pub use ending::ending;

/// Something that went wrong, or kept URLs from being fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A word for scripts, such as `404`, `timeout`, `robots_503`.
    pub kind: String,
    /// The number of URLs that had it.
    pub count: u64,
    /// The meaning, in words for users.
    pub meaning: String,
}

/// The troubles at the last visit to each URL, the most frequent first.
pub fn troubles(stats: &Stats) -> Vec<Trouble> {
    let stats = &stats.standing();
    let mut found = Vec::new();
    let mut add = |kind: &str, count: u64, meaning: String| {
        if count > 0 {
            found.push(Trouble { kind: kind.into(), count, meaning });
        }
    };
    for (status, count) in stats.statuses.range(400..) {
        add(&status.to_string(), *count, format!("answers with status {status}"));
    }
    for (kind, count) in &stats.failures {
        add(kind, *count, format!("given up without an answer: {}", cause(kind, &stats.tls)));
    }
    for (kind, count) in &stats.retrying {
        add(
            &format!("retry_{kind}"),
            *count,
            format!("still queued, to be tried again: the last attempt brought {}", attempt(kind)),
        );
    }
    for (kind, count) in &stats.withheld {
        let meaning = match kind.strip_prefix("robots_") {
            Some(status) => {
                format!("not asked for: robots.txt cannot be read (the server answers it with {status})")
            }
            None if kind == "robots" => "not asked for: robots.txt forbids it".into(),
            None => format!(
                "not asked for: the host cannot be reached, so its robots.txt cannot be read ({})",
                cause(kind, &stats.withheld_tls)
            ),
        };
        add(&format!("withheld_{kind}"), *count, meaning);
    }
    for label in Label::ALL {
        let count = stats.labels.get(label.name()).copied().unwrap_or(0);
        let what = match label {
            Label::Wall => "that ask to log in, to subscribe or to solve a captcha, the same under many URLs",
            Label::Soft404 => "that say with status 200 that nothing is there, the same under many URLs",
        };
        add(label.name(), count, format!("pages ({} of all) {what}", units::share(count, stats.pages)));
    }
    add("redirected_out", stats.redirects_out, "redirects that lead out of --scope".into());
    add(
        "redirect_loop",
        stats.redirects_endless,
        "redirects that lead in a circle, or on for more than 10 hops".into(),
    );
    add(
        "redirect_nowhere",
        stats.redirects_nowhere,
        "answers with the status of a redirect, without a URL to go to".into(),
    );
    for (kind, count) in &stats.cut {
        add(&format!("cut_{kind}"), *count, format!("bodies cut, and so not compared: {}", kind.replace('_', " ")));
    }
    add(
        "links_cut",
        stats.links_cut,
        "links not read, because their page has more than 10,000, or 1 MiB of them".into(),
    );
    add(
        "hosts_left",
        stats.hosts_left,
        "links not followed to further hosts of a registrable domain that names hosts without end".into(),
    );
    add(
        "doubtful_sessions",
        stats.doubtful_sessions,
        "links not followed, because they differ from others only in what looks like a session id".into(),
    );
    add(
        "notices",
        stats.notices,
        "pages that show only a notice that asks for consent, although consent was given".into(),
    );
    for unread in unread(stats).filter(Unread::are_urls) {
        add(&format!("unread_{}", unread.kind), unread.count, format!("not asked for: {}", unread.why));
    }
    add(
        "documents_unread",
        stats.documents_unread,
        "documents whose text was not read: files of office programs, and PDFs that are damaged or need a password"
            .into(),
    );
    add(
        "text_cut",
        stats.text_cut,
        "bytes of text whose words do not count, because their page has more than 4 MiB".into(),
    );
    add(
        "sitemaps_cut",
        stats.sitemaps_cut,
        "sitemaps read in part, because they have more than 50,000 entries, 50 MiB, or 8 MiB of URLs".into(),
    );
    add(
        "sitemaps_failed",
        stats.sitemaps_failed,
        "sitemaps given up: no answer, an error of the server, or an HTML page".into(),
    );
    add(
        "sitemaps_left",
        stats.sitemaps_left,
        "sitemaps not asked for: 8 or more sitemaps in a row lead to them, their host has more than 50,000, or the \
         host that names them has named more than 50,000, or 1,000 on other hosts in its robots.txt"
            .into(),
    );
    add(
        "sitemaps_elsewhere",
        stats.sitemaps_elsewhere,
        "sitemaps not asked for: a sitemap of another site names them, and the robots.txt of their own host does not"
            .into(),
    );
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.kind.cmp(&b.kind)));
    found
}

/// The troubles for users, with the hosts that had most of them. URLs that robots.txt forbids are left out, because
/// the crawl reports them as refused. (If there is no page at all, they stay, because they may be the reason.)
pub fn faults(stats: &Stats) -> (Vec<Trouble>, Vec<WorstHost>) {
    let (mut troubles, worst) = (troubles(stats), stats.worst_hosts());
    if !stats.any_page() {
        return (troubles, worst.cloned().collect());
    }
    troubles.retain(|trouble| trouble.kind != "withheld_robots");
    // The troubles on the worst hosts are over, too.
    let worst = worst.filter(|_| !troubles.is_empty()).filter_map(WorstHost::without_forbidden).collect();
    (troubles, worst)
}

/// The result of an attempt, in words. `kind` is a status, the word for a failure, `empty`, or `cut_…`.
pub fn attempt(kind: &str) -> String {
    if let Some(cut) = kind.strip_prefix("cut_") {
        return format!("a body that was cut: {}", cut.replace('_', " "));
    }
    if kind == Attempt::EMPTY {
        return "an empty body".into();
    }
    if kind.parse::<u16>().is_ok() { format!("status {kind}") } else { format!("no answer: {}", failure(kind)) }
}

/// The cause of a failure, in words. For a failure of TLS, it is the most frequent of its `causes`.
fn cause(kind: &str, causes: &BTreeMap<String, u64>) -> String {
    let most = causes.iter().max_by_key(|(_, count)| **count).filter(|_| kind == Failure::Tls.name());
    most.map_or_else(|| failure(kind), |(cause, _)| cause.clone())
}

fn failure(kind: &str) -> String {
    let known = Failure::ALL.into_iter().find(|failure| failure.name() == kind);
    known.map_or_else(|| kind.to_owned(), |failure| failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Round;

    #[test]
    fn what_went_wrong_is_told_by_kind_the_most_frequent_first() {
        let stats = Stats {
            statuses: [(200, 9), (404, 2), (503, 7)].into(),
            failures: [("timeout".to_owned(), 3)].into(),
            retrying: [("503".to_owned(), 8), ("reset".to_owned(), 6)].into(),
            withheld: [("refused".to_owned(), 5), ("robots".to_owned(), 1)].into(),
            redirects_out: 4,
            ..Stats::default()
        };
        let troubles = troubles(&stats);
        let kinds: Vec<_> = troubles.iter().map(|trouble| (&*trouble.kind, trouble.count)).collect();
        let expected = [
            ("retry_503", 8),
            ("503", 7),
            ("retry_reset", 6),
            ("withheld_refused", 5),
            ("redirected_out", 4),
            ("timeout", 3),
            ("404", 2),
            ("withheld_robots", 1),
        ];
        assert_eq!(kinds, expected);
        let meaning = |kind: &str| &troubles.iter().find(|trouble| trouble.kind == kind).unwrap().meaning;
        assert!(meaning("withheld_refused").contains("the connection was refused"), "{troubles:?}");
        assert!(meaning("retry_503").contains("status 503"), "{troubles:?}");
        assert!(meaning("retry_reset").contains("the connection ended early"), "{troubles:?}");
        let text = ending(&stats, "waiting", None);
        assert!(text.contains("14 URLs are to be tried again, mostly after status 503: the same command"), "{text}");
        assert!(text.contains("nothing that is queued becomes due within --patience"), "it did not wait: {text}");
        let text = ending(&Stats { round: Some(Round::default()), ..stats.clone() }, "waiting", None);
        assert!(text.contains("`crawler crawl` goes on") && !text.contains("the same command"), "{text}");
        let kinds: Vec<_> = faults(&stats).0.into_iter().map(|trouble| trouble.kind).collect();
        assert!(kinds.contains(&"withheld_refused".into()) && !kinds.contains(&"withheld_robots".into()), "{kinds:?}");
        let alone = Stats { withheld: [("robots".to_owned(), 1)].into(), ..Stats::default() };
        assert_eq!(faults(&alone).0.len(), 1, "it is why there is no page");
    }
}
