//! Templates, and how their trials end.

use dedup_stage::store::Memory;
use dedup_stage::url::UrlId;

use super::*;

const SITE: SiteId = SiteId { domain: 1, host: 2 };

struct Lab {
    session: Session,
    news: News,
}

fn lab() -> Lab {
    Lab { session: Session::new(Box::new(Memory::default())), news: News::default() }
}

impl Lab {
    fn meet(&mut self, template: u64) -> NewsDecision {
        self.news.meet(SITE, template, None, &mut self.session).unwrap()
    }

    fn ended(&mut self, template: u64, showed: Showed) -> AfterTrial {
        self.news.ended(SITE, template, showed, &mut self.session).unwrap().0
    }

    /// Fetches whatever may be tried of a template until nothing may; returns how many that were.
    fn run(&mut self, template: u64, showed: Showed, most: u32) -> u32 {
        let mut tried = 0;
        while tried < most && self.meet(template) == NewsDecision::Try {
            tried += 1;
            self.ended(template, showed);
        }
        tried
    }
}

#[test]
fn a_template_that_brings_nothing_is_given_up_after_three_links() {
    let mut lab = lab();
    assert_eq!([lab.meet(5), lab.meet(5), lab.meet(5)], [NewsDecision::Try, NewsDecision::Try, NewsDecision::Hold]);
    assert_eq!(lab.ended(5, Showed::Nothing), AfterTrial::Try);
    assert_eq!(lab.ended(5, Showed::Nothing), AfterTrial::Try);
    assert_eq!(lab.run(5, Showed::Nothing, 100), 1);
    assert_eq!(lab.meet(5), NewsDecision::Hold);
}

#[test]
fn a_template_that_brings_something_is_followed_and_one_in_three_may_fail() {
    let mut lab = lab();
    for n in 0..2 {
        assert_eq!(lab.meet(5), NewsDecision::Try, "{n}");
        assert_eq!(lab.ended(5, Showed::Content), AfterTrial::Try);
    }
    assert_eq!(lab.meet(5), NewsDecision::Try);
    assert_eq!(lab.ended(5, Showed::Content), AfterTrial::Release);
    assert_eq!(lab.meet(5), NewsDecision::Follow);
}

#[test]
fn a_template_is_followed_no_more_where_its_links_bring_nothing() {
    let mut lab = lab();
    lab.run(5, Showed::Content, 3);
    for n in 0..3 {
        assert_eq!(lab.meet(5), NewsDecision::Follow, "{n}");
    }
    lab.ended(5, Showed::Nothing);
    assert_eq!(lab.meet(5), NewsDecision::Follow);
    lab.ended(5, Showed::Nothing);
    assert_ne!(lab.meet(5), NewsDecision::Follow);
}

#[test]
fn words_of_a_stock_are_taken_back_and_contents_are_not() {
    let mut lab = lab();
    assert_eq!((lab.run(5, Showed::Words, 10), lab.run(7, Showed::Content, 10)), (3, 3));
    assert_eq!(lab.meet(5), NewsDecision::Follow);
    lab.ended(5, Showed::Stock);
    assert_ne!(lab.meet(5), NewsDecision::Follow, "three words are taken back, and one trial brought nothing");
    lab.ended(5, Showed::Stock);
    lab.ended(7, Showed::Stock);
    assert_eq!(lab.meet(7), NewsDecision::Follow, "its contents count");
}

#[test]
fn templates_that_only_lead_to_each_other_are_not_followed_for_that() {
    let mut lab = lab();
    lab.run(7, Showed::Links, 3);
    let page = PageId { url: UrlId { site: SITE, url: 9 }, visit: 1 };
    lab.news.answered(page, 5);
    lab.news.meet(SITE, 7, Some(page), &mut lab.session).unwrap();
    assert_eq!(lab.news.showed(page, Some(Brought::Nothing)), Some(Showed::Nothing));
}

#[test]
fn what_all_templates_of_a_host_cost_is_bounded() {
    let mut lab = lab();
    let cost: u32 = (1..1_000).map(|template| lab.run(template, Showed::Nothing, 100)).sum();
    assert!((12..=15).contains(&cost), "{cost}");
}

#[test]
fn what_all_hosts_of_a_domain_cost_is_bounded() {
    let mut lab = lab();
    let mut tried = 0;
    let mut hosts = |lab: &mut Lab, domain, showed| {
        (0..1_000)
            .filter(|_| {
                tried += 1;
                let site = SiteId { domain, host: tried };
                let is_tried = lab.news.meet(site, 5, None, &mut lab.session).unwrap() == NewsDecision::Try;
                if is_tried {
                    lab.news.ended(site, 5, showed, &mut lab.session).unwrap();
                }
                is_tried
            })
            .count()
    };
    assert_eq!(hosts(&mut lab, 1, Showed::Nothing), 240);
    assert_eq!(hosts(&mut lab, 1, Showed::Content), 0, "the domain is given up");
    assert_eq!(hosts(&mut lab, 2, Showed::Content), 1_000, "another domain is not");
    assert_eq!(hosts(&mut lab, 2, Showed::Nothing), 1_000, "each host that brought something allows for three");
}

#[test]
fn what_shows_neither_does_not_go_on_for_ever() {
    let mut lab = lab();
    assert!(lab.run(5, Showed::Neither, 1_000) <= Test::NEITHER + Test::PATIENCE);
}

#[test]
fn a_duplicate_with_links_of_a_followed_template_brings_something() {
    let mut lab = lab();
    lab.run(7, Showed::Content, 3);
    let page = PageId { url: UrlId { site: SITE, url: 9 }, visit: 1 };
    let mut links_of = |templates: &[u64], brought| {
        lab.news.answered(page, 5);
        for template in templates {
            lab.news.meet(SITE, *template, Some(page), &mut lab.session).unwrap();
        }
        lab.news.showed(page, brought)
    };
    for nothing_new in [Brought::Nothing, Brought::Links] {
        assert_eq!(links_of(&[7, 5], Some(nothing_new)), Some(Showed::Links));
        assert_eq!(links_of(&[5], Some(nothing_new)), Some(Showed::Nothing), "its own kind proves nothing");
        assert_eq!(links_of(&[8], Some(nothing_new)), Some(Showed::Neither));
    }
    // Such a page has led to something, whatever becomes of its words.
    for words in [Brought::Words, Brought::WordsOfStock] {
        assert_eq!(links_of(&[7, 5], Some(words)), Some(Showed::Links));
    }
    assert_eq!(links_of(&[8], Some(Brought::Words)), Some(Showed::Words));
    assert_eq!(links_of(&[8], Some(Brought::WordsOfStock)), Some(Showed::Neither));
    assert_eq!(links_of(&[5], Some(Brought::WordsOfStock)), Some(Showed::Stock));
    assert_eq!(links_of(&[], Some(Brought::Content)), Some(Showed::Content));
    assert_eq!(links_of(&[], None), Some(Showed::Neither));
}
