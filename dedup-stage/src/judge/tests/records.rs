//! What the records of accepted pages tell, also those of states that earlier versions wrote.

use std::ops::ControlFlow;

use fastrand::Rng;

use super::follow::draw;
use super::*;
use crate::flow::{Counterpart, Fate, FlowResult};
use crate::judge::entry::Entry;
use crate::judge::owner::Owner;
use crate::store::codec;
use crate::testing::keys;

fn link(url: &str) -> OutLink {
    OutLink::new(Url::parse(url).unwrap(), true, &keys())
}

fn counterparts(result: &FlowResult, urls: &[&str]) -> Vec<Counterpart> {
    let Fate::Hold(held) = &result.fate else { panic!("not held: {:?}", result.fate) };
    urls.iter().map(|url| held.counterpart(&link(url))).collect()
}

#[test]
fn the_record_of_a_near_copys_twin_tells_its_url() {
    let mut web = web();
    let mut text = words(1, 200);
    let links = link_list("/#", 1..=9);
    web.show("http://a.test/first?x=1", &html(&text, &links));
    assert_eq!(web.entries(spaces::LINKS), 0, "links have no record of their own");
    text[100] = "other".into();
    let near = web.show("http://b.test/second", &html(&text, &links));
    assert_eq!(near.url_of_twin(), Some("http://a.test/first?x=1"));
    assert_eq!(web.show("http://c.test/third", &html(&words(2, 200), &links)).url_of_twin(), None);
}

/// A page changes by one word, which is no change of what it says. A copy of the new bytes has another fingerprint than
/// the one under which the page was accepted.
#[test]
fn a_copy_of_later_bytes_is_compared_with_the_links_of_their_page() {
    let mut others = 0;
    for seed in 0..8 {
        let (mut web, mut text) = (web(), words(seed, 600));
        let links = link_list("/#", 1..=9);
        web.show("http://a.test/", &html(&text, &links));
        text[300] = "other".into();
        let later = html(&text, &links);
        assert_eq!(web.verdict("http://a.test/", &later), Verdict::Unchanged { bytes: true, of: None, known: None });
        let prepared = web.prepare("http://a.test/", 200, &later).page.signature.unwrap().simhash;
        others += usize::from(web.shown("http://a.test/").unwrap().simhash != Some(prepared));
        let copy = web.show("http://b.test/", &later);
        assert_eq!(copy.judgement.verdict, Verdict::Exact { of: web.id("http://a.test/", 1) });
        let found = counterparts(&copy, &["http://a.test/5", "http://a.test/10"]);
        assert_eq!(found, [Counterpart::Same, Counterpart::News], "seed {seed}");
    }
    assert!(others > 0, "some fingerprint has changed");
}

/// Writes all records as the formats `crawl-5` and `stage-4` have them.
fn write_as_before(session: &mut Session) {
    let (mut accepted, mut owners) = (Vec::new(), Vec::new());
    for (space, records) in [(spaces::ACCEPTED, &mut accepted), (spaces::DIGESTS, &mut owners)] {
        session
            .scan(space, &[], &[], &mut |key, value| {
                records.push((key.to_vec(), value.to_vec()));
                ControlFlow::Continue(())
            })
            .unwrap();
    }
    for (key, record) in accepted {
        let (entry, links) = Entry::split(&record).unwrap();
        if !links.is_empty() {
            let links: LinkSet = codec::decode(links, "test").unwrap();
            LinkSet { url: None, ..links }.put(entry.id, entry.order, session);
        }
        session.put(spaces::ACCEPTED, key, codec::encode(&entry));
    }
    for (key, record) in owners {
        let Owner { order, id, .. } = Owner::read(&record).unwrap();
        session.put(spaces::DIGESTS, key, codec::encode(&(order, id)));
    }
}

#[test]
fn the_records_of_an_earlier_version_give_the_same_verdicts() {
    for seed in 0..6 {
        let (mut new, mut old) = (web(), web());
        let mut random = Rng::with_seed(seed);
        let mut held = 0;
        for page in 1..=400 {
            let (url, body) = draw(&mut random);
            let [by_new, by_old] = [&mut new, &mut old].map(|web| web.show(&url, &body));
            assert_eq!(by_new.judgement, by_old.judgement, "page {page} of seed {seed}");
            assert_eq!(by_new.shown, by_old.shown);
            if let Fate::Hold(_) = by_new.fate {
                let urls = ["http://h1.test/part/3", "http://h2.test/part/30", "http://h3.test/", "http://x.test/y"];
                assert_eq!(counterparts(&by_new, &urls), counterparts(&by_old, &urls));
                held += 1;
            }
            if page % 40 == 0 {
                write_as_before(&mut old.session);
                old.reopen();
            }
        }
        assert!(old.entries(spaces::LINKS) > 0 && held > 20, "{held} pages are held");
    }
}
