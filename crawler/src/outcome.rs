//! The outcome of a crawl in words. Terminal, report, live page and scripts all take it from here, so they agree.

use std::collections::BTreeMap;

use frontier::Failure;

use crate::clock::rfc3339;
use crate::engine::{Attempt, LongDelays, Stats, Unread, WorstHost, unread};
use crate::estimate::Lost;
use crate::report::units;
use crate::stub::Label;

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
                format!("not asked for: robots.txt cannot be had (the server answers it with {status})")
            }
            None if kind == "robots" => "not asked for: robots.txt says no".into(),
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
        "sitemaps not asked for: named by more than 8 sitemaps in a row, or one of more than 50,000 of their host"
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

/// The end of a crawl, in one or two sentences. `reason` is the word of `report --json`.
pub fn ending(stats: &Stats, reason: &str, lost: Option<Lost>) -> String {
    let stats = &stats.standing();
    match reason {
        "waiting" if !stats.any_page() => {
            format!(
                "Not one page could be fetched. Nothing becomes due within --patience; the same command tries again.{}",
                too_long(stats)
            )
        }
        "done" if !stats.any_page() => "Not one page could be fetched.".into(),
        "done" if stats.walls_with_account + stats.refused_with_account > 0 => walled(stats, lost),
        "done" if stats.complete && !stats.beyond.is_empty() => limited(stats),
        "done" if stats.complete => match lost.map_or(0.0, |lost| lost.high.round()) {
            0.0 => "It is complete: nothing in scope is left to fetch.".into(),
            high => {
                let (held, high) = (are(stats.held + stats.stopped), units::count(high as u64));
                format!(
                    "All that was queued is fetched. {held} held back as copies of fetched pages: at most {high} show \
                     something new (95 %); what only they lead to is counted as far as a sample tells."
                )
            }
        },
        "done" => done(stats, lost),
        "waiting" => waiting(stats),
        "page_limit" | "time_limit" if stats.round.as_ref().is_some_and(|round| round.spent) => {
            "The budget of this round of visits is spent. The next `crawler refresh` begins a new round: it visits those pages \
             first whose visit is worth most then."
                .into()
        }
        "page_limit" => "It stopped at --max-pages; with a higher one it goes on.".into(),
        "time_limit" => "It stopped at --time-limit; the same command goes on.".into(),
        "stopped" => "It was stopped, and can be taken up again.".into(),
        "running" => "It is still running; this is how it stands.".into(),
        _ => "It was interrupted, and can be taken up again.".into(),
    }
}

/// The end of a crawl that was shown walls, or refused, although it had an account.
fn walled(stats: &Stats, lost: Option<Lost>) -> String {
    let told = |count: u64, one: &str, more: &str, why: &str| {
        let verb = if count == 1 { one } else { more };
        let text = format!("{} {verb} although the crawl has an account: {why}.", units::counted(count, "page"));
        (count > 0).then_some(text)
    };
    let walls = told(
        stats.walls_with_account,
        "shows a wall",
        "show a wall",
        "the session was lost, or the account may not read them",
    );
    let refused = told(
        stats.refused_with_account,
        "answers with status 401",
        "answer with status 401",
        "the password is wrong, or the account may not read them",
    );
    let first: Vec<String> = walls.into_iter().chain(refused).collect();
    let first = first.join(" ");
    let rest = match (stats.complete, stats.beyond.is_empty()) {
        (true, false) => limited(stats),
        (true, true) => "All that was queued is fetched.".into(),
        (false, _) => done(stats, lost),
    };
    format!("{first} {rest}")
}

/// The end of a crawl that fetched everything within its limits.
fn limited(stats: &Stats) -> String {
    let beyond = stats.beyond.iter().map(|(flag, count)| format!("{} beyond --{flag}", are(*count)));
    let beyond = beyond.collect::<Vec<_>>().join(", ");
    format!("All that its limits allow is fetched: {beyond}.")
}

/// The end of a crawl that would have had to wait for too long.
fn waiting(stats: &Stats) -> String {
    let due = stats.next_due.map(|due| format!(" The first of it is due at {}.", rfc3339(due))).unwrap_or_default();
    let mut text = format!(
        "It ended because nothing that is queued becomes due within --patience; it stays queued.{due}{}",
        too_long(stats)
    );
    let retrying = stats.retrying.values().sum::<u64>();
    if retrying > 0 {
        let (is, most) = (are(retrying), stats.retrying.iter().max_by_key(|(_, count)| **count));
        let why = most.map(|(kind, _)| attempt(kind)).unwrap_or_default();
        // `crawler refresh` would begin a new round instead.
        let next = if stats.round.as_ref().is_some_and(|round| !round.continuous) {
            "`crawler crawl` goes on with them, and `crawler refresh` begins a new round of visits"
        } else {
            "the same command goes on"
        };
        text.push_str(&format!(" {is} to be tried again, mostly after {why}: {next}."));
    }
    text
}

/// The hosts whose Crawl-delay is longer than `--patience`, as a sentence.
fn too_long(stats: &Stats) -> String {
    let Some(LongDelays { host, delay_ms, hosts }) = &stats.long_delays else { return String::new() };
    let others = match hosts.saturating_sub(1) {
        0 => "asks".to_owned(),
        others => format!("and {} ask", units::counted(others, "other host")),
    };
    let delay = units::duration(*delay_ms);
    format!(" {host} {others} for a Crawl-delay in robots.txt ({delay}): give a --patience that is longer.")
}

/// The end of a crawl that fetched everything it had queued, but is not complete.
fn done(stats: &Stats, lost: Option<Lost>) -> String {
    let mut text = "All that was queued is fetched.".to_owned();
    if stats.failed > 0 {
        text.push_str(&format!(" {} given up without an answer.", are(stats.failed)));
    }
    let errors = stats.statuses.range(500..).map(|(_, count)| *count).sum::<u64>();
    if errors > 0 {
        let was = if errors == 1 { "was a server error" } else { "were server errors" };
        text.push_str(&format!(" {} {was}.", units::counted(errors, "answer")));
    }
    let cut = stats.cut.values().sum::<u64>();
    if cut > 0 {
        let bodies =
            if cut == 1 { "body of 1 page was".into() } else { format!("bodies of {} pages were", units::count(cut)) };
        text.push_str(&format!(" The {bodies} cut."));
    }
    let left: Vec<String> =
        unread(stats).map(|left| format!("{} ({})", units::counted(left.count, left.what), left.why)).collect();
    if !left.is_empty() {
        text.push_str(&format!(" Left unread: {}.", left.join("; ")));
    }
    if stats.uncovered > 0 {
        let copies = if stats.uncovered == 1 { "it is a copy" } else { "they are copies" };
        text.push_str(&format!(" {} held back without proof that {copies}.", are(stats.uncovered)));
        if let Some(lost) = lost {
            // The estimate is not only about these URLs.
            let (all, lost) = (units::count(stats.held + stats.stopped), lost.short());
            text.push_str(&format!(
                " Of all URLs that are held or stopped ({all}), an estimated {lost} are unique pages, which are lost."
            ));
        }
    } else if let Some(lost) = lost.filter(Lost::any) {
        let lost = lost.short();
        text.push_str(&format!(
            " A sample of what is held back had new pages: an estimated {lost} unique pages are lost."
        ));
    }
    text
}

fn are(count: u64) -> String {
    format!("{} {}", units::counted(count, "URL"), if count == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Round;

    #[test]
    fn the_word_complete_is_only_said_where_it_is_true() {
        let mut stats = Stats { pages: 3, statuses: [(200, 3)].into(), complete: true, ..Stats::default() };
        assert!(ending(&stats, "done", None).contains("complete: nothing"));
        let lost = Some(Lost { estimate: 0.2, low: 0.0, high: 0.3 });
        assert!(ending(&stats, "done", lost).contains("complete: nothing"));
        (stats.held, stats.stopped) = (30, 8);
        let text = ending(&stats, "done", Some(Lost { high: 4.0, ..Lost::default() }));
        assert!(
            text.contains("38 URLs are held back") && text.contains("at most 4") && !text.contains("complete"),
            "{text}"
        );
        stats.beyond = [("max-depth".to_owned(), 7), ("max-pages-per-host".to_owned(), 1)].into();
        let text = ending(&stats, "done", None);
        let beyond = "7 URLs are beyond --max-depth, 1 URL is beyond --max-pages-per-host";
        assert!(!text.contains("complete") && text.contains(beyond), "{text}");
        stats.walls_with_account = 12;
        let text = ending(&stats, "done", None);
        let wall = "12 pages show a wall although the crawl has an account";
        assert!(text.starts_with(wall) && !text.contains("complete") && text.contains(beyond), "{text}");
        stats.walls_with_account = 0;
        stats.refused_with_account = 1;
        let text = ending(&stats, "done", None);
        assert!(text.starts_with("1 page answers with status 401 although the crawl has an account: "), "{text}");
        stats.refused_with_account = 0;
        stats.complete = false;
        stats.cut = [("too_large".to_owned(), 1)].into();
        assert!(ending(&stats, "done", None).contains("The body of 1 page was cut"), "{stats:?}");
        (stats.unread, stats.links_cut) = ([("budget".to_owned(), 3), ("max_repeats".to_owned(), 1)].into(), 40);
        let text = ending(&stats, "done", None);
        for part in ["3 URLs (their host or folder brought", "1 URL (one part", "--max-repeats", "40 links (their page"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let kinds: Vec<_> = troubles(&stats).into_iter().map(|trouble| trouble.kind).collect();
        assert_eq!(kinds, ["links_cut", "unread_budget", "cut_too_large", "unread_max_repeats"]);
        stats.uncovered = 2;
        let lost = Lost { estimate: 1.0, low: 0.0, high: 2.0 };
        let text = ending(&stats, "done", Some(lost));
        assert!(
            !text.contains("complete") && text.contains("2 URLs are held back") && text.contains("1 (0 to 2)"),
            "{text}"
        );
        assert!(text.contains("held or stopped (38), an estimated 1 (0 to 2) are unique pages"), "{text}");
        stats.uncovered = 1;
        assert!(ending(&stats, "done", None).contains("1 URL is held back without proof that it is a copy."));
        stats.statuses.insert(500, 5);
        assert!(ending(&stats, "done", None).contains(" 5 answers were server errors."), "one URL may answer often");
        stats.uncovered = 0;
        let text = ending(&stats, "done", Some(Lost { estimate: 9.0, low: 4.0, high: 12.0 }));
        assert!(!text.contains("complete") && text.contains("9 (4 to 12) unique pages are lost"), "{text}");
        stats.statuses = [(404, 3)].into();
        assert_eq!(ending(&stats, "done", None), "Not one page could be fetched.");
        let text = ending(&stats, "waiting", None);
        assert!(text.starts_with("Not one page could be fetched. ") && text.contains("--patience"), "{text}");
    }

    #[test]
    fn a_round_that_has_spent_its_budget_names_no_flag_that_was_not_given() {
        let mut stats = Stats { pages: 3, statuses: [(200, 3)].into(), ..Stats::default() };
        stats.round = Some(Round { number: 2, done: true, ..Round::default() });
        assert!(ending(&stats, "time_limit", None).contains("--time-limit"), "a later crawl has a limit of its own");
        stats.round = Some(Round { number: 2, done: true, spent: true, ..Round::default() });
        for reason in ["page_limit", "time_limit"] {
            let text = ending(&stats, reason, None);
            assert!(text.contains("budget") && text.contains("crawler refresh") && !text.contains("--"), "{text}");
        }
    }

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
