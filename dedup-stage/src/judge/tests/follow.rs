//! Several judges, each with its own hosts: their verdicts are those of one, and all of them end with its state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use fastrand::Rng;

use super::*;

/// Everything that a judge keeps.
fn state(web: &Web) -> BTreeMap<(&'static str, Vec<u8>), Vec<u8>> {
    let mut all = BTreeMap::new();
    for space in spaces::JUDGE {
        web.session
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
fn draw(random: &mut Rng) -> (String, String) {
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
    let mut random = Rng::with_seed(seed);
    let mut one = web();
    let mut several: Vec<Web> = (0..judges).map(|_| web()).collect();
    let (mut differ, mut kinds) = (0, BTreeSet::new());
    for _ in 0..pages {
        let (url, body) = draw(&mut random);
        let owner = url.as_bytes()[8] as usize % judges;
        let proposal = several[owner].propose(&url, &body);
        let alone = one.show(&url, &body).judgement;
        several[owner].order = one.order - 1;
        let together = several[owner].show(&url, &body).judgement;
        differ += usize::from(alone != together);
        kinds.insert(alone.verdict.is_duplicate());
        let others = several.iter_mut().enumerate().filter(|(at, _)| *at != owner && follow);
        for (_, other) in others {
            other.order = one.order - 1;
            if let Some(proposal) = &proposal {
                other.follow(proposal);
            }
        }
    }
    if follow {
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

#[test]
fn judges_that_do_not_follow_each_other_miss_copies() {
    assert!(differing(3, false, 400, 0).0 > 20);
}
