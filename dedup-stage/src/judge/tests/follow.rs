//! Several judges, each with its own hosts: their verdicts are those of one, and all of them end with its state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use fastrand::Rng;

use super::*;
use crate::judge::cut::{copy, delete};
use crate::judge::followed::{self, Knowledge};

type State = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// Everything that a judge keeps, with a record for each fact: pages that are kept as they came are written like pages
/// that were judged here.
fn state(web: &Web) -> State {
    let mut all = entries(&web.session);
    let mut alone = Session::new(Box::new(Memory::default()));
    followed::each(&web.session, &mut |order, known, page| {
        followed::write_alone(order, known, page, &mut alone);
        Ok(())
    })
    .unwrap();
    for (key, value) in entries(&alone) {
        assert_eq!(all.insert(key.clone(), value), None, "{key:?} is known twice");
    }
    all
}

fn entries(session: &Session) -> State {
    let mut all = BTreeMap::new();
    for space in spaces::JUDGE.iter().filter(|space| **space != spaces::FOLLOWED) {
        session
            .scan(*space, &[], &[], &mut |key, value| {
                all.insert((space.name(), key.to_vec()), value.to_vec());
                ControlFlow::Continue(())
            })
            .unwrap();
    }
    all
}

/// A page of a web with many copies. There are few texts, some with a changed word, and some too short to be compared.
/// Links are those of a mirror, or others.
pub(super) fn draw(random: &mut Rng) -> (String, String) {
    let (host, page) = (random.u32(..6), random.u32(..12));
    let url = format!("http://h{host}.test/{page}/");
    let mut text = words(random.u64(..14), if random.u8(..8) == 0 { 6 } else { 120 });
    if random.u8(..3) == 0 {
        let at = random.usize(..text.len());
        text[at] = format!("word{}", random.u8(..3));
    }
    let from = if random.u8(..4) == 0 { random.u32(..40) } else { 0 };
    let mut links = link_list("/part/#", from..from + 8);
    links.push(format!("http://h{}.test/", random.u32(..6)));
    let image = if random.bool() { "<img src=/one.png>" } else { "" };
    // Texts beside the content, some of which several pages have.
    let aside = match random.u64(..40) {
        seed @ ..30 => format!("<aside>{}</aside>", words(100 + seed, 50).join(" ")),
        _ => String::new(),
    };
    (url, html(&text, &links) + image + &aside)
}

/// Shows this many pages to one judge, and to several judges of which each has some hosts. `follow` says whether these
/// judges follow each other. Returns how many verdicts differ, and 2 if there were both duplicates and other pages.
fn differing(judges: usize, follow: bool, pages: usize, seed: u64) -> (usize, usize) {
    let mut groups = vec![Vec::new(); judges];
    let mut random = Rng::with_seed(seed);
    let mut one = web();
    let mut several: Vec<Web> = (0..judges).map(|_| web()).collect();
    let (mut differ, mut kinds) = (0, BTreeSet::new());
    for _ in 0..pages {
        let (url, body) = draw(&mut random);
        let owner = url.as_bytes()[8] as usize % judges;
        let proposal = several[owner].propose(&url, &body);
        let alone = one.show(&url, &body).judgement;
        // A judge follows all pages before its own, and sometimes it is opened again.
        several[owner].follow(std::mem::take(&mut groups[owner]));
        if random.u8(..32) == 0 {
            several[owner].reopen();
        }
        several[owner].order = one.order - 1;
        let together = several[owner].show(&url, &body).judgement;
        differ += usize::from(alone != together);
        kinds.insert(alone.verdict.is_duplicate());
        let others = groups.iter_mut().enumerate().filter(|(at, _)| *at != owner && follow);
        for (_, group) in others {
            group.extend(proposal.clone().map(|proposal| (one.order, proposal)));
        }
    }
    if follow {
        for (web, group) in several.iter_mut().zip(groups) {
            web.follow(group);
        }
        let want = state(&one);
        assert!(several.iter().all(|web| state(web) == want), "all judges have the state of one");
        assert!(want.len() > 20, "{} entries", want.len());
    }
    (differ, kinds.len())
}

#[test]
fn judges_that_follow_each_other_judge_as_one() {
    for judges in [2, 3, 5] {
        for seed in 0..4 {
            assert_eq!(differing(judges, true, 400, seed), (0, 2), "{judges} judges, seed {seed}");
        }
    }
}

/// Catches a judge that does not hear which links the other process knew: it takes the second visit for a change.
#[test]
fn judges_agree_about_known_links_on_a_page_of_links() {
    let entry = |number: u64| format!("<li><a href='/item/{number}'>{}</a></li>", words(number, 7).join(" "));
    let index = |from: u64| {
        let entries: String = (100..120).chain(from..from + 5).map(entry).collect();
        format!("<h1>All pages</h1><ul>{entries}</ul>")
    };
    for knows in [true, false] {
        let (mut one, mut other) = (web(), web());
        for from in [1, 11] {
            one.has_met_all = knows && from > 1;
            let proposal = one.propose("http://a.test/", &index(from)).unwrap();
            let verdict = one.show("http://a.test/", &index(from)).judgement.verdict;
            assert_eq!(matches!(verdict, Verdict::Unchanged { .. }), knows && from > 1);
            other.follow(vec![(one.order, proposal)]);
        }
        assert_eq!(state(&one), state(&other));
    }
}

#[test]
fn judges_that_do_not_follow_each_other_miss_copies() {
    assert!(differing(3, false, 400, 0).0 > 20);
}

/// Two judges: the second one has followed this many pages of the first, as one group.
fn followed(pages: u64) -> (Web, Web) {
    let (mut one, mut other) = (web(), web());
    let mut group = Vec::new();
    for number in 1..=pages {
        let (url, body) = page(number);
        group.push((number, one.propose(&url, &body).unwrap()));
        one.show(&url, &body);
    }
    assert_eq!(other.follow(group), [], "the judge keeps all of them");
    (one, other)
}

fn page(number: u64) -> (String, String) {
    (format!("http://a.test/{number}"), html(&words(number, 120), &link_list("/#", 0..9)))
}

#[test]
fn pages_of_other_processes_take_few_records_and_are_found_again() {
    let (one, mut other) = followed(300);
    let of = [spaces::DIGESTS, spaces::ACCEPTED, spaces::LINKS].map(|space| other.entries(space));
    assert_eq!(of, [0; 3]);
    let records = other.entries(spaces::FOLLOWED);
    assert!((2..=300 / 10).contains(&records), "{records} records");
    for _ in 0..2 {
        assert_eq!(state(&other), state(&one));
        let id = one.id(&page(200).0, 1);
        let kept = super::followed(id, &other.session).unwrap().unwrap();
        assert_eq!((kept.id(), kept.url.as_str()), (id, "http://a.test/200"));
        assert_eq!(super::followed(one.id("http://a.test/301", 1), &other.session).unwrap(), None);
        other.reopen();
    }
    let (_, body) = page(7);
    assert_eq!(other.verdict("http://b.test/7", &body), Verdict::Exact { of: one.id(&page(7).0, 1) });
    let near = other.verdict("http://b.test/8", &page(8).1.replace("<main>", "<main class=x>"));
    assert_eq!(near.duplicate_of(), Some(one.id(&page(8).0, 1)));
}

#[test]
fn what_a_judge_forgets_of_a_page_that_it_followed_stays_forgotten() {
    let (mut one, mut other) = followed(50);
    // A URL shows something else, and the judge that follows it changes a record that has many pages.
    let (url, _) = page(20);
    let body = html(&words(1_000, 120), &[]);
    let proposal = one.propose(&url, &body).unwrap();
    one.show(&url, &body);
    let alone = other.follow(vec![(51, proposal)]);
    assert_eq!(alone.iter().map(|page| page.id()).collect::<Vec<_>>(), [one.id(&url, 2)]);
    for _ in 0..2 {
        assert_eq!(state(&other), state(&one));
        let mut parted = 0;
        followed::each(&other.session, &mut |_, known, page| {
            assert_eq!(known, Knowledge::All);
            parted += usize::from(page.url == url);
            Ok(())
        })
        .unwrap();
        assert_eq!(parted, 0, "the page is in no group");
        let kept = super::followed(one.id(&url, 1), &other.session).unwrap();
        assert_eq!(kept.map(|page| page.url), Some(url.clone()), "its URL is still known");
        other.reopen();
    }
    assert_eq!(other.verdict("http://b.test/20", &page(20).1), Verdict::Unique);
    assert_eq!(other.verdict("http://b.test/21", &body), Verdict::Exact { of: one.id(&url, 2) });
}

#[test]
fn pages_that_were_followed_move_with_their_hosts() {
    let (one, mut other) = followed(50);
    let site = one.id("http://a.test/", 1).url.site;
    let mut to = Session::new(Box::new(Memory::default()));
    let sites = crate::url::Sites::of_domains([site.domain]);
    assert_eq!(copy(&sites, &other.session, &mut to).unwrap(), 50);
    assert_eq!(entries(&to), state(&one));
    assert_eq!(delete(&sites, &mut other.session).unwrap(), 50);
    assert_eq!(state(&other), State::new());
    other.reopen();
    assert_eq!(other.verdict("http://b.test/20", &page(20).1), Verdict::Unique);
}
