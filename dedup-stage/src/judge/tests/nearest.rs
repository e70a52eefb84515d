//! The twin is the nearest accepted page, and the earliest of several. Checked against a naive search.

use fastrand::Rng;

use super::*;
use crate::page::Page;
use crate::signature::{Signature, Sketch};
use crate::url::UrlId;

const DISTANCE: u32 = 7;

fn judge() -> (Judge, Session) {
    let mut session = Session::new(Box::new(Memory::default()));
    let judge = Judge::open(DISTANCE, crate::testing::keys(), &mut session).unwrap();
    (judge, session)
}

/// A page that consists only of a fingerprint. All sketches are equal, so the second look always finds the same text.
fn candidate(order: u64, url: u64, simhash: u64) -> Candidate {
    let mut sha256 = [0; 32];
    sha256[..8].copy_from_slice(&order.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    let id = PageId { url: UrlId { url, ..UrlId::default() }, visit: 1 };
    let signature = Some(Signature { simhash, sketch: Sketch::from_bytes([7; Sketch::BYTES]) });
    Candidate { order, id, sha256, signature, statement: None, links: LinkSet::default() }
}

fn verdict(judge: &mut Judge, session: &mut Session, candidate: &Candidate) -> Verdict {
    let page =
        Page { is_text: true, sha256: candidate.sha256, signature: candidate.signature.clone(), ..Page::default() };
    let url = Url::parse("http://a.test/").unwrap();
    let (order, id) = (candidate.order, candidate.id);
    let case = Case { order, id, url: &url, before: None, judgeable: true, page: &page, links: &[], ahead: None };
    judge.judge(&case, &|_, _| Ok(None), session).unwrap().verdict
}

/// The verdict of a naive judge that keeps all pages in a list.
fn naive(accepted: &[Candidate], candidate: &Candidate) -> Option<(PageId, u32)> {
    let simhash = |candidate: &Candidate| candidate.signature.as_ref().unwrap().simhash;
    let others = accepted.iter().filter(|other| other.id.url != candidate.id.url);
    others
        .map(|other| ((simhash(other) ^ simhash(candidate)).count_ones(), other.order, other.id))
        .filter(|(distance, ..)| *distance <= DISTANCE)
        .min()
        .map(|(distance, _, id)| (id, distance))
}

/// A page whose fingerprint crowds with others, and whose URL may repeat.
fn random(random: &mut Rng, order: u64) -> Candidate {
    let centre = [0, 0x0123_4567_89AB_CDEF, u64::MAX][random.usize(..3)];
    let flips = (0..random.u32(..10)).fold(centre, |simhash, _| simhash ^ 1 << random.u32(..64));
    candidate(order, random.u64(..40), flips)
}

#[test]
fn verdicts_are_those_of_a_naive_search() {
    let mut rng = Rng::with_seed(1);
    let (mut judge, mut session) = judge();
    let mut accepted: Vec<Candidate> = Vec::new();
    let (mut near, mut ties) = (0, 0);
    for order in 1..=3_000 {
        let candidate = random(&mut rng, order);
        // Some pages were judged elsewhere, where their twin was not known.
        if rng.u8(..4) == 0 {
            judge.accept(&candidate, &mut session).unwrap();
            accepted.push(candidate);
            continue;
        }
        let expected = naive(&accepted, &candidate);
        match (verdict(&mut judge, &mut session, &candidate), expected) {
            (Verdict::Unique, None) => accepted.push(candidate),
            (Verdict::Near { of, distance, .. }, Some((twin, nearest))) => {
                assert_eq!((of, distance), (twin, nearest), "page {order}");
                let simhash = candidate.signature.as_ref().unwrap().simhash;
                let at =
                    |other: &&Candidate| (other.signature.as_ref().unwrap().simhash ^ simhash).count_ones() == nearest;
                near += 1;
                ties += u32::from(accepted.iter().filter(at).count() > 1);
            }
            (verdict, expected) => panic!("{verdict:?}, expected {expected:?}"),
        }
    }
    assert!(near > 1_000 && ties > 500, "{near} near, {ties} ties");
}

#[test]
fn of_two_at_one_distance_the_earlier_is_the_twin_however_they_came() {
    for (first, second) in [(5, 9), (9, 5)] {
        for (a, b) in [(1, 2), (0b11, 0b11), (0, 0)] {
            let (mut judge, mut session) = judge();
            judge.accept(&candidate(first, 1, a), &mut session).unwrap();
            judge.accept(&candidate(second, 2, b), &mut session).unwrap();
            let earlier = if first < second { 1 } else { 2 };
            let verdict = verdict(&mut judge, &mut session, &candidate(20, 3, 0b1000_0000));
            assert_eq!(verdict.duplicate_of().map(|of| of.url.url), Some(earlier), "{a:b} {b:b}");
        }
    }
}

#[test]
fn the_distance_is_a_limit() {
    for (distance, found) in [(DISTANCE, true), (DISTANCE + 1, false)] {
        let (mut judge, mut session) = judge();
        judge.accept(&candidate(1, 1, 0), &mut session).unwrap();
        let verdict = verdict(&mut judge, &mut session, &candidate(2, 2, (1 << distance) - 1));
        assert_eq!(verdict.duplicate_of().is_some(), found, "{distance}");
    }
}

#[test]
fn who_accepts_in_any_order_knows_what_the_first_judge_knows() {
    let mut rng = Rng::with_seed(2);
    let (mut judge_a, mut session_a) = judge();
    let mut all: Vec<Candidate> = Vec::new();
    for order in 1..=400 {
        let mut candidate = random(&mut rng, order);
        candidate.links.links = MinWiseSample::new((0..rng.u32(..4)).map(|_| rng.u32(..)));
        // Some bytes come several times, some pages twice.
        if order % 10 == 0 {
            candidate.sha256 = all[rng.usize(..all.len())].sha256;
        }
        judge_a.accept(&candidate, &mut session_a).unwrap();
        all.push(candidate);
    }
    let (mut judge_b, mut session_b) = judge();
    rng.shuffle(&mut all);
    for candidate in all.iter().chain(&all[..50]) {
        judge_b.accept(candidate, &mut session_b).unwrap();
    }
    for order in 1_000..2_000 {
        let mut asked = random(&mut rng, order);
        if order % 2 == 0 {
            asked.sha256 = all[rng.usize(..all.len())].sha256;
        }
        let page = Page { is_text: true, sha256: asked.sha256, signature: asked.signature.clone(), ..Page::default() };
        let url = Url::parse("http://a.test/").unwrap();
        let case = Case {
            order,
            id: asked.id,
            url: &url,
            before: None,
            judgeable: true,
            page: &page,
            links: &[],
            ahead: None,
        };
        let verdicts = [(&mut judge_a, &mut session_a), (&mut judge_b, &mut session_b)]
            .map(|(judge, session)| judge.judge(&case, &|_, _| Ok(None), session).unwrap());
        assert_eq!(verdicts[0], verdicts[1], "{asked:?}");
    }
}

#[test]
fn a_replaced_page_is_found_as_it_is_now() {
    let (mut judge, mut session) = judge();
    let (old, new) = (candidate(1, 1, 0), candidate(5, 1, u64::MAX));
    judge.accept(&old, &mut session).unwrap();
    let before = Shown {
        visit: 1,
        order: 1,
        sha256: old.sha256,
        simhash: Some(0),
        text: 1,
        odd: None,
        statement: None,
        sketch: None,
        accepted: true,
        of: None,
    };
    judge.replace(&before, &new, &mut session).unwrap();
    assert_eq!(verdict(&mut judge, &mut session, &candidate(9, 2, 0)), Verdict::Unique);
    let found = verdict(&mut judge, &mut session, &candidate(10, 3, u64::MAX));
    assert_eq!(found.duplicate_of(), Some(new.id));
}

#[test]
fn the_candidates_of_some_hosts_make_another_judge_say_the_same() {
    let mut web = web();
    let page = |host: &str, number: u64| (format!("http://{host}.test/{number}"), html(&words(number, 60), &[]));
    let linked = html(&words(99, 60), &link_list("/#", 1..=9));
    for number in 1..=9 {
        let host = if number % 3 == 0 { "b" } else { "a" };
        let (url, body) = page(host, number);
        web.show(&url, &body);
    }
    web.show("http://a.test/list", &linked);
    web.show("http://a.test/short", "<p>short");
    let site = web.id("http://a.test/", 1).url.site;
    let mut other = self::web();
    let mut taken = 0;
    let judge = other.flow.judge_mut();
    web.flow
        .judge()
        .candidates(&web.session, &|wanted| wanted == site, &|page, _| Ok(web.url(page)), &mut |candidate| {
            taken += 1;
            judge.accept(&candidate, &mut other.session)
        })
        .unwrap();
    assert_eq!(taken, 9, "the short page comes twice: with its body, and with its statement");
    for number in 1..=9 {
        let verdict = other.verdict(&format!("http://c.test/{number}"), &page("c", number).1);
        let known = number % 3 != 0;
        assert_eq!(verdict.duplicate_of(), known.then(|| web.id(&page("a", number).0, 1)), "{number}");
    }
    assert!(matches!(other.verdict("http://c.test/short", "<p>short"), Verdict::Exact { .. }));
    assert!(matches!(other.verdict("http://d.test/short", "<p >short"), Verdict::Near { .. }));
    let others = html(&words(99, 60), &link_list("/#", 11..=19));
    assert_eq!(other.verdict("http://c.test/list", &others), Verdict::Unique, "the links travel too");
    let same = linked.replace("<p>", "<p >");
    assert!(matches!(other.verdict("http://d.test/list", &same), Verdict::Near { .. }));
}

/// The glance of a sketch is its first bytes, so only the whole second look tells these texts apart.
#[test]
fn a_page_with_the_fingerprint_of_another_and_other_text_is_unique() {
    let (mut judge, mut session) = judge();
    let first = candidate(1, 1, 0);
    judge.accept(&first, &mut session).unwrap();
    assert!(verdict(&mut judge, &mut session, &candidate(2, 2, 0)).twin().is_some());
    let mut other = candidate(3, 3, 0);
    let mut bytes = [7; Sketch::BYTES];
    bytes[Sketch::GLANCE..2 * Sketch::GLANCE].fill(!7);
    other.signature = Some(Signature { simhash: 0, sketch: Sketch::from_bytes(bytes) });
    assert_eq!(verdict(&mut judge, &mut session, &other), Verdict::Unique);
}
