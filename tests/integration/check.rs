//! `crawler check` must find damage. A sound crawl directory is copied, and each copy is damaged in another way. (That
//! `check` finds nothing in a sound directory is tested by every helper that crawls, at its end: see `tests::sound`.)

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use crawler::cli::check::check;
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Web;
use crawler::record::PageRecord;
use crawler::spaces::{PAGES, of_crawl};
use dedup_stage::store::{Disk, Session, Space, codec};
use fastrand::Rng;
use serde_json::Value;
use tests::crawl::{crawl_with, settings};
use tests::memory::MemoryFetch;

type Does = dyn Fn(&Path, &mut Rng) -> anyhow::Result<()>;
type Entry = (Vec<u8>, Vec<u8>);

/// One way to damage a crawl directory.
struct Damage {
    name: &'static str,
    does: Box<Does>,
}

/// Changes the lines of an output.
fn lines(name: &'static str, file: &'static str, edit: fn(&mut Vec<String>, &mut Rng)) -> Damage {
    let does = move |dir: &Path, random: &mut Rng| {
        let path = dir.join(file);
        let mut lines: Vec<String> = fs::read_to_string(&path)?.lines().map(str::to_owned).collect();
        edit(&mut lines, random);
        Ok(fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?)
    };
    Damage { name, does: Box::new(does) }
}

/// Changes a field in one line of an output.
fn field(
    name: &'static str,
    file: &'static str,
    field: &'static str,
    edit: impl Fn(&Value) -> Option<Value> + 'static,
) -> Damage {
    let does = move |dir: &Path, random: &mut Rng| {
        let path = dir.join(file);
        let mut lines: Vec<String> = fs::read_to_string(&path)?.lines().map(str::to_owned).collect();
        let start = random.usize(..lines.len());
        for at in (0..lines.len()).map(|at| (at + start) % lines.len()) {
            let mut line: Value = serde_json::from_str(&lines[at])?;
            if let Some(new) = edit(&line[field]) {
                line[field] = new;
                lines[at] = line.to_string();
                return Ok(fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>())?);
            }
        }
        anyhow::bail!("no line can be edited like that")
    };
    Damage { name, does: Box::new(does) }
}

/// Changes the state without the knowledge of the crawler.
fn state(name: &'static str, edit: impl Fn(&mut Session, &mut Rng) -> anyhow::Result<()> + 'static) -> Damage {
    let does = move |dir: &Path, random: &mut Rng| {
        let mut session = Session::new(Box::new(Disk::open(&dir.join("state"), &of_crawl())?));
        edit(&mut session, random)?;
        ensure!(session.pending() > 0, "nothing was changed");
        Ok(session.commit()?)
    };
    Damage { name, does: Box::new(does) }
}

/// The entries of a space.
fn entries(space: Space, session: &Session) -> anyhow::Result<Vec<Entry>> {
    let mut all = Vec::new();
    session.scan(space, &[], &[], &mut |key, value| {
        all.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    ensure!(!all.is_empty(), "{} is empty", space.name());
    Ok(all)
}

/// An entry of the queue that will still be read: the last one of the longest lane. (A lane may also hold entries that
/// are done, until their era is swept.)
fn queued(session: &Session) -> anyhow::Result<Entry> {
    let mut lanes: BTreeMap<Vec<u8>, Vec<Entry>> = BTreeMap::new();
    for (key, value) in entries(frontier::spaces::QUEUE, session)? {
        // The last three bytes of the key are the place in the lane.
        lanes.entry(key[..key.len() - 3].to_vec()).or_default().push((key, value));
    }
    lanes.into_values().max_by_key(Vec::len).and_then(|mut lane| lane.pop()).context("an entry")
}

/// Deletes one entry of a space.
fn deleted(name: &'static str, space: Space) -> Damage {
    state(name, move |session, random| {
        let entries = entries(space, session)?;
        session.delete(space, entries[random.usize(..entries.len())].0.clone());
        Ok(())
    })
}

/// Cuts the value of one entry of a space.
fn cut(name: &'static str, space: Space) -> Damage {
    state(name, move |session, random| {
        let entries: Vec<_> = entries(space, session)?.into_iter().filter(|(_, value)| value.len() > 1).collect();
        let (key, value) = &entries[random.usize(..entries.len())];
        session.put(space, key.clone(), &value[..value.len() / 2]);
        Ok(())
    })
}

/// Exchanges the values of two entries of a space.
fn exchanged(name: &'static str, space: Space) -> Damage {
    state(name, move |session, random| {
        let entries = entries(space, session)?;
        let one = &entries[random.usize(..entries.len())];
        let other = entries.iter().find(|other| other.1 != one.1).context("two values")?;
        session.put(space, one.0.clone(), other.1.clone());
        session.put(space, other.0.clone(), one.1.clone());
        Ok(())
    })
}

/// The records of URLs that were visited once, and redirected. Such a record begins with the bytes 5, 1 and 1; the next
/// two bytes are the HTTP status (see `frontier/src/url/stored.rs`).
fn redirected(session: &Session) -> anyhow::Result<Vec<Entry>> {
    let entries = entries(frontier::spaces::URLS, session)?;
    Ok(entries.into_iter().filter(|(_, value)| value.starts_with(&[5, 1, 1])).collect())
}

/// Changes a record of a page.
fn record(name: &'static str, edit: fn(&mut PageRecord)) -> Damage {
    state(name, move |session, random| {
        let entries = entries(PAGES, session)?;
        let (key, value) = &entries[random.usize(..entries.len())];
        let mut record = PageRecord::decode(value)?;
        edit(&mut record);
        session.put(PAGES, key.clone(), codec::encode(&record));
        Ok(())
    })
}

/// Changes the counters.
fn counter(name: &'static str, edit: fn(&mut Value)) -> Damage {
    meta(name, b"stats", edit)
}

/// Changes a small value of the state.
fn meta(name: &'static str, key: &'static [u8], edit: fn(&mut Value)) -> Damage {
    state(name, move |session, _| {
        let bytes = session.get(Space::META, key)?.context("a value")?;
        let mut value: Value = serde_json::from_slice(&bytes)?;
        edit(&mut value);
        session.put(Space::META, key, serde_json::to_vec(&value)?);
        Ok(())
    })
}

fn add(value: &mut Value, by: i64) {
    *value = (value.as_i64().unwrap_or(0) + by).into();
}

const PAGE_LINES: &str = "pages.jsonl";
const SKIPPED: &str = "skipped.jsonl";

/// All kinds of damage.
fn damages() -> Vec<Damage> {
    use frontier::spaces::{HELD_FOR, HOSTS, QUEUE, URLS};
    vec![
        lines("a page's line is removed", PAGE_LINES, |lines, random| drop(lines.remove(random.usize(..lines.len())))),
        lines("the last page's line is removed", PAGE_LINES, |lines, _| drop(lines.pop())),
        lines("a page's line is doubled", PAGE_LINES, |lines, random| {
            let at = random.usize(..lines.len() - 1);
            lines.insert(at, lines[at].clone());
        }),
        lines("the last page's line is doubled", PAGE_LINES, |lines, _| lines.push(lines[lines.len() - 1].clone())),
        lines("two pages' lines change places", PAGE_LINES, |lines, random| {
            let at = random.usize(1..lines.len());
            lines.swap(0, at);
        }),
        lines("a page's line is no JSON", PAGE_LINES, |lines, random| {
            let at = random.usize(..lines.len());
            lines[at] = "x".repeat(lines[at].len());
        }),
        field("a page's URL is edited", PAGE_LINES, "url", |url| Some(format!("{}x", url.as_str()?).into())),
        field("a page's visit is edited", PAGE_LINES, "visit", |visit| Some((visit.as_u64()? + 1).into())),
        field("a page's status is edited", PAGE_LINES, "status", |status| {
            Some((if status.as_u64()? == 200 { 404 } else { 200 }).into())
        }),
        field("a page's verdict is edited", PAGE_LINES, "verdict", |verdict| {
            (verdict.as_str() == Some("near")).then(|| "exact".into())
        }),
        field("a page's depth is edited", PAGE_LINES, "depth", |depth| Some((depth.as_u64()? + 1).into())),
        lines("a page's digest is edited", PAGE_LINES, |lines, random| {
            // The state has no digest of a page that was not judged.
            let is_judged = |line: &String| !line.contains("\"verdict\":\"unjudged\"");
            let judged: Vec<_> = (0..lines.len()).filter(|at| is_judged(&lines[*at])).collect();
            let line = &mut lines[judged[random.usize(..judged.len())]];
            let (before, digest) = line.split_once("\"sha256\":\"").expect("a judged page has a digest");
            let other = if digest.starts_with('a') { "b" } else { "a" };
            *line = format!("{before}\"sha256\":\"{other}{}", &digest[1..]);
        }),
        field("a page's bytes are edited", PAGE_LINES, "bytes", |bytes| Some((bytes.as_u64()? + 1).into())),
        Damage { name: "pages.jsonl is cut", does: Box::new(|dir, _| Ok(cut_file(&dir.join(PAGE_LINES))?)) },
        Damage {
            name: "the state is emptied",
            does: Box::new(|dir, _| {
                fs::remove_dir_all(dir.join("state"))?;
                Ok(fs::create_dir(dir.join("state"))?)
            }),
        },
        Damage { name: "pages.jsonl is gone", does: Box::new(|dir, _| Ok(fs::remove_file(dir.join(PAGE_LINES))?)) },
        lines("a skipped URL's line is removed", SKIPPED, |lines, random| {
            drop(lines.remove(random.usize(..lines.len())))
        }),
        lines("a skipped URL's line is doubled", SKIPPED, |lines, random| {
            lines.push(lines[random.usize(..lines.len())].clone());
        }),
        lines("skipped.jsonl is emptied", SKIPPED, |lines, _| lines.clear()),
        field("a skipped URL is edited", SKIPPED, "url", |url| Some(format!("{}x", url.as_str()?).into())),
        field("the reason of a skipped URL is edited", SKIPPED, "reason", |reason| {
            Some((if reason == "depth" { "scope" } else { "depth" }).into())
        }),
        field("the source of a skipped URL is edited", SKIPPED, "source", |source| {
            Some(format!("{}x", source.as_str()?).into())
        }),
        Damage { name: "skipped.jsonl is gone", does: Box::new(|dir, _| Ok(fs::remove_file(dir.join(SKIPPED))?)) },
        Damage { name: "a fetched URL is added to skipped.jsonl", does: Box::new(add_fetched) },
        deleted("the record of a page is deleted", PAGES),
        cut("the record of a page is cut", PAGES),
        exchanged("the records of two pages change places", PAGES),
        record("the status in a page's record is changed", |record| record.status += 1),
        record("the URL in a page's record is changed", |record| record.url.push('x')),
        record("the place in a page's record is changed", |record| record.offset += 1),
        deleted("the record of a URL is deleted", URLS),
        cut("the record of a URL is cut", URLS),
        exchanged("the records of two URLs change places", URLS),
        state("two redirects change targets", |session, random| {
            let redirected = redirected(session)?;
            let one = redirected.get(random.usize(..redirected.len().max(1))).context("a redirect")?;
            // Both have the same status.
            let is_other = |other: &&Entry| other.1 != one.1 && other.1[..5] == one.1[..5];
            let other = redirected.iter().find(is_other).context("two redirects")?;
            session.put(URLS, one.0.clone(), other.1.clone());
            session.put(URLS, other.0.clone(), one.1.clone());
            Ok(())
        }),
        state("an entry of the queue is deleted", |session, _| {
            let (key, _) = queued(session)?;
            session.delete(QUEUE, key);
            Ok(())
        }),
        state("an entry of the queue is cut", |session, _| {
            let (key, value) = queued(session)?;
            session.put(QUEUE, key, &value[..value.len() / 2]);
            Ok(())
        }),
        deleted("what is held for a URL is forgotten", HELD_FOR),
        state("something is said to be held that is not", |session, random| {
            let mut key = entries(HELD_FOR, session)?[0].0.clone();
            let last = key.len() - 1;
            key[last] ^= random.u8(1..);
            session.put(HELD_FOR, key, *b"");
            Ok(())
        }),
        deleted_of_host("what is queued of a host is forgotten", HOSTS),
        counter("the count of pages is raised", |stats| add(&mut stats["pages"], 1)),
        counter("a unique page is counted as a near duplicate", |stats| {
            add(&mut stats["unique"], -1);
            add(&mut stats["near"], 1);
        }),
        counter("the count of failures is raised", |stats| add(&mut stats["failed"], 1)),
        counter("the count of bytes is lowered", |stats| add(&mut stats["bytes"], -1)),
        counter("the count of an HTTP status is raised", |stats| add(&mut stats["statuses"]["200"], 1)),
        counter("the count of links is raised", |stats| add(&mut stats["links_found"], 1)),
        counter("the count of URLs met is raised", |stats| add(&mut stats["urls_seen"], 1)),
        counter("the count of URLs held is raised", |stats| add(&mut stats["held"], 1)),
        counter("the count of URLs refused is raised", |stats| add(&mut stats["refused"]["robots"], 1)),
        counter("the count of URLs queued is raised", |stats| add(&mut stats["frontier"], 1)),
        meta("the length of pages.jsonl is lowered", b"outputs", |lengths| add(&mut lengths["pages.jsonl"], -1)),
        state("the order of judging begins anew", |session, _| {
            session.put(Space::META, *b"order", 1u64.to_be_bytes());
            Ok(())
        }),
    ]
}

fn cut_file(path: &Path) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(file.metadata()?.len() * 2 / 3)
}

fn add_fetched(dir: &Path, random: &mut Rng) -> anyhow::Result<()> {
    let text = fs::read_to_string(dir.join(PAGE_LINES))?;
    let pages: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let url = &pages[random.usize(..pages.len())]["url"];
    let line = serde_json::json!({"url": url, "reason": "duplicate_source", "source": null});
    let skipped = fs::read_to_string(dir.join(SKIPPED))?;
    Ok(fs::write(dir.join(SKIPPED), format!("{skipped}{line}\n"))?)
}

/// Deletes the longest record of a space. In the space of hosts, deletes the record of the host with the longest queue.
fn deleted_of_host(name: &'static str, space: Space) -> Damage {
    state(name, move |session, _| {
        let entries = entries(space, session)?;
        let (key, _) = entries.iter().max_by_key(|(_, value)| value.len()).context("an entry")?;
        session.delete(space, key.clone());
        Ok(())
    })
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, to) = (entry?.path(), to.to_owned());
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy(&path, &to)? } else { fs::copy(&path, &to).map(|_| ())? }
    }
    Ok(())
}

/// The findings of `check`. If `check` itself fails, its error is a finding, too.
fn findings(dir: &Path) -> Vec<String> {
    match CrawlDir::existing(dir).map_err(anyhow::Error::from).and_then(|mut dir| check(&mut dir)) {
        Ok(findings) => findings,
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Makes a crawl that stopped with URLs in every state: fetched, queued, held, stopped, refused.
fn crawled(dir: &Path) -> anyhow::Result<()> {
    let web = Arc::new(Web::demo(12));
    let clock = Clock::at(1_700_000_000_000);
    let settings = settings(&[("limits.max-pages", "900"), ("scope.max-depth", "6")])?;
    let fetch = MemoryFetch::new(Arc::clone(&web)).with_clock(clock.clone());
    let stats = crawl_with(fetch, &clock, dir, &web.seeds(), &settings)?.stats;
    let everything = [stats.unique, stats.near, stats.exact, stats.frontier, stats.held, stats.refused.len() as u64];
    ensure!(everything.iter().all(|count| *count > 0), "something is missing: {stats:?}");
    Ok(())
}

/// Catches a check that does not look at every line, at every record, at both directions between them, and at every
/// counter.
#[test]
fn every_damage_is_found() -> anyhow::Result<()> {
    let base = tempfile::tempdir()?;
    let whole = base.path().join("whole");
    crawled(&whole)?;
    let (mut missed, all) = (Vec::new(), damages());
    for (number, damage) in (1..).zip(&all) {
        for round in 0..3 {
            let dir = base.path().join("damaged");
            copy(&whole, &dir)?;
            let mut random = Rng::with_seed(number * 100 + round);
            assert_eq!(findings(&dir), Vec::<String>::new(), "before the damage");
            (damage.does)(&dir, &mut random).with_context(|| damage.name)?;
            let found = findings(&dir);
            println!("{}: {}", damage.name, found.first().map_or("MISSED", String::as_str));
            if found.is_empty() {
                missed.push(damage.name);
            }
            fs::remove_dir_all(&dir)?;
        }
    }
    assert!(missed.is_empty(), "{} kinds of damage; missed: {missed:#?}", all.len());
    Ok(())
}

/// Catches a program that finds damage but ends with 0, or reports it only on stderr.
#[test]
fn the_program_tells_what_it_finds_and_ends_with_1() -> anyhow::Result<()> {
    let base = tempfile::tempdir()?;
    let dir = base.path().join("crawl");
    crawled(&dir)?;
    let run = || std::process::Command::new(env!("CARGO_BIN_EXE_crawl")).arg("check").arg(&dir).output();
    let sound = run()?;
    assert_eq!(sound.status.code(), Some(0), "{}", String::from_utf8_lossy(&sound.stdout));
    let text = fs::read_to_string(dir.join(SKIPPED))?;
    fs::write(dir.join(SKIPPED), text.split_once('\n').context("lines")?.1)?;
    let damaged = run()?;
    let said = String::from_utf8_lossy(&damaged.stdout);
    assert_eq!(damaged.status.code(), Some(1), "{said}");
    assert!(said.contains("skipped.jsonl") && said.contains("1 finding"), "{said}");
    Ok(())
}
