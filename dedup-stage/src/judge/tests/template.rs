//! What changes in the same way on several pages of a host.

use super::*;

/// A page of `own` words, with a footer that no element marks as a footer.
fn with_footer(own: &[String], footer: &[String]) -> String {
    format!("<main><p>{}</p></main><p>{}</p>", own.join(" "), footer.join(" "))
}

#[test]
fn a_new_template_changes_one_page_and_not_all() {
    let mut web = web();
    let footers = [100, 101, 102].map(|seed| words(seed, 60));
    let own = |page: u64, at: usize| words(if page == 7 && at == 2 { 50 } else { page }, 200);
    let url = |page: u64| format!("http://a.test/{page}");
    let mut changed = Vec::new();
    for (at, footer) in footers.iter().enumerate() {
        for page in 0..20 {
            let verdict = web.verdict(&url(page), &with_footer(&own(page, at), footer));
            if at > 0 && !matches!(verdict, Verdict::Unchanged { bytes: true, .. }) {
                changed.push((at, page));
            }
        }
    }
    assert_eq!(changed, [(1, 0), (2, 0), (2, 7)], "the first page of each template, and one that says something else");
    assert_eq!(web.entries(spaces::TEMPLATES), 1);
    // The same bytes are unchanged. A page of another host with its own text is unique, even under a known footer.
    let last = with_footer(&own(3, 2), &footers[2]);
    assert_eq!(web.verdict(&url(3), &last), Verdict::Unchanged { bytes: false, of: None, known: None });
    assert_eq!(web.verdict("http://b.test/3", &with_footer(&words(60, 200), &footers[0])), Verdict::Unique);
}

/// Catches a footer that changes all pages at once because it is longer than they are. Also catches a page that says
/// something else at the same visit.
#[test]
fn a_new_template_that_is_longer_than_the_pages_changes_one_page() {
    let mut web = web();
    let footers = [100, 101, 102].map(|seed| words(seed, 40));
    let url = |page: u64| format!("http://a.test/{page}");
    let mut changed = Vec::new();
    for (at, footer) in footers.iter().enumerate() {
        for page in 0..20 {
            let own = [words(page, 8), words(if page == 7 && at == 2 { 50 } else { 30 + page }, 8)].concat();
            if !matches!(web.verdict(&url(page), &with_footer(&own, footer)), Verdict::Unchanged { .. }) && at > 0 {
                changed.push((at, page));
            }
        }
    }
    assert_eq!(changed, [(1, 0), (2, 0), (2, 7)], "the first page of each template, and one that says something else");
    let known = words(100, 60);
    web.show(&url(20), &with_footer(&known, &[]));
    assert_eq!(web.verdict(&url(20), &with_footer(&words(101, 60), &[])), Verdict::Unique, "nothing of it is left");
}

/// Catches differences without a direction: a text that one page loses, and another page gets, would be a template of
/// both.
#[test]
fn pages_that_swap_their_texts_and_a_paragraph_that_moves_are_changes() {
    let mut web = web();
    for count in [60, 300, 900] {
        let text = |seed| html(&words(count as u64 * 10 + seed, count), &[]);
        let [one, other] = [1, 2].map(|page| format!("http://swap.test/{count}/{page}"));
        web.show(&one, &text(1));
        web.show(&other, &text(2));
        assert_eq!(web.verdict(&one, &text(2)).name(), "exact", "the other one still shows it");
        assert_eq!(web.verdict(&other, &text(1)), Verdict::Unique, "{count} words");
    }
    let paragraph = words(999, 60);
    let page = |seed, has: bool| [words(seed, 300), if has { paragraph.clone() } else { Vec::new() }].concat();
    let [from, to] = ["http://move.test/upcoming", "http://move.test/past"];
    web.show(from, &html(&page(71, true), &[]));
    web.show(to, &html(&page(72, false), &[]));
    assert_eq!(web.verdict(from, &html(&page(71, false), &[])), Verdict::Unique);
    assert_eq!(web.verdict(to, &html(&page(72, true), &[])), Verdict::Unique);
}

#[test]
fn texts_that_take_turns_on_all_pages_are_a_template() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(5);
    let texts: Vec<Vec<String>> = (200..206).map(|seed| words(seed, 25)).collect();
    let (mut changed, mut visits) = (0, 0);
    for visit in 0..30 {
        for page in 0..20 {
            let html = with_footer(&words(page, 200), &texts[random.usize(..6)]);
            let verdict = web.verdict(&format!("http://a.test/{page}"), &html);
            if visit > 0 {
                visits += 1;
                changed += usize::from(!matches!(verdict, Verdict::Unchanged { .. }));
            }
        }
    }
    assert!(changed <= visits / 50, "{changed} of {visits}");
}

/// Catches a memory in which the changes of single pages take the place of the texts that take turns on all of them.
#[test]
fn pages_that_change_by_themselves_do_not_hide_texts_that_take_turns() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(6);
    let texts: Vec<Vec<String>> = (200..220).map(|seed| words(seed, 25)).collect();
    let mut own: Vec<u64> = (0..60).collect();
    let (mut changed, mut visits) = (0, 0);
    for visit in 0..30 {
        for (page, own) in own.iter_mut().enumerate() {
            let is_equal = visit == 0 || random.usize(..10) > 0;
            *own += if is_equal { 0 } else { 1_000 };
            let words = [words(page as u64, 160), words(10_000 + *own, 30)].concat();
            let html = with_footer(&words, &texts[random.usize(..20)]);
            let verdict = web.verdict(&format!("http://a.test/{page}"), &html);
            if visit > 0 && is_equal {
                visits += 1;
                changed += usize::from(!matches!(verdict, Verdict::Unchanged { .. }));
            }
        }
    }
    assert!(changed <= visits / 12, "{changed} of {visits}");
}

#[test]
fn what_a_page_alone_changes_and_takes_back_is_a_change_each_time() {
    let mut web = web();
    let texts = [words(1, 100), words(2, 100)].map(|text| html(&text, &[]));
    web.show("http://a.test/", &texts[0]);
    for at in 1..6 {
        assert_eq!(web.verdict("http://a.test/", &texts[at % 2]), Verdict::Unique, "visit {at}");
    }
}

#[test]
fn copies_that_change_alike_are_no_template() {
    let mut web = web();
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];
    for version in 1..4 {
        for (at, url) in urls.iter().enumerate() {
            let verdict = web.verdict(url, &html(&words(version, 100), &[]));
            match (version, at) {
                (_, 0) => assert_eq!(verdict, Verdict::Unique, "{version}"),
                _ => assert!(matches!(verdict, Verdict::Exact { .. }), "{version}, {url}: {verdict:?}"),
            }
        }
    }
}

/// Catches copies that count as changed whenever the advertisement of their site is another one.
#[test]
fn a_copy_with_a_new_template_has_not_changed_and_one_that_follows_its_twin_has() {
    let mut web = web();
    let footers = [100, 101].map(|seed| words(seed, 40));
    let page = |own: u64, at: usize| with_footer(&words(own, 300), &footers[at]);
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"];
    for (own, url) in urls.iter().enumerate() {
        web.show(url, &page(own as u64, 0));
    }
    let copy = "http://a.test/copy/1";
    assert!(web.verdict(copy, &page(0, 0)).duplicate_of().is_some());
    for (own, url) in urls.iter().enumerate() {
        web.show(url, &page(own as u64, 1));
    }
    let verdict = web.verdict(copy, &page(0, 1));
    assert!(matches!(verdict, Verdict::Unchanged { of: Some(_), .. }), "{verdict:?}");
    web.show(urls[0], &page(10, 1));
    let verdict = web.verdict(copy, &page(10, 1));
    assert!(verdict.duplicate_of().is_some() && !matches!(verdict, Verdict::Unchanged { .. }), "{verdict:?}");
    // It is the same where the twin keeps most of its text.
    let edited = with_footer(&[&words(10, 300)[..240], &words(20, 60)[..]].concat(), &footers[1]);
    web.show(urls[0], &edited);
    assert!(
        !matches!(web.verdict(copy, &edited), Verdict::Unchanged { .. }),
        "a change that two pages share, both copies"
    );
}

/// Catches an article whose change is taken for a template, because the front page shows the beginning of the article.
#[test]
fn the_lead_of_an_article_that_stands_on_the_front_page_too_is_no_template() {
    for front_first in [true, false] {
        let mut web = web();
        let lead = |version: u64| words(100 + version, 60);
        let front = |version| html(&[lead(version), words(1, 200)].concat(), &link_list("/news/#", 1..=5));
        let article = |version| html(&[lead(version), words(2, 300)].concat(), &link_list("/about/#", 1..=2));
        let (home, news) = ("http://a.test/", "http://a.test/news/3");
        web.show(home, &front(0));
        web.show(news, &article(0));
        for version in 1..4 {
            let order = if front_first { [home, news] } else { [news, home] };
            for url in order {
                let page = if url == home { front(version) } else { article(version) };
                assert_eq!(web.verdict(url, &page), Verdict::Unique, "{url}, version {version}");
            }
        }
    }
}

/// All pages link to one page in their contents, and it links to all of them.
#[test]
fn a_new_template_of_pages_that_an_index_lists_changes_two_pages() {
    let mut web = web();
    let footers = [100, 101, 102].map(|seed| words(seed, 60));
    let url = |page: u64| if page == 0 { "http://a.test/".to_owned() } else { format!("http://a.test/p/{page}") };
    let mut changed = Vec::new();
    for (at, footer) in footers.iter().enumerate() {
        for page in 0..40 {
            let links = if page == 0 { link_list("/p/#", 1..=39) } else { vec!["/".to_owned()] };
            let page_with_footer = format!("{}<p>{}</p>", html(&words(page, 200), &links), footer.join(" "));
            let verdict = web.verdict(&url(page), &page_with_footer);
            if at > 0 && !matches!(verdict, Verdict::Unchanged { .. }) {
                changed.push((at, page));
            }
        }
    }
    assert_eq!(changed, [(1, 0), (1, 1), (2, 0), (2, 1)]);
}

/// Catches a memory of pairs of texts: twenty texts that take turns make 380 pairs. It also catches a page whose own
/// paragraph changes while the text beside it takes its turn.
#[test]
fn texts_of_any_length_that_take_turns_within_a_page_are_no_change_of_it() {
    let mut web = web();
    let mut random = fastrand::Rng::with_seed(7);
    let texts: Vec<Vec<String>> = (200..220).map(|seed| words(seed, 10 + 50 * (seed as usize - 200) / 19)).collect();
    let mut own: Vec<u64> = (0..60).collect();
    let (mut changed, mut visits, mut found, mut changes) = (0, 0, 0, 0);
    for visit in 0..15 {
        for (page, own) in own.iter_mut().enumerate() {
            let is_equal = visit == 0 || random.usize(..10) > 0;
            *own += if is_equal { 0 } else { 1_000 };
            let paragraphs = [
                &words(page as u64, 160),
                &texts[random.usize(..20)],
                &words(10_000 + *own, 30),
                &words(900 + page as u64, 90),
            ];
            let html: String = paragraphs.iter().map(|words| format!("<p>{}</p>", words.join(" "))).collect();
            let verdict = web.verdict(&format!("http://a.test/{page}"), &html);
            let is_changed = !matches!(verdict, Verdict::Unchanged { .. });
            match is_equal {
                true if visit > 0 => (visits, changed) = (visits + 1, changed + usize::from(is_changed)),
                true => {}
                false => (changes, found) = (changes + 1, found + usize::from(is_changed)),
            }
        }
    }
    assert!(changed <= visits / 40, "{changed} of {visits}");
    assert!(found * 100 >= changes * 97, "{found} of {changes}");
}
