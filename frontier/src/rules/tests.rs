//! The learner on made-up sites: what it learns, what it must not, and how it takes it back.

use dedup_stage::store::Double;

use super::*;
use crate::seen::set_state;

/// A crawl in which everything is known: URLs have their turn, and show a number.
struct Lab {
    store: Double,
    session: Session,
    seen: Seen,
    rules: Rules,
    shown: Map<Row, Content>,
    first: Map<u64, (Row, Url)>,
    withdrawn: Vec<RuleId>,
}

fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) }
}

impl Lab {
    /// A lab in which one in `audits` of the URLs stopped is fetched all the same.
    fn new(audits: u64) -> Self {
        let store = Double::default();
        let session = Session::new(Box::new(store.clone()));
        let rules = Rules::open(keys(), audits, &session).unwrap();
        let (shown, first) = (Map::default(), Map::default());
        Self { store, session, seen: Seen::default(), rules, shown, first, withdrawn: Vec::new() }
    }

    /// The process dies after a commit, and comes back.
    fn restart(&mut self, audits: u64) {
        self.rules.save(&mut self.session);
        self.session.commit().unwrap();
        self.session = Session::new(Box::new(self.store.clone()));
        self.seen = Seen::open(&self.session).unwrap();
        self.rules = Rules::open(keys(), audits, &self.session).unwrap();
    }

    /// The turn of a URL comes, and if it is fetched it shows a number. True if it is fetched.
    fn turn(&mut self, url: &str, shows: u64) -> bool {
        let url = Url::parse(url).unwrap();
        let hash = keys().hash(&url);
        self.seen.insert(hash, &mut self.session);
        let audit = match self.rules.meet(&url, hash, &self.seen, &mut self.session).unwrap() {
            Passage::Fetch => None,
            Passage::Audit(stop) => Some(stop),
            Passage::Stop(stop) => {
                set_state(hash, UrlState::Refused(stop.reason), &mut self.session);
                return false;
            }
        };
        let row = self.shown.len() as Row;
        let twin = self.first.get(&shows).cloned();
        let content = Content { text: shows, row: twin.as_ref().map_or(row, |(row, _)| *row) };
        self.shown.insert(row, content);
        set_state(hash, UrlState::Done { status: 200, row: Some(row) }, &mut self.session);
        let lesson = Lesson {
            url: &url,
            hash,
            content,
            twin: twin.as_ref().map(|(_, url)| url),
            barren: twin.is_some(),
            offspring: 1,
        };
        let (rules, shown, session) = (&mut self.rules, &self.shown, &mut self.session);
        let withdrawn = rules.learn(&lesson, audit.as_ref(), &|row, _| Ok(shown.get(&row).copied()), session);
        self.withdrawn.extend(withdrawn.unwrap());
        self.first.entry(shows).or_insert((row, url));
        true
    }

    fn proven(&self) -> Vec<String> {
        self.rules.iter().filter(|rule| rule.status == Status::Proven).map(Rule::to_string).collect()
    }
}

const NEVER: u64 = u64::MAX;

#[test]
fn an_honest_site_teaches_nothing() {
    let mut lab = Lab::new(NEVER);
    for page in 0..400 {
        assert!(lab.turn(&format!("http://a.test/x?id={page}"), page));
        assert!(lab.turn(&format!("http://a.test/print/{page}"), 1_000 + page));
        assert!(lab.turn(&format!("http://b.test/x?id={page}"), 2_000 + page));
        // A few pages are the same as others, here and there.
        assert!(lab.turn(&format!("http://a.test/{page}/{page}.html"), 5_000 + page % 97));
    }
    assert_eq!(lab.proven(), Vec::<String>::new());
}

#[test]
fn a_parameter_a_folder_and_a_mirror_are_learned_by_whatever_name() {
    let mut lab = Lab::new(NEVER);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
        lab.turn(&format!("http://a.test/frobnicate/x{page}"), page);
        lab.turn(&format!("http://m.test/x{page}"), page);
    }
    let mut proven = lab.proven();
    proven.sort();
    assert_eq!(
        proven,
        [
            "http://a.test/*?zork=* = without zork",
            "http://a.test/frobnicate/* = http://a.test/*",
            "http://m.test/* = http://a.test/*"
        ]
    );
    // One after the other.
    lab.turn("http://a.test/x100", 100);
    assert!(!lab.turn("http://m.test/frobnicate/x100?zork=3", 100));
}

#[test]
fn what_nobody_linked_to_is_not_fetched_and_the_first_spelling_stands_for_it() {
    let mut lab = Lab::new(NEVER);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    // No link to x100 without a parameter.
    assert!(lab.turn("http://a.test/x100?zork=1", 100));
    assert!(!lab.turn("http://a.test/x100?zork=2", 100));
    lab.restart(NEVER);
    assert_eq!(lab.proven().len(), 1);
    assert!(!lab.turn("http://a.test/x100?zork=3", 100), "who stands for a class survives");
    assert!(!lab.turn("http://a.test/x100", 100));
    assert!(lab.turn("http://a.test/x101?zork=3", 101));
}

#[test]
fn what_stands_for_a_class_must_have_been_answered_well() {
    let mut lab = Lab::new(NEVER);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    let gone = keys().hash(&Url::parse("http://a.test/gone").unwrap());
    lab.seen.insert(gone, &mut lab.session);
    set_state(gone, UrlState::Done { status: 404, row: None }, &mut lab.session);
    assert!(lab.turn("http://a.test/gone?zork=1", 500));
}

#[test]
fn two_failed_audits_withdraw_a_rule_for_good() {
    let mut lab = Lab::new(1);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    assert_eq!(lab.proven().len(), 1);
    // From now on the parameter makes a difference.
    for page in 100..104 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        assert!(lab.turn(&format!("http://a.test/x{page}?zork=1"), 1_000 + page));
    }
    assert_eq!((lab.proven().len(), lab.withdrawn.as_slice()), (0, &[0][..]));
    lab.restart(1);
    for page in 200..300 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        assert!(lab.turn(&format!("http://a.test/x{page}?zork=1"), page));
    }
    assert!(lab.proven().is_empty(), "it is not proven again");
}

#[test]
fn a_rule_that_is_wrong_for_one_page_in_five_is_hardly_ever_proven() {
    let mut proven = 0;
    for seed in 0..400u64 {
        let mut lab = Lab::new(NEVER);
        for page in 0..60 {
            let differs = xxh3_64_with_seed(&u64::to_le_bytes(page), seed).is_multiple_of(5);
            lab.turn(&format!("http://a.test/x{page}"), page);
            lab.turn(&format!("http://a.test/x{page}?zork=1"), if differs { 1_000 + page } else { page });
        }
        proven += lab.proven().len();
    }
    assert!(proven <= 3, "{proven} of 400 false rules were proven");
}

#[test]
fn an_endless_calendar_is_a_trap() {
    let mut lab = Lab::new(NEVER);
    let fetched = (0..500).filter(|month| lab.turn(&format!("http://a.test/cal/{}/{}/", month / 12, month % 12), 7));
    assert!(fetched.count() < 90);
    assert_eq!(lab.proven(), ["http://a.test/cal/* = nothing new"]);
}

#[test]
fn one_apology_for_all_proves_nothing() {
    let mut lab = Lab::new(NEVER);
    for page in 0..200 {
        lab.turn(&format!("http://a.test/old/x{page}"), 7);
        lab.turn(&format!("http://a.test/new/x{page}"), 7);
        lab.turn(&format!("http://a.test/new/x{page}?zork=1"), 7);
    }
    assert!(!lab.rules.iter().any(|rule| matches!(rule.cause, Cause::Rewrite(_))), "{:?}", lab.proven());
}

#[test]
fn a_mirror_is_believed_folder_by_folder() {
    let mut lab = Lab::new(NEVER);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/docs/x{page}"), page);
        lab.turn(&format!("http://m.test/docs/x{page}"), page);
    }
    assert_eq!(lab.proven(), ["http://m.test/* = http://a.test/*"]);
    // One more folder that is mirrored: one look is enough.
    for page in 100..110 {
        lab.turn(&format!("http://a.test/more/x{page}"), page);
        assert_eq!(lab.turn(&format!("http://m.test/more/x{page}"), page), page == 100);
    }
    // And one that is not: after two looks nothing of it is lost.
    for page in 200..210 {
        lab.turn(&format!("http://a.test/blog/x{page}"), page);
        assert!(lab.turn(&format!("http://m.test/blog/x{page}"), 1_000 + page));
    }
    assert_eq!((lab.proven().len(), lab.withdrawn.as_slice()), (0, &[0][..]));
}
