//! The end of a crawl, in one or two sentences: whether it is complete, and if not, why.

use super::attempt;
use crate::clock::rfc3339;
use crate::engine::{LongDelays, Stats, unread};
use crate::estimate::Lost;
use crate::units;

/// The end of a crawl, in one or two sentences. `reason` is the word of `report --json`.
pub fn ending(stats: &Stats, reason: &str, lost: Option<Lost>) -> String {
    let mut text = end_of_run(stats, reason, lost);
    if let Some(trouble) = stats.local_trouble.as_ref().filter(|_| reason != "running") {
        text += &format!(" Trouble on this machine kept it from fetching: {trouble}.");
    }
    match &stats.round {
        // The run ended by itself, and was not the one that made the round.
        Some(round) if reason == "done" && !round.done && !round.continuous => {
            format!("{text} Round {} of visits was interrupted: `crawler refresh` goes on with it.", round.number)
        }
        _ => text,
    }
}

fn end_of_run(stats: &Stats, reason: &str, lost: Option<Lost>) -> String {
    let stats = &stats.standing();
    match reason {
        "waiting" if !stats.any_page() => {
            format!(
                "Not one page could be fetched. Nothing becomes due within --patience; the same command tries again.{}",
                too_long(stats)
            )
        }
        "done" if !stats.any_page() => "Not one page could be fetched.".into(),
        "done" if stats.frontier > 0 && stats.round.as_ref().is_some_and(|round| round.amid_crawl) => {
            let are = are(stats.frontier);
            format!("All visits of the round are made. {are} left from the crawl before it: `crawler crawl` goes on with them.")
        }
        "done" if stats.walls_with_account + stats.refused_with_account > 0 => walled(stats, lost),
        "done" if stats.complete && !stats.beyond.is_empty() => limited(stats),
        "done" if stats.complete => match lost.map_or(0.0, |lost| lost.high.round()) {
            0.0 if stats.open_ends == 0 => "It is complete: nothing in scope is left to fetch.".into(),
            high => {
                let all = stats.held + stats.stopped;
                let (held, high) = (are(all), units::count(high as u64));
                let copies = if all == 1 { "a copy of a fetched page" } else { "copies of fetched pages" };
                format!(
                    "All that was queued is fetched. {held} held back as {copies}: among them, and behind them as far as a \
                     sample shows, are at most {high} new pages (95 %).{}",
                    open_ends(stats)
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
        "page_limit" => "It stopped at --max-pages. To go on, run it with a higher --max-pages.".into(),
        "time_limit" => "It stopped at --time-limit. To go on, run the same command again.".into(),
        "stopped" => "It was stopped. To go on, run the same command again.".into(),
        "running" => "It is still running: these are the numbers so far.".into(),
        _ => "It was interrupted. To go on, run the same command again.".into(),
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
            let all = stats.held + stats.stopped;
            let behind = if lost.high.round() > all as f64 { " and of what lies behind them," } else { "" };
            let (all, lost) = (units::count(all), lost.short());
            text.push_str(&format!(
                " Of all URLs that are held or stopped ({all}),{behind} an estimated {lost} are unique pages, which are lost."
            ));
        }
    } else if let Some(lost) = lost.filter(Lost::any) {
        let lost = lost.short();
        text.push_str(&format!(
            " A sample of what is held back had new pages: an estimated {lost} unique pages are lost."
        ));
    }
    text.push_str(&open_ends(stats));
    text
}

/// The open ends of a crawl, as a sentence.
fn open_ends(stats: &Stats) -> String {
    let (ends, were) = (units::count(stats.open_ends), if stats.open_ends == 1 { "was" } else { "were" });
    let text = format!(
        " {ends} of the held URLs {were} met only on pages that were fetched as trials, and not tried: what lies behind is \
         unknown."
    );
    if stats.open_ends == 0 { String::new() } else { text }
}

fn are(count: u64) -> String {
    format!("{} {}", units::counted(count, "URL"), if count == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::super::troubles;
    use super::*;
    use crate::engine::Round;

    #[test]
    fn the_ends_of_chains_that_were_given_up_are_told() {
        let stats = Stats { pages: 34, statuses: [(200, 34)].into(), held: 1, uncovered: 1, ..Stats::default() };
        assert!(!ending(&stats, "done", None).contains("trials"));
        for (open_ends, said) in
            [(1, "1 of the held URLs was met only on pages"), (3, "3 of the held URLs were met only on pages")]
        {
            let text = ending(&Stats { open_ends, ..stats.clone() }, "done", Some(Lost::default()));
            assert!(text.contains(said), "{text}");
            // An open end may have a counterpart that was fetched.
            let stats = Stats { open_ends, complete: true, uncovered: 0, ..stats.clone() };
            let text = ending(&stats, "done", Some(Lost::default()));
            assert!(text.contains(said) && text.contains("as a copy of a fetched page"), "{text}");
        }
    }

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
    fn a_round_that_leaves_urls_or_was_interrupted_says_so() {
        let mut stats = Stats { pages: 3, statuses: [(200, 3)].into(), complete: true, ..Stats::default() };
        stats.round = Some(Round { number: 2, ..Round::default() });
        let text = ending(&stats, "done", None);
        assert!(text.ends_with("Round 2 of visits was interrupted: `crawler refresh` goes on with it."), "{text}");
        (stats.complete, stats.frontier) = (false, 61);
        stats.round = Some(Round { number: 2, done: true, amid_crawl: true, ..Round::default() });
        let text = ending(&stats, "done", None);
        assert!(!text.contains("interrupted") && !text.contains("All that was queued"), "{text}");
        assert!(text.contains("61 URLs are left from the crawl before it: `crawler crawl`"), "{text}");
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
}
