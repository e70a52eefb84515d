//! Tests of the generator: it is deterministic, its truth is right, copies resemble each other, and other pages do not.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::address::Node;
use super::*;

/// The hyperlinks of a page, found by a search for `href="`. This does not use the parser of the crawler.
fn hrefs(html: &str) -> Vec<String> {
    html.split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|href| href.replace("&amp;", "&"))
        .collect()
}

/// The words between tags, without scripts and styles.
fn words(html: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = &rest[at..];
        let skip = ["style", "script"].into_iter().find(|name| rest[1..].starts_with(name));
        let end = match skip {
            Some(name) => rest.find(&format!("</{name}>")).expect("closed"),
            None => rest.find('>').expect("closed"),
        };
        rest = &rest[end + 1..];
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// The resemblance of two pages: the Jaccard index of their 5-word shingles.
fn resemblance(a: &str, b: &str) -> f64 {
    let shingles = |html: &str| words(html).windows(5).map(<[String]>::to_vec).collect::<BTreeSet<_>>();
    let (a, b) = (shingles(a), shingles(b));
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}

/// All pages that can be reached from the seeds through the HTML, with their answers. Months and the pages behind them
/// are left out.
fn walk(web: &Web) -> BTreeMap<String, Answer> {
    let mut queue: VecDeque<url::Url> = web.seeds().iter().map(|seed| seed.parse().unwrap()).collect();
    let mut pages = BTreeMap::new();
    while let Some(url) = queue.pop_front() {
        let shown = web.shown(url.as_str()).expect("a link of this web");
        if pages.contains_key(url.as_str()) || matches!(shown, Truth::Nothing | Truth::Forbidden) {
            continue;
        }
        let target = &url[url::Position::BeforePath..];
        let answer = web.answer(url.host_str().unwrap(), target).expect("a host of this web");
        queue.extend(answer.location.iter().map(|location| url.join(location).unwrap()));
        queue.extend(hrefs(&answer.body).iter().map(|href| url.join(href).unwrap()));
        pages.insert(url.to_string(), answer);
    }
    pages
}

fn articles(web: &Web, pages: &BTreeMap<String, Answer>) -> BTreeMap<u64, Vec<String>> {
    let mut copies: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for url in pages.keys() {
        if let Some(content) = web.content_id(url) {
            copies.entry(content).or_default().push(url.clone());
        }
    }
    copies
}

#[test]
fn every_page_of_the_plan_is_reachable_and_none_else() {
    for seed in 0..3 {
        for options in [Options::demo(seed), Options::benchmark(seed).with_pages(1_000).on_loopback(7000)] {
            let web = Web::new(options);
            let pages = walk(&web);
            let copies = articles(&web, &pages);
            assert_eq!(copies.len() as u64, web.contents());
            let found: BTreeSet<String> = copies.into_values().flatten().collect();
            assert_eq!(found.len(), web.options().pages, "seed {seed}");
            assert_eq!(found, web.urls().into_iter().collect());
        }
    }
}

#[test]
fn traps_hide_nothing() {
    for seed in 0..2 {
        let web = Web::new(Options::traps(seed));
        let found = walk(&web).keys().filter_map(|url| web.content_id(url)).collect::<BTreeSet<_>>();
        assert_eq!((found.len() as u64, web.contents()), (2_300, 2_300));
        assert_eq!(found.last(), Some(&2_299));
        let (ideal, oracle) = (web.ideal_gate(), web.oracle());
        assert_eq!(ideal.contents, web.contents());
        assert!(oracle.pages < ideal.pages && ideal.pages < 5 * oracle.pages, "{oracle:?} {ideal:?}");
    }
}

#[test]
fn templates_have_words_of_their_own() {
    let web = Web::new(Options::templates(1));
    let site = &web.sites[0];
    let page = |article| web.answer(&web.hosts[0], &site.path(Node::Article(article), None)).unwrap().body;
    let (first, same, other) = (page(1), page(201), page(2));
    assert!(resemblance(&first, &same) > 0.35, "{}", resemblance(&first, &same));
    assert!(resemblance(&first, &other) < 0.1);
    assert_eq!(web.no_gate(u64::MAX), Fetches { pages: 4_000, contents: 4_000 });
}

#[test]
fn a_walk_over_the_plan_meets_what_a_walk_over_the_html_meets() {
    let mut options = Options::demo(5);
    options.features.calendar = false;
    options.features.broken_links = false;
    let web = Web::new(options);
    let html = walk(&web);
    assert_eq!(web.no_gate(u64::MAX), Fetches { pages: html.len() as u64, contents: web.contents() });
}

#[test]
fn copies_resemble_each_other_and_others_do_not() {
    let web = Web::new(Options::benchmark(3).with_pages(600));
    let pages = walk(&web);
    let copies = articles(&web, &pages);
    let mut exact = 0;
    for urls in copies.values() {
        for other in &urls[1..] {
            let value = resemblance(&pages[&urls[0]].body, &pages[other].body);
            assert!(value > 0.85, "{value} {} {other}", urls[0]);
            exact += usize::from(pages[&urls[0]].body == pages[other].body);
        }
    }
    assert!(exact > 40, "{exact}");
    let firsts: Vec<&str> = copies.values().map(|urls| pages[&urls[0]].body.as_str()).collect();
    for pair in firsts.windows(2) {
        let value = resemblance(pair[0], pair[1]);
        assert!(value < 0.1, "{value}");
    }
}

#[test]
fn pages_are_of_the_size_asked_for() {
    let web = Web::benchmark(1);
    let (mut bytes, mut links) = (0, 0);
    for content in 0..300 {
        let site = &web.sites[5];
        let body = web.answer(&web.hosts[5], &site.path(Node::Article(content), None)).unwrap().body;
        bytes += body.len();
        links += hrefs(&body).len();
    }
    assert!((13_000..15_000).contains(&(bytes / 300)), "{} bytes", bytes / 300);
    assert!((20..=23).contains(&(links / 300)), "{} links", links / 300);
}

#[test]
fn the_same_seed_makes_the_same_web() {
    let (a, b, other) = (Web::demo(7), Web::demo(7), Web::demo(8));
    for host in 0..a.hosts.len() {
        assert_eq!(a.answer(&a.hosts[host], "/"), b.answer(&b.hosts[host], "/"));
        assert_ne!(a.answer(&a.hosts[host], "/").unwrap().body, other.answer(&other.hosts[host], "/").unwrap().body);
    }
}

#[test]
fn the_ideal_gate_loses_nothing_and_saves() {
    for seed in 0..3 {
        let web = Web::new(Options::benchmark(seed).with_pages(5_000));
        let (ideal, none) = (web.ideal_gate(), web.no_gate(u64::MAX));
        assert_eq!(ideal.contents, web.contents());
        assert_eq!(none.pages, 5_000);
        assert!(ideal.pages < none.pages * 92 / 100, "{ideal:?}");
        assert!(ideal.pages >= web.oracle().pages);
    }
    let demo = Web::demo(1);
    assert_eq!(demo.ideal_gate().contents, demo.contents());
}

#[test]
fn paths_lead_back_to_their_nodes() {
    let web = Web::demo(2);
    for site in &web.sites {
        for zone in (0..site.zones.len()).map(Some).chain([None]) {
            let range = zone.map_or(0..site.articles, |zone| site.zones[zone].range.clone());
            for article in range {
                let path = site.path(Node::Article(article), zone);
                assert_eq!(site.find(&path), (Node::Article(article), zone), "{path}");
                assert_eq!(site.find(&format!("{path}x")).0, Node::Missing(0), "only the spelling that links use");
            }
        }
    }
}

#[test]
fn word_lists_can_be_permuted_and_told_apart() {
    for list in [words::NOUNS, words::VERBS, words::ADJECTIVES, words::ADVERBS] {
        assert_ne!(list.len() % 17, 0);
    }
    let folders =
        [words::SECTIONS, words::ARCHIVES, words::PRINTS, words::CALENDARS, words::HOPS, words::PRIVATE].concat();
    assert_eq!(folders.iter().collect::<BTreeSet<_>>().len(), folders.len());
}
