//! The report of a crawl: one HTML file that works offline and can be mailed.
//!
//! One pass over `pages.jsonl` and `skipped.jsonl` adds up all numbers ([`Tally`]). Pages that are shown by name are a
//! bounded sample, which is read again from the files. So the report of a million pages takes seconds, and its size
//! does not grow with the crawl.

pub mod bodies;
pub mod clusters;
mod compare;
pub mod curve;
pub mod health;
pub mod html;
mod lead;
pub mod learned;
pub mod line;
pub mod sample;
pub mod shell;
pub mod source;
mod summary;
pub mod svg;
pub mod tally;
pub mod view;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::series::Gone;
use crate::sink::{PagesJsonl, SkippedJsonl};
use crate::units;
use bodies::Bodies;
pub use compare::{Side, compare};
use health::Health;
use html::{Text, Web, put};
pub use learned::Learned;
use line::{PageLine, SkipLine};
use shell::Shell;
use source::Lines;
pub use summary::Summary;
use tally::Tally;
use words::Difference;

/// Some hosts in a few words: `a.test and 2 more hosts`.
pub(crate) fn hosts_named(hosts: &[&str]) -> String {
    match hosts {
        [] => "nothing".into(),
        [first, rest @ ..] => match rest.iter().filter(|host| *host != first).collect::<HashSet<_>>().len() as u64 {
            0 => (*first).into(),
            more => format!("{first} and {}", units::counted(more, "more host")),
        },
    }
}

/// The files and the summary of a crawl, after they were read.
#[derive(Clone, Debug)]
pub struct Report {
    dir: PathBuf,
    summary: Summary,
    tally: Tally,
    health: Health,
    pages: Lines,
    skips: Lines,
    /// The number of lines that are no JSON objects.
    damaged: u64,
    /// Parts of `pages.jsonl` that are not there any more.
    gone: Vec<Gone>,
}

/// The style sheet of the report and of the live page.
pub const STYLE: &str = include_str!("../../assets/look.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

impl Report {
    /// The name of the file that `crawler report` writes into the crawl directory.
    pub const NAME: &str = "report.html";
    /// At most this many clusters are shown.
    const CLUSTERS: usize = 100;
    /// At most this many rules, and this many budgets, are shown.
    const RULES: usize = 500;
    /// At most this many hosts that stand out are shown.
    const NOTES: usize = 1_000;
    /// At most this many near-duplicates are shown with their differences.
    const TWINS: usize = 12;

    /// Reads the crawl in `dir`. `length` tells how many bytes of an output the state vouches for; the rest is not
    /// read.
    ///
    /// # Complexity
    /// One pass over both files. It takes about 40 bytes of memory for each page, and some hundred bytes for each host.
    pub fn read(dir: &Path, summary: Summary, length: impl Fn(&str) -> Option<u64>) -> io::Result<Self> {
        let pages = Lines::open(dir, PagesJsonl::NAME, length(PagesJsonl::NAME))?;
        // The file is written at once, as a whole. So nothing needs to vouch for its length.
        let skips = Lines::open(dir, SkippedJsonl::NAME, None)?;
        let mut tally = Tally::new(true);
        let mut damaged = 0;
        pages.each(&mut |offset, line| match PageLine::parse(line) {
            Some(page) => tally.page(&page, offset),
            None => damaged += 1,
        })?;
        skips.each(&mut |offset, line| match serde_json::from_slice::<SkipLine<'_>>(line) {
            Ok(skip) => tally.skip(&skip, offset),
            Err(_) => damaged += 1,
        })?;
        let health = Health::of(&mut tally.fingerprints.take().unwrap_or_default());
        let gone = pages.gone()?;
        Ok(Self { dir: dir.to_owned(), summary, tally, health, pages, skips, damaged, gone })
    }

    /// The sums over all lines.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Parts of `pages.jsonl` that are not there any more: the report tells nothing of their pages.
    pub fn gone(&self) -> &[Gone] {
        &self.gone
    }

    /// The part of the report that comes from the state.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The report as an HTML document.
    pub fn html(&self) -> io::Result<String> {
        let body = self.body()?;
        let title = format!("Crawl of {}", self.name());
        Ok(Shell { title: &title, style: STYLE, script: SCRIPT, connect: "'none'", body: &body }.html())
    }

    /// The crawl in a few words.
    fn name(&self) -> String {
        let hosts: Vec<_> = match self.summary.seeds.as_slice() {
            [] => self.tally.hosts.keys().map(|host| &**host).take(2).collect(),
            seeds => seeds.iter().map(|seed| line::host(seed)).collect(),
        };
        hosts_named(&hosts)
    }

    fn body(&self) -> io::Result<String> {
        let mut out = String::with_capacity(1 << 20);
        let tally = &self.tally;
        let verdicts = &tally.verdicts;
        if verdicts.judged() > 1 {
            view::section(
                &mut out,
                "curve",
                "Distinct contents against pages fetched",
                "Where the upper line leaves the diagonal, fetches brought pages that were known already. The flatter it gets, \
                 the less a further fetch is worth.",
            );
            view::curve(&mut out, &tally.curve);
            view::end(&mut out);
        }

        if verdicts.duplicates() > 0 || tally.links_dropped > 0 {
            view::section(&mut out, "gate", "What the gate saved and what it cost", &self.gate());
            view::end(&mut out);
        }

        if tally.relevances.iter().any(|n| *n > 0) {
            view::section(
                &mut out,
                "topic",
                "How well the pages fit the topic",
                "Relevance is computed from a page’s weighted words.",
            );
            view::relevance(&mut out, tally);
            view::end(&mut out);
        }
        if verdicts.duplicates() > 0 {
            self.duplicates(&mut out)?;
        }
        if verdicts.pages() + verdicts.failed > 0 {
            view::section(
                &mut out,
                "hosts",
                "Hosts",
                "A high share of duplicates on one host often means a mirror, a trap, or many URLs for one page.",
            );
            view::hosts(&mut out, tally, usize::MAX);
            view::end(&mut out);
        }
        let notes = self.summary.learned.as_ref().map(|learned| &*learned.hosts).unwrap_or_default();
        if !notes.is_empty() {
            view::section(&mut out, "notes", "Hosts that stand out", view::ABOUT_NOTES);
            view::notes(&mut out, notes, Self::NOTES);
            view::end(&mut out);
        }
        if verdicts.judged() > 0 {
            view::section(
                &mut out,
                "depths",
                "Depth",
                "Depth is the number of links from a seed. Duplicates that grow with depth are the mark of a trap.",
            );
            view::depths(&mut out, tally);
            view::end(&mut out);
        }
        view::section(&mut out, "answers", "Answers", "What the servers said, and what kind of documents they sent.");
        if verdicts.pages() > 0 {
            view::statuses(&mut out, tally);
        }
        view::errors(&mut out, tally);
        view::end(&mut out);

        view::section(
            &mut out,
            "skipped",
            "What was not fetched, and why",
            "Each URL counts once for each reason, however many pages link to it. Ask about a single URL with <code>crawler why</code>.",
        );
        view::skipped(&mut out, tally, &self.skips)?;
        view::end(&mut out);

        view::section(&mut out, "rules", "Rules, mirrors, traps and budgets", view::ABOUT_RULES);
        match &self.summary.learned {
            Some(learned) => view::rules(&mut out, Some("rules-table"), learned, Self::RULES),
            None => out.push_str("<p class=\"note\">Not known while the crawl runs: its live page shows them.</p>\n"),
        }
        view::end(&mut out);

        if self.health.distinct > 1 {
            view::section(
                &mut out,
                "health",
                "Fingerprint health",
                "The index finds near-duplicates fast because fingerprints are spread evenly (Manku, Jain and Das Sarma 2007, section \
                 4.2 and figure 2). This is how even those of this crawl are.",
            );
            view::health(&mut out, &self.health);
            view::end(&mut out);
        }

        let sample = pages_caption(tally);
        view::section(
            &mut out,
            "pages",
            "Pages",
            "Search all of them, or sort the table by a column’s head. More of each is in <code>pages.jsonl</code>.",
        );
        view::search(&mut out, &self.pages)?;
        view::pages(&mut out, Some("pages-table"), &sample, &self.pages.at(tally.sample.items())?, &|_| None);
        view::end(&mut out);
        self.foot(&mut out);
        let mut whole = String::with_capacity(out.len() + (16 << 10));
        self.head(&mut whole, &out);
        whole.push_str(&out);
        Ok(whole)
    }

    /// The head of the report, which comes before these sections.
    fn head(&self, out: &mut String, sections: &str) {
        let tally = &self.tally;
        put!(
            out,
            "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header><h1>Crawl of {}</h1>\n",
            Web(&self.name())
        );
        if let Some((first, last)) = &tally.times {
            put!(out, "<p class=\"note\">{} to {} UTC", Web(&units::moment(first)), Web(&units::moment(last)));
            put!(out, " in <code>{}</code></p>\n", Web(&self.dir.display().to_string()));
        }
        if let Some(failure) = self.failure() {
            put!(out, "<p class=\"lead failure\">{failure}</p>\n");
        }
        put!(out, "<p class=\"lead\">{}</p>\n", self.lead());
        for gone in &self.gone {
            put!(out, "<p class=\"note\">{gone}: its pages are not in this report.</p>\n");
        }
        view::troubles(out, &self.summary.troubles, &self.summary.worst_hosts);
        out.push_str("<nav aria-label=\"Sections\"><ul>");
        for (id, name) in [
            ("curve", "Curve"),
            ("gate", "Gate"),
            ("clusters", "Duplicates"),
            ("hosts", "Hosts"),
            ("notes", "Hosts that stand out"),
            ("depths", "Depth"),
            ("answers", "Answers"),
            ("skipped", "Not fetched"),
            ("rules", "Rules"),
            ("health", "Fingerprints"),
            ("pages", "Pages"),
        ] {
            if sections.contains(&format!("<h2 id=\"{id}\">")) {
                put!(out, "<li><a href=\"#{id}\">{name}</a></li>");
            }
        }
        out.push_str("</ul></nav></header>\n<main id=\"main\">\n<dl class=\"figures\">\n");
        view::figures(out, &self.summary, tally);
        out.push_str("</dl>\n");
    }

    fn duplicates(&self, out: &mut String) -> io::Result<()> {
        let tally = &self.tally;
        view::section(
            out,
            "clusters",
            "Clusters of duplicates",
            "A cluster is a page with everything that repeats it, directly or through another duplicate.",
        );
        view::clusters(out, Some("clusters-table"), &tally.clusters, &self.pages, Self::CLUSTERS)?;
        view::end(out);
        view::section(
            out,
            "likeness",
            "How alike near-duplicates are",
            "A page is a near-duplicate if its fingerprint is close to that of an earlier page and a second look at text and links \
             agrees.",
        );
        view::likeness(out, tally);
        self.twins(out)?;
        view::end(out);
        Ok(())
    }

    /// Near-duplicates beside their twins. They are taken from the largest clusters.
    fn twins(&self, out: &mut String) -> io::Result<()> {
        let lines = self.pages.at(near_members(&self.tally, 10 * Self::TWINS))?;
        let mut pages: Vec<_> = lines.iter().filter_map(|line| PageLine::parse(line)).collect();
        let resemblance = |page: &PageLine<'_>| page.resemblance.unwrap_or(1.0);
        let least_alike = |a: &PageLine<'_>, b: &PageLine<'_>| {
            resemblance(a).total_cmp(&resemblance(b)).then(b.distance.cmp(&a.distance))
        };
        pages.sort_by(least_alike);
        let twin_at =
            |page: &PageLine<'_>| page.duplicate_of.as_deref().and_then(|twin| self.tally.clusters.line_of(twin));
        let pages: Vec<_> =
            pages.into_iter().filter_map(|page| twin_at(&page).map(|at| (page, at))).take(Self::TWINS).collect();
        if pages.is_empty() {
            return Ok(());
        }
        let twins = self.pages.at(pages.iter().map(|(_, at)| *at))?;
        let urls =
            pages.iter().flat_map(|(page, _)| [Some(&*page.url), page.duplicate_of.as_deref()]).flatten().collect();
        let bodies = Bodies::find(&self.dir, &urls)?;
        put!(
            out,
            "<h3>Beside their twins</h3>\n<p>{} of the largest clusters, the least alike first.</p>\n",
            units::counted(pages.len() as u64, "near-duplicate")
        );
        for ((page, _), twin) in pages.iter().zip(&twins) {
            let Some(twin) = PageLine::parse(twin) else { continue };
            let texts = bodies.text(&page.url).zip(bodies.text(&twin.url));
            let difference = texts.map(|(here, there)| Difference::of(&here, &there));
            view::twins(out, page, &twin, difference.as_ref());
        }
        Ok(())
    }

    fn foot(&self, out: &mut String) {
        out.push_str("</main>\n<footer>");
        if self.damaged > 0 {
            put!(out, "<p>{} could not be read and are left out.</p>", units::counted(self.damaged, "line"));
        }
        if let Some(settings) = &self.summary.settings {
            put!(out, "<details><summary>Settings of the last run</summary><pre>{}</pre></details>", Text(settings));
        }
        put!(
            out,
            "<p>Written by crawler {}. This file loads nothing and sends nothing.</p></footer>",
            env!("CARGO_PKG_VERSION")
        );
    }
}

/// The offsets of near-duplicates that may be shown with their differences, one of each large cluster.
fn near_members(tally: &Tally, most: usize) -> Vec<u64> {
    let largest = tally.clusters.largest(most);
    largest
        .into_iter()
        .filter(|cluster| cluster.near > 0)
        .filter_map(|cluster| cluster.members.first().copied())
        .collect()
}

fn pages_caption(tally: &Tally) -> String {
    let all = tally.verdicts.pages() + tally.verdicts.failed;
    if tally.sample.is_everything() {
        format!("All {}, in the order of fetching", units::counted(all, "page"))
    } else {
        let shown = tally.sample.items().len() as u64;
        format!("{} of {}, drawn evenly", units::counted(shown, "page"), units::count(all))
    }
}
