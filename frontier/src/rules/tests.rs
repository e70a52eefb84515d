//! The learner on made-up sites: rules that it must learn, rules that it must not learn, and rules that it must
//! withdraw.

use dedup_stage::store::Double;
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};

use super::*;
use crate::folder::folder;
use crate::hold::StandIn;
use crate::reason::Detail;
use crate::reason::SkipReason;
use crate::trial::Stop;
use crate::url::{End, KeptLink, State, Urls, Visit};

/// A made-up crawl: the turn of each URL comes when the test says so, and each page shows a number.
struct Lab {
    store: Double,
    session: Session,
    urls: Urls,
    rules: Rules,
    shown: Map<PageId, Content>,
    first: Map<u64, Url>,
    withdrawn: Vec<RuleId>,
    unlike: Vec<Unlike>,
    /// Whether each URL that rules stop is fetched as a trial.
    tries: bool,
}

fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) }
}

fn id(url: &str) -> UrlId {
    keys().id(&Url::parse(url).unwrap())
}

const QUEUED: State = State::Queued { before: None };

impl Lab {
    fn new(tries: bool) -> Self {
        let store = Double::default();
        let session = Session::new(Box::new(store.clone()));
        let rules = Rules::open(keys(), &session).unwrap();
        let (shown, first, urls) = (Map::default(), Map::default(), Urls::default());
        Self { store, session, urls, rules, shown, first, withdrawn: Vec::new(), unlike: Vec::new(), tries }
    }

    /// The process ends after a commit, and starts again.
    fn restart(&mut self) {
        self.rules.save(&mut self.session);
        self.session.commit().unwrap();
        self.session = Session::new(Box::new(self.store.clone()));
        self.urls = Urls::default();
        self.urls.open(&self.session).unwrap();
        self.rules = Rules::open(keys(), &self.session).unwrap();
    }

    fn change(&mut self, id: UrlId, state: State) {
        self.urls.change(id, &state, &mut self.session).unwrap();
    }

    fn done(&mut self, id: UrlId, status: u16) {
        self.change(id, State::Done(Visit { number: 1, end: End::Answered { status } }));
    }

    /// The turn of a URL comes. If it is fetched, its page shows this number. True if it is fetched.
    fn turn(&mut self, text: &str, shows: u64) -> bool {
        let (url, id) = (Url::parse(text).unwrap(), id(text));
        if self.urls.get(id.url).is_none() {
            self.change(id, QUEUED);
        }
        let mut stop = self.rules.meet(&url, id, &self.urls, &mut self.session).unwrap();
        if let Some((stop, stand_in)) = stop.take_if(|_| !self.tries) {
            assert!(matches!(stand_in, StandIn::Well(_)), "the representative was fetched before");
            self.rules.stopped(&stop, text, id, &mut self.session);
            let Stop { rules, reason, representative } = stop;
            let link = KeptLink { url: text.into(), ..KeptLink::default() };
            self.change(id, State::Stopped { rules, reason, representative, waits: None, link });
            return false;
        }
        let twin = self.first.get(&shows).cloned();
        let of = twin.as_ref().map_or(id, |twin| keys().id(twin));
        let content = Content { text: shows, shows: of.url };
        self.shown.insert(PageId { url: id, visit: 1 }, content);
        self.done(id, 200);
        let lesson = Lesson {
            url: &url,
            id,
            content,
            twin: twin.as_ref(),
            barren: twin.is_some(),
            depth: self.shown.len() as u32,
            offspring: 1,
        };
        let (rules, shown, session, urls) = (&mut self.rules, &self.shown, &mut self.session, &self.urls);
        let shows_of = |page: PageId, _: &Session| Ok(shown.get(&page).copied());
        if let Some((stop, _)) = stop {
            let other = stop.representative.map(|other| shown_at(other, &shows_of, urls, session).unwrap().unwrap());
            let agrees = other.map_or(lesson.barren, |other| other.agrees(content));
            self.withdrawn.extend(rules.tried(&stop, agrees, session));
        }
        self.unlike.extend(rules.learn(&lesson, &shows_of, urls, session).unwrap().unlike);
        self.first.entry(shows).or_insert(url);
        true
    }

    fn proven(&self) -> Vec<String> {
        self.rules.iter().filter(|rule| rule.status == RuleStatus::Proven).map(Rule::to_string).collect()
    }
}

#[test]
fn an_honest_site_teaches_nothing() {
    let mut lab = Lab::new(false);
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
    let mut lab = Lab::new(false);
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
    // Several rewrites are applied, one after the other.
    lab.turn("http://a.test/x100", 100);
    assert!(!lab.turn("http://m.test/frobnicate/x100?zork=3", 100));
}

#[test]
fn what_nobody_linked_to_is_not_fetched_and_the_first_spelling_stands_for_it() {
    let mut lab = Lab::new(false);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    // No page links to x100 without a parameter.
    assert!(lab.turn("http://a.test/x100?zork=1", 100));
    assert!(!lab.turn("http://a.test/x100?zork=2", 100));
    lab.restart();
    assert_eq!(lab.proven().len(), 1);
    assert!(!lab.turn("http://a.test/x100?zork=3", 100), "the representative of a class survives");
    assert!(!lab.turn("http://a.test/x100", 100));
    assert!(lab.turn("http://a.test/x101?zork=3", 101));
}

#[test]
fn what_stands_for_a_class_must_have_been_answered_well() {
    let mut lab = Lab::new(false);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    let gone = id("http://a.test/gone");
    lab.change(gone, QUEUED);
    lab.done(gone, 404);
    assert!(lab.turn("http://a.test/gone?zork=1", 500));
}

#[test]
fn a_representative_that_was_refused_stands_for_nothing() {
    let mut lab = Lab::new(false);
    for page in 0..60 {
        lab.turn(&format!("http://a.test/x{page}"), page);
        lab.turn(&format!("http://a.test/x{page}?zork=1"), page);
    }
    let link = KeptLink { url: "http://a.test/no".into(), ..KeptLink::default() };
    let (reason, detail) = (SkipReason::Robots, Detail::RobotsForbid);
    lab.change(id("http://a.test/no"), State::Refused { reason, detail, link });
    assert!(lab.turn("http://a.test/no?zork=1", 500));
    assert!(!lab.turn("http://a.test/no?zork=2", 500), "the first of the others is the representative now");
}

#[test]
fn two_failed_trials_withdraw_a_rule_for_good() {
    let mut lab = Lab::new(true);
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
    assert_eq!((lab.proven().len(), lab.withdrawn.len()), (0, 1));
    lab.restart();
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
        let mut lab = Lab::new(false);
        for page in 0..60 {
            let differs = xxhash_rust::xxh3::xxh3_64_with_seed(&u64::to_le_bytes(page), seed).is_multiple_of(5);
            lab.turn(&format!("http://a.test/x{page}"), page);
            lab.turn(&format!("http://a.test/x{page}?zork=1"), if differs { 1_000 + page } else { page });
        }
        proven += lab.proven().len();
    }
    assert!(proven <= 3, "{proven} of 400 false rules were proven");
}

/// Would fail if a refuted mirror were forgotten (links would be held for counterparts that are known to differ), or if
/// it spoke against folders in which no pair differed.
#[test]
fn a_refuted_mirror_names_the_folders_that_differ() {
    let mut lab = Lab::new(false);
    for page in 0..20 {
        lab.turn(&format!("http://a.test/same/x{page}"), page);
        lab.turn(&format!("http://b.test/same/x{page}"), page);
        let own = if page % 4 == 0 { 2_000 } else { 1_000 };
        lab.turn(&format!("http://a.test/other/x{page}"), 1_000 + page);
        lab.turn(&format!("http://b.test/other/x{page}"), own + page);
    }
    let (a, b) = (id("http://a.test/").site, id("http://b.test/").site);
    let folder = |path: &str| folder(&Url::parse(&format!("http://a.test{path}")).unwrap());
    let of = |site, other, folder| Unlike { site, other, folder };
    let [differs, agrees] = ["/other/x1", "/same/x1"].map(folder);
    assert!(lab.unlike.contains(&of(a, b, differs)) && lab.unlike.contains(&of(b, a, differs)), "{:?}", lab.unlike);
    assert!(lab.unlike.iter().all(|unlike| unlike.folder != agrees), "{:?}", lab.unlike);
}

#[test]
fn an_endless_calendar_is_a_trap() {
    let mut lab = Lab::new(false);
    let fetched = (0..500).filter(|month| lab.turn(&format!("http://a.test/cal/{}/{}/", month / 12, month % 12), 7));
    assert!(fetched.count() < 90);
    assert_eq!(lab.proven(), ["http://a.test/cal/* = nothing new"]);
}

#[test]
fn one_apology_for_all_proves_nothing() {
    let mut lab = Lab::new(false);
    for page in 0..200 {
        lab.turn(&format!("http://a.test/old/x{page}"), 7);
        lab.turn(&format!("http://a.test/new/x{page}"), 7);
        lab.turn(&format!("http://a.test/new/x{page}?zork=1"), 7);
    }
    assert!(!lab.rules.iter().any(|rule| matches!(rule.statement, Statement::Rewrite(_))), "{:?}", lab.proven());
}
