//! The summary of a crawl for people: what it found, what was saved, what was refused and why, and where to look next.

use std::fmt::Write;
use std::path::Path;

use frontier::rules::Totals;
use frontier::{HostNote, SkipReason};

use super::shown::Printable;
use crate::engine::{Round, Stats};
use crate::estimate::Lost;
use crate::outcome::{self, Trouble};
use crate::sink::{PagesJsonl, SkippedJsonl};
use crate::units;

/// The facts that the summary tells.
#[derive(Clone, Debug)]
pub struct SummaryFacts<'a> {
    /// The subject of the summary.
    pub about: SummaryOf<'a>,
    /// The counters.
    pub stats: &'a Stats,
    /// The reason why the crawl ended, as in `report --json`.
    pub stop_reason: &'a str,
    /// `drop`, `demote` or `keep`, if it is known.
    pub on_duplicate: Option<&'a str>,
    /// The estimated number of unique pages that were held back, if there is an estimate.
    pub lost: Option<Lost>,
    /// The number of rules that were learned, and of the URLs that they stopped.
    pub rules: Totals,
    /// Hosts that stand out. Those that lost the most slots come first.
    pub notes: &'a [HostNote],
    /// The report as a page, if it was written.
    pub page: Option<&'a Path>,
}

/// The subject of the summary. It decides where to look next.
#[derive(Clone, Copy, Debug)]
pub enum SummaryOf<'a> {
    /// A crawl directory.
    Dir(&'a Path),
    /// A crawl on many machines.
    #[cfg(feature = "cluster")]
    Cluster,
    /// The directory of a crawl by several workers on this machine.
    #[cfg(feature = "cluster")]
    Workers(&'a Path),
}

impl SummaryOf<'_> {
    /// Commands to run next, and what each shows. `page` is the report, if it was written. `rules` says whether any
    /// rules were learned.
    fn next(self, page: Option<&Path>, rules: bool) -> Vec<(String, &'static str)> {
        const WHY: &str = "why a URL was fetched, held back or never seen";
        let dir = match self {
            SummaryOf::Dir(dir) => dir.display(),
            #[cfg(feature = "cluster")]
            SummaryOf::Cluster => {
                return vec![
                    ("crawler cluster status".into(), "what each worker does"),
                    ("crawler cluster why URL".into(), WHY),
                    ("crawler cluster export".into(), "each page fetched, a JSON object a line"),
                ];
            }
            #[cfg(feature = "cluster")]
            SummaryOf::Workers(dir) => {
                let dir = dir.display();
                return vec![
                    (format!("{dir}/worker-*/{}", PagesJsonl::NAME), "each page fetched, a JSON object a line"),
                    (format!("crawler why {dir}/worker-1 URL"), WHY),
                    (
                        format!("crawler report {dir}/worker-1"),
                        "one worker's part as a page, with curves, clusters and hosts",
                    ),
                ];
            }
        };
        let mut next = vec![match page {
            None => (format!("crawler report {dir}"), "all of this as a page, with curves, clusters and hosts"),
            Some(page) => (page.display().to_string(), "all of this as a page: open it in a browser"),
        }];
        next.push((format!("crawler why {dir} URL"), WHY));
        if rules {
            next.push((format!("crawler rules {dir}"), "what was learned, and what speaks for it"));
        }
        next.push((format!("{dir}/{}", PagesJsonl::NAME), "each page fetched, a JSON object a line"));
        next.push((format!("{dir}/{}", SkippedJsonl::NAME), "each URL not fetched, and why"));
        next
    }
}

/// The summary, in about twenty lines.
pub fn text(facts: &SummaryFacts<'_>) -> String {
    let SummaryFacts { stats, .. } = facts;
    let mut out = String::new();
    let judged = stats.unique + stats.near + stats.exact;
    // While a crawl runs, another process has its state, and the outputs do not give all numbers.
    let whole = facts.stop_reason != "running";
    let time = match whole {
        true => {
            format!(" in {} ({} pages/s)", units::duration(stats.elapsed_ms), units::rate(stats.pages_per_second()))
        }
        false => String::new(),
    };
    let _ = writeln!(
        out,
        "{}{time}, {} decoded. {}\n",
        units::counted(stats.pages, "page"),
        units::bytes(stats.bytes),
        outcome::ending(stats, facts.stop_reason, facts.lost)
    );
    let mut row = |head: &str, n: u64, share: String, meaning: &str| {
        let _ = writeln!(out, "{head:8}{:>13}  {share:>6}  {meaning}", units::count(n));
    };
    let share = |n: u64| units::share(n, judged);
    row("got", stats.unique, share(stats.unique), "unique: say something new (share of compared)");
    row("", stats.near, share(stats.near), "near-duplicates: say what an earlier page said");
    row("", stats.exact, share(stats.exact), "exact duplicates: have an earlier page's bytes");
    if stats.unchanged > 0 {
        row("", stats.unchanged, String::new(), "unchanged: say what they said at the last visit");
    }
    row("", stats.unjudged, String::new(), "not compared: redirects, errors, no text");
    if stats.not_kept > 0 {
        let meaning = "of these not kept: not to be used for --purpose";
        row("", stats.not_kept, String::new(), meaning);
    }
    row("", stats.failed, String::new(), "failed: no answer");
    if let Some(round) = &stats.round {
        visits(&mut row, round);
    }
    if let Some(freshness) = &stats.freshness {
        let share = format!("{:.1} %", 100.0 * freshness.fresh);
        row("fresh", freshness.pages, share, "pages that answer; share still as seen (estimate)");
    }
    if let Some(harvest) = stats.harvest() {
        let rate = format!("{:.0} %", 100.0 * harvest);
        row("on topic", stats.scored, rate, "pages weighed: mean relevance (harvest rate)");
    }
    if stats.unscored > 0 {
        row("", stats.unscored, String::new(), "not scored: --score-with gave no answer");
    }
    let mode = facts.on_duplicate.map(|mode| format!(" ({mode})")).unwrap_or_default();
    let meaning = format!("held: only duplicates link to these{mode}");
    row("saved", stats.held, String::new(), &meaning);
    row("", stats.stopped, String::new(), "stopped by a rule or a spent budget, not fetched");
    if let Some(Lost { estimate, low, high }) = facts.lost {
        let meaning = format!(
            "unique pages among these, as estimated\n{:31}(95 %: {low:.0} to {high:.0}; pages behind them as sampled)",
            ""
        );
        row("lost", estimate.round() as u64, String::new(), &meaning);
    }
    if stats.open_ends > 0 && facts.lost.is_some() {
        let meaning = format!("held, and found only on trial pages:\n{:31}how many pages they lead to is unknown", "");
        row("", stats.open_ends, String::new(), &meaning);
    }
    let mut head = "refused";
    for reason in SkipReason::ALL {
        if let Some(count) = stats.refused.get(reason.name()) {
            let meaning = format!("{}: {}", reason.name(), refused_by(stats, reason, *count));
            row(std::mem::take(&mut head), *count, String::new(), &meaning);
        }
    }
    let Totals { proven, withdrawn, stopped } = facts.rules;
    let rules = proven + withdrawn;
    if rules > 0 {
        let (stopped, withdrawn) = (units::counted(stopped, "URL"), units::count(withdrawn));
        // Some of the URLs that rules stopped were fetched later.
        let meaning = format!("proven, {withdrawn} withdrawn; {stopped} stopped so far");
        row("rules", rules, String::new(), &meaning);
    }
    if whole {
        row("left", stats.frontier, String::new(), "URLs still queued");
    }
    let next = facts.about.next(facts.page, rules > 0);
    let width = next.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    for (at, (what, meaning)) in next.iter().enumerate() {
        let (gap, head) = if at == 0 { ("\n", "next") } else { ("", "") };
        let _ = writeln!(out, "{gap}{head:8}{what:width$}  {meaning}");
    }
    stand_out(&mut out, facts.notes);
    went_wrong(&mut out, stats);
    out
}

/// The explanation of a reason for which URLs were refused. If all that were refused for a budget are beyond a cap on
/// pages, the cap is named.
fn refused_by(stats: &Stats, reason: SkipReason, count: u64) -> &'static str {
    const CAPS: [&str; 2] = ["max-pages-per-host", "max-pages-per-domain"];
    let [host, domain] = CAPS.map(|cap| stats.beyond.get(cap).copied().unwrap_or(0));
    match (host, domain) {
        _ if reason != SkipReason::Budget || host + domain < count => short(reason),
        (_, 0) => "beyond --max-pages-per-host",
        (0, _) => "beyond --max-pages-per-domain",
        _ => "beyond --max-pages-per-host or …-domain",
    }
}

/// The meaning of a reason, short enough for a row of at most 80 columns.
fn short(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Robots => "robots.txt forbids it, or cannot be read",
        SkipReason::Scope => "outside --scope, --include or --exclude",
        SkipReason::Address => "no address, or one that is not allowed",
        SkipReason::Trap => "looks like a trap, or brought nothing new",
        SkipReason::DuplicateSource => "only a duplicate links to it",
        SkipReason::Nofollow => "the link or its page says so; logouts",
        SkipReason::Rule => "a learned rule says that it is a copy",
        SkipReason::Mirror => "its host or folder mirrors another",
        SkipReason::Budget => "too many duplicates, or a cap on pages",
        SkipReason::Known => "a known corpus has the page with the link",
        SkipReason::Purpose => "its site forbids the crawl's --purpose",
        SkipReason::Scheme | SkipReason::Depth | SkipReason::TooLong => reason.explanation(),
    }
}

/// The rows about the last round of visits: its results, and the visits that copies have saved.
fn visits(row: &mut dyn FnMut(&str, u64, String, &str), round: &Round) {
    let Round { number, continuous, visits, changed, missing, gone, put_off, forbidden, .. } = *round;
    let Round { trusted, checked, diverged, .. } = *round;
    let when = if continuous { String::new() } else { format!("in round {number}: ") };
    let meaning = format!("{when}{} changed, {} missing", units::count(changed), units::count(missing));
    row("visits", visits, String::new(), &meaning);
    if gone > 0 {
        row("", gone, String::new(), "gone: 404 or 410 twice; asked for less often");
    }
    if put_off > 0 {
        row("", put_off, String::new(), "not made: their hosts cannot be asked now");
    }
    if forbidden > 0 {
        row("", forbidden, String::new(), "not made: robots.txt forbids them now");
    }
    if trusted + checked > 0 {
        let meaning =
            format!("copies trusted; {} checked, of which {} differed", units::count(checked), units::count(diverged));
        row("", trusted, String::new(), &meaning);
    }
}

/// The names of hosts that held slots for nothing, and of hosts under the ceiling.
fn stand_out(out: &mut String, notes: &[HostNote]) {
    /// At most this many hosts are named.
    const MOST: usize = 20;
    let mut part = |head: &str, what: &str, hosts: Vec<(u64, String)>| {
        if hosts.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n{head:8}{:>13}  {:>6}  {what}", units::count(hosts.len() as u64), "");
        for (count, said) in hosts.iter().take(MOST) {
            let _ = writeln!(out, "{:8}{:>13}  {:>6}  {said}", "", units::count(*count), "");
        }
        if let more @ 1.. = hosts.len().saturating_sub(MOST) {
            let _ = writeln!(out, "{:31}and {} more: crawler report --json names all", "", units::count(more as u64));
        }
    };
    let slow = notes.iter().filter_map(|note| {
        note.why.map(|why| (u64::from(note.slots_lost), format!("slots lost by {}: {why}", Printable(&note.host))))
    });
    part("slow", "hosts answered too slowly; requests were cut off", slow.collect());
    let held = notes.iter().filter(|note| note.stretch > 0);
    let held = held.map(|note| (note.stretch / 10 + 100, format!("% of its delay at {}", Printable(&note.host))));
    part("ceiling", "hosts with little new text get fewer requests", held.collect());
}

/// The faults. They come last, because people look there first.
fn went_wrong(out: &mut String, stats: &Stats) {
    /// The largest number of kinds of trouble that are printed, and of hosts.
    const MOST: usize = 4;
    let (troubles, worst) = outcome::faults(stats);
    if troubles.is_empty() {
        return;
    }
    out.push('\n');
    let mut head = "wrong";
    for Trouble { count, meaning, .. } in troubles.iter().take(MOST) {
        let _ = writeln!(out, "{:8}{:>13}  {:>6}  {meaning}", std::mem::take(&mut head), units::count(*count), "");
    }
    if let others @ [_, ..] = troubles.get(MOST..).unwrap_or_default() {
        let count = units::count(others.iter().map(|trouble| trouble.count).sum());
        let kinds = units::counted(others.len() as u64, "other kind");
        let _ = writeln!(out, "{:8}{count:>13}  {:>6}  of {kinds}: crawler report --json names all", "", "");
    }
    for worst in worst.iter().take(MOST) {
        let (count, host) = (units::count(worst.troubles), Printable(&worst.host));
        let _ = writeln!(out, "{:8}{count:>13}  {:>6}  of all these at {host}, {}", "", "", worst.kinds());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use frontier::Failure;

    use super::*;
    use crate::engine::WorstHost;

    #[test]
    fn a_cap_on_pages_is_named_where_it_is_the_cause() {
        let mut stats = Stats { beyond: [("max-pages-per-host".to_owned(), 4)].into(), ..Stats::default() };
        assert_eq!(refused_by(&stats, SkipReason::Budget, 4), "beyond --max-pages-per-host");
        assert_eq!(refused_by(&stats, SkipReason::Budget, 5), short(SkipReason::Budget), "one for duplicates");
        stats.beyond.insert("max-pages-per-domain".to_owned(), 1);
        assert!(refused_by(&stats, SkipReason::Budget, 5).ends_with("or …-domain"));
        assert_eq!(refused_by(&stats, SkipReason::Robots, 1), short(SkipReason::Robots));
    }

    #[test]
    fn no_row_of_a_round_or_of_a_reason_is_wider_than_a_terminal() {
        let stats = Stats {
            pages: 10,
            open_ends: 3,
            refused: SkipReason::ALL.iter().map(|reason| (reason.name().to_owned(), 1)).collect(),
            beyond: [("max-pages-per-host".to_owned(), 1), ("max-pages-per-domain".to_owned(), 1)].into(),
            round: Some(Round { number: 3, visits: 5, gone: 2, trusted: 2_000, checked: 100, ..Round::default() }),
            statuses: BTreeMap::from([(200, 10)]),
            ..Stats::default()
        };
        let facts = SummaryFacts {
            about: SummaryOf::Dir(Path::new("x")),
            stats: &stats,
            stop_reason: "page_limit",
            on_duplicate: Some("demote"),
            lost: Some(Lost { estimate: 3.2, low: 0.0, high: 9.0 }),
            rules: Totals { proven: 4, withdrawn: 1, stopped: 2_345 },
            notes: &[],
            page: None,
        };
        let text = text(&facts);
        // The commands to run next have the path of the directory, which may be long.
        for line in text.lines().skip(1).take_while(|line| !line.starts_with("next")) {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        assert!(at("failed: no answer") < at("visits "), "visits do not stand amid what was got: {text}");
    }

    #[test]
    fn the_summary_says_what_was_got_saved_and_cut() {
        let stats = Stats {
            pages: 10,
            unique: 5,
            exact: 3,
            near: 2,
            held: 1_500,
            stopped: 2_345,
            elapsed_ms: 2_000,
            refused: BTreeMap::from([("robots".into(), 7), ("unheard_of".into(), 1)]),
            statuses: BTreeMap::from([(200, 10), (404, 3), (500, 12)]),
            worst_host: Some(WorstHost {
                host: "a.test".into(),
                troubles: 15,
                kind: "500".into(),
                ..WorstHost::default()
            }),
            ..Stats::default()
        };
        let lost = Some(Lost { estimate: 3.2, low: 0.0, high: 9.0 });
        let facts = SummaryFacts {
            about: SummaryOf::Dir(Path::new("x")),
            stats: &stats,
            stop_reason: "done",
            on_duplicate: Some("drop"),
            lost,
            rules: Totals { proven: 4, withdrawn: 1, stopped: 2_345 },
            notes: &[
                HostNote { host: "drip.test".into(), slots_lost: 3, why: Some(Failure::Slow), stretch: 0 },
                HostNote { host: "facets.test".into(), slots_lost: 0, why: None, stretch: 1_500 },
            ],
            page: None,
        };
        let text = text(&facts);
        for said in [
            "10 pages in 2.0 s (5.0 pages/s)",
            "got                 5    50 %  unique",
            "saved           1,500          held: only duplicates link to these (drop)",
            "2,345          stopped by a rule or a spent budget",
            "rules               5          proven, 1 withdrawn; 2,345 URLs stopped so far",
            "next    crawler report x   all",
            "crawler rules x    what",
            "lost                3          unique pages among",
            "refused             7          robots: robots.txt forbids it",
            "slow                1          hosts answered too slowly",
            "3          slots lost by drip.test: the answer came too slowly",
            "ceiling             1          hosts with little new text",
            "250          % of its delay at facets.test",
            "wrong              12          answers with status 500",
            "15          of all these at a.test, mostly 500",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
        let last: Vec<_> = text.lines().rev().take(5).collect();
        assert!(last.iter().any(|line| line.contains("status 500")), "what went wrong stands last: {text}");
        let running = super::text(&SummaryFacts { stop_reason: "running", on_duplicate: None, ..facts });
        assert!(running.starts_with("10 pages, 0 B decoded. It is still running"), "{running}");
        assert!(!running.contains("still queued"), "{running}");
    }
}
