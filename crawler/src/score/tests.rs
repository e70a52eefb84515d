//! Programs that answer, answer late, answer nonsense, die, and do not exist.

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn quick() -> Options {
    Options { timeout: Duration::from_secs(20), first_pause: Duration::ZERO, batch: 8, ..Options::default() }
}

fn page(id: u64) -> Page {
    Page { id, url: format!("http://a.test/{id}"), text: "some text".into(), ..Page::default() }
}

/// Submits pages one after another, each after the answer to the one before.
fn one_by_one(scorer: &Scorer, ids: std::ops::Range<u64>) -> Vec<Option<f32>> {
    ids.map(|id| {
        scorer.submit(page(id));
        let scored = scorer.answers().recv_timeout(LONG).expect("each page comes back");
        assert_eq!(scored.id, id);
        scored.score
    })
    .collect()
}

/// A program for `sh`: for each line read, `body` with the page's id in `$id`.
fn program(body: &str) -> String {
    format!("while read -r line; do id=${{line#*:}}; id=${{id%%,*}}; {body}; done")
}

#[test]
fn pages_get_their_scores() {
    let echo = program("echo \"{\\\"score\\\": 0.$id, \\\"id\\\": $id}\"");
    let scorer = Scorer::start(&echo, quick()).unwrap();
    assert_eq!(one_by_one(&scorer, 1..4), [Some(0.1), Some(0.2), Some(0.3)]);
    (4..10).for_each(|id| scorer.submit(page(id)));
    let (mut scored, counts) = scorer.finish();
    scored.sort_by_key(|scored| scored.id);
    assert_eq!(scored.iter().map(|scored| scored.id).collect::<Vec<_>>(), (4..10).collect::<Vec<_>>());
    assert!(scored.iter().all(|scored| scored.score.is_some()));
    assert_eq!(counts, Counts { started: 1, given_up: false });
}

#[test]
fn answers_without_names_are_in_order_and_nonsense_is_none() {
    let scorer = Scorer::start(
        "while read -r line; do echo noise; echo '{\"score\":\"x\"}'; echo '{\"id\":99,\"score\":1}'; echo '{\"score\":7}'; done",
        quick(),
    );
    let scorer = scorer.unwrap();
    assert_eq!(one_by_one(&scorer, 0..3), [Some(1.0); 3], "clamped to 0..1");
    assert_eq!(scorer.finish().1.started, 1);
}

#[test]
fn a_program_that_dies_is_started_again() {
    let scorer = Scorer::start("read -r line && echo '{\"score\":0.5}'", quick()).unwrap();
    let scores = one_by_one(&scorer, 0..6);
    // The child may be found dead before a page is sent or after: that page has no score, the next one has.
    assert!(scores.iter().flatten().count() >= 3, "{scores:?}");
    let (_, counts) = scorer.finish();
    assert!(counts.started >= 3 && !counts.given_up, "{counts:?}");
}

#[test]
fn a_program_that_gives_nothing_is_given_up_and_every_page_comes_back() {
    for (command, timeout) in [
        ("exit 3", LONG),
        ("/no/such/program", LONG),
        // Reads nothing, and says nothing.
        ("exec sleep 600", Duration::from_millis(50)),
        // Reads everything, and says too much.
        ("cat >/dev/null & exec yes", Duration::from_millis(200)),
    ] {
        let scorer = Scorer::start(command, Options { timeout, attempts: 3, ..quick() }).unwrap();
        let large = Page { text: "x".repeat(1 << 20), ..page(0) };
        scorer.submit(large);
        assert_eq!(scorer.answers().recv_timeout(LONG).unwrap(), Scored { id: 0, score: None });
        assert_eq!(one_by_one(&scorer, 1..20), [None; 19], "{command}");
        let (_, counts) = scorer.finish();
        assert_eq!(counts, Counts { started: 3, given_up: true }, "{command}");
    }
}

#[test]
fn pages_that_do_not_fit_come_back_at_once() {
    let options = Options { waiting: 2, batch: 1, timeout: Duration::from_millis(300), attempts: 1, ..quick() };
    let scorer = Scorer::start("exec sleep 600", options).unwrap();
    (0..50).for_each(|id| scorer.submit(page(id)));
    let (mut scored, _) = scorer.finish();
    scored.sort_by_key(|scored| scored.id);
    assert_eq!(scored.iter().map(|scored| scored.id).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
}
