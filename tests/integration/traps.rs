//! Sites that look like traps: their menus all say the same, and only the pages below say something. In `demote`, URLs
//! that a rule for traps stops come last, if a sample shows that they are worth it. A real trap costs little more than
//! the sample. At the end stand two traps whose pages differ, and that end by themselves: a calendar and a magazine.

use std::sync::Arc;

use tests::gate::{Menu, Menus, Page, Reply, Site, run, walk};
use tests::scripted::words;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

const DEMOTE: &[(&str, &str)] = &[("dedup.on-duplicate", "demote")];
const STRICT: &[(&str, &str)] = &[("dedup.on-duplicate", "demote"), ("dedup.rescue", "0%")];
/// The text of every menu.
const TEXT: &str = "Choose one of these. All that we have is listed here, and more is added every week by our readers, who \
                    find it, write about it and send it to us. Thank you for your patience, and for reading this page.";

/// A home page with links to this many tags. Each tag links to another tag, without end.
struct Tags(u64);

impl Site for Tags {
    fn seeds(&self) -> Vec<String> {
        vec!["http://tags1.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        Reply::Page(match parts[..] {
            [] => (0..self.0)
                .fold(Page::new("Home").text(1 << 20, 80), |page, tag| page.link(&format!("/tag/{tag}/"), "A tag")),
            ["tag", tag] => {
                let Ok(tag) = tag.parse::<u64>() else { return Reply::Missing };
                Page::new("Tag").paragraph(TEXT).link(&format!("/tag/{}/", tag.wrapping_mul(2) + 1), "More")
            }
            _ => return Reply::Missing,
        })
    }
}

/// Catches a crawl in `demote` that never fetches the URLs that a rule for traps stops, although it has nothing else to
/// do.
#[test]
fn what_is_no_trap_is_found_in_demote() -> anyhow::Result<()> {
    for kind in [Menu::Regions, Menu::Nodes] {
        // There are so many menus that the rule is proven before the first article.
        let sites = (1..).map(|seed| Arc::new(Menus::draw(seed, kind)) as Arc<dyn Site>);
        let large = |site: Arc<dyn Site>| Some((walk(&*site).things.len(), site)).filter(|(all, _)| *all > 200);
        let Some((all, site)) = sites.take(100).find_map(large) else { anyhow::bail!("no site is large enough") };
        let [without, found] = [run(&site, STRICT)?, run(&site, DEMOTE)?].map(|crawled| crawled.seen.things.len());
        println!("{kind:?}: {found} of {all} things, {without} without a sample");
        assert!(without * 2 < all, "a rule takes the menus for a trap, or this test tests nothing: {without}");
        assert!(found * 100 >= all * 99, "{found} of {all}");
    }
    Ok(())
}

/// Catches a sample that a trap can exploit.
#[test]
fn a_trap_costs_no_more_than_a_sample_in_demote() -> anyhow::Result<()> {
    let site: Arc<dyn Site> = Arc::new(Tags(400));
    let limit = ("limits.max-pages", "3000");
    let without = run(&site, &[STRICT, &[limit]].concat())?.seen.urls.len();
    let with = run(&site, &[DEMOTE, &[limit]].concat())?.seen.urls.len();
    println!("{with} fetches, {without} without a sample");
    assert!(with <= without + (without / 20).max(40), "{with} fetches, {without} without a sample");
    Ok(())
}

/// A calendar without end: the grid of each month leads to its days and to its neighbours. Days without an event say
/// so.
struct Grids {
    /// Whether the URLs of months and days name their dates.
    dated: bool,
    /// The number of words by which the text of a day without an event is longer.
    more: u64,
}

impl Grids {
    const EVENTS: u64 = 140;

    /// The month and the day of an event, in two years.
    fn time(event: u64) -> (u64, u64) {
        let at = event.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (24_000 + at % 24, at / 24 % 28 + 1)
    }
}

impl Site for Grids {
    fn seeds(&self) -> Vec<String> {
        vec!["http://events.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        let numbers: Vec<u64> = parts.iter().filter_map(|part| part.trim_start_matches('m').parse().ok()).collect();
        let at = |month: u64| match self.dated {
            true => format!("/calendar/{}/{}", month / 12, month % 12 + 1),
            false => format!("/calendar/m{month}"),
        };
        let month = || match numbers[..] {
            [year, number, ..] if self.dated => Some(year * 12 + number.checked_sub(1)?),
            [month, ..] if !self.dated => Some(month),
            _ => None,
        };
        let events = |month: u64, day: u64| (0..Self::EVENTS).filter(move |event| Self::time(*event) == (month, day));
        let page = |title: &str| {
            let page = Page::new(format!("{title} - Events")).html("<header><div class=logo>Events</div><nav><ul><li>");
            let page = page.link("/", "Home").html("<li>").link(&at(24_005), "Calendar").html("<li>");
            page.link("/about", "About us").html("</ul></nav></header>")
        };
        Reply::Page(match (parts.as_slice(), month()) {
            ([], _) => page("Home").text(1 << 20, 80),
            (["about"], _) => page("About").text(1 << 21, 80),
            (["event", event], _) => match event.parse() {
                Ok(event) if event < Self::EVENTS => page(&words(event, 4)).text(event, 60),
                _ => return Reply::Missing,
            },
            (["calendar", ..], Some(month)) if numbers.len() == if self.dated { 2 } else { 1 } => {
                let title = format!("{}/{}", month % 12 + 1, month / 12);
                let mut page = page(&format!("Calendar {title}")).html(&format!("<h1>{title}</h1><table><tr>"));
                for day in 1..=28 {
                    page = page.html("<td>").link(&format!("{}/{day}", at(month)), &day.to_string());
                    let link = |page: Page, event| page.link(&format!("/event/{event}"), &words(event, 4));
                    page = events(month, day).fold(page, link).html(if day % 7 == 0 { "</tr><tr>" } else { "</td>" });
                }
                let page = page.html("</table>").link(&at(month - 1), "Previous month");
                page.link(&at(month + 1), "Next month").link(&format!("{}?view=list", at(month)), "List")
            }
            (["calendar", .., day], Some(month)) => {
                let title = format!("Events on {day}/{}/{}", month % 12 + 1, month / 12);
                let page = page(&title).html(&format!("<h1>{title}</h1><ul>"));
                let day = day.parse().unwrap_or(0);
                let link = |page: Page, event| page.html("<li>").link(&format!("/event/{event}"), &words(event, 4));
                let page = events(month, day).fold(page, link).html("</ul>");
                if events(month, day).next().is_some() {
                    page
                } else {
                    page.paragraph(&format!(
                        "There are no events on this day. Please look at another day or come back later, and do not \
                         forget to tell your friends. {}",
                        words(77, self.more),
                    ))
                }
            }
            _ => return Reply::Missing,
        })
    }
}

/// Catches a trap without an end: each day says which day it is, so some of its pages are new by chance. The rescue must
/// not follow it for the sake of these, and pages that say only what their URLs say must not earn others.
#[test]
fn a_calendar_ends() -> anyhow::Result<()> {
    const LIMIT: (&str, &str) = ("limits.max-pages", "8000");
    for (dated, more) in [(false, 10), (true, 0)] {
        let site: Arc<dyn Site> = Arc::new(Grids { dated, more });
        for settings in [&[LIMIT][..], &[LIMIT, ("dedup.rescue", "0%")]] {
            let crawled = run(&site, settings)?;
            let fetches = crawled.seen.urls.len();
            println!("dated: {dated}, {settings:?}: {fetches} fetches, {} events", crawled.seen.things.len());
            assert!(fetches < 7_000, "dated: {dated}, {settings:?}: {fetches} fetches");
            assert!(crawled.seen.things.len() as u64 >= Grids::EVENTS, "all events are found");
        }
    }
    Ok(())
}

/// A magazine. Its pages have one of many advertisements, a status line, and a link to themselves with another token.
struct Magazine;

impl Magazine {
    const STORIES: u64 = 30;
}

impl Site for Magazine {
    fn seeds(&self) -> Vec<String> {
        vec!["http://magazine.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let token = xxh3_64(url.as_str().as_bytes());
        let page = match url.path().strip_prefix("/story/").map(str::parse) {
            None if url.path() == "/" => (0..Self::STORIES)
                .fold(Page::new("Home"), |page, story| page.link(&format!("/story/{story}"), &words(1_000 + story, 5))),
            Some(Ok(story)) if story < Self::STORIES => {
                let again = format!("/story/{story}?view=print&tok={:08x}", token as u32);
                Page::new(words(1_000 + story, 5)).text(story, 150).link(&again, "Print")
            }
            _ => return Reply::Missing,
        };
        let (time, seen) = (token % 86_400, token >> 20 & 0x1FF);
        let time = format!("{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
        let page = page.html("<div class=box>").paragraph(&words(2_000 + token % 40, 30)).html("</div>");
        Reply::Page(page.paragraph(&format!("Rendered {time}, {seen} visitors online, request {token:012x}")))
    }
}

/// Catches a trap of pages that are new by what says nothing: an advertisement, the time, a number, a token.
#[test]
fn noise_ends() -> anyhow::Result<()> {
    let site: Arc<dyn Site> = Arc::new(Magazine);
    let crawled = run(&site, &[("limits.max-pages", "6000")])?;
    let fetches = crawled.seen.urls.len();
    println!("{fetches} fetches, {} stories", crawled.seen.things.len());
    assert!(fetches < 5_000, "{fetches} fetches");
    assert!(crawled.seen.things.len() as u64 >= Magazine::STORIES, "all stories are found");
    Ok(())
}
