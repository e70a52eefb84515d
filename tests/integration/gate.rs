//! What the gate loses and what it costs, on webs that are made to fool it. The truth about each web is known: a walk
//! that shares no code with the crawler finds everything to which links lead.
//!
//! `cargo test -p tests --test integration gate:: -- --nocapture` prints the numbers.

mod behind;
mod pieces;
mod two_sites;

use std::sync::Arc;

use anyhow::Context;
use crawler::estimate::{LastEstimate, Lost};
use tests::gate::{
    Archives, Branches, Crawled, Dates, Franchise, Honest, Lists, Menus, Parts, Sections, Shape, Site, Tenants, TownAt,
    Trap, run, walk,
};

/// The settings of the gate: the default, and without the rescue at the end.
const DROP: &[(&str, &str)] = &[("dedup.on-duplicate", "drop")];
const STRICT: &[(&str, &str)] = &[("dedup.on-duplicate", "drop"), ("dedup.rescue", "0%")];
const DEMOTE: &[(&str, &str)] = &[("dedup.on-duplicate", "demote")];
const KEEP: &[(&str, &str)] = &[("dedup.on-duplicate", "keep")];

/// The number of fetches that a rescue may cost in a crawl that made `fetches` without it.
fn rescue(fetches: u64) -> u64 {
    (fetches / 20).max(40)
}

fn fetches(crawled: &Crawled) -> u64 {
    crawled.seen.urls.len() as u64
}

/// Crawls an honest site in `keep` and in `drop`, and compares the pages that they found.
fn honest(kind: Honest) -> anyhow::Result<()> {
    for seed in 1..=8 {
        let site = kind.make(seed);
        let truth = walk(&*site);
        let keep = run(&site, KEEP)?;
        assert_eq!(keep.seen.things, truth.things, "{kind:?} {seed}: `keep` finds everything");
        let strict = run(&site, STRICT)?;
        let drop = run(&site, DROP)?;
        let [found, without] = [&drop, &strict].map(|crawled| crawled.seen.things.len());
        println!(
            "{kind:?} {seed}: {} pages bring {} things; drop finds {found} with {} fetches, without rescue {without} with {}",
            truth.pages.len(),
            truth.things.len(),
            fetches(&drop),
            fetches(&strict)
        );
        assert!(found * 100 >= truth.things.len() * 99, "{kind:?} {seed}: {found} of {}", truth.things.len());
    }
    Ok(())
}

/// Catches a gate that takes the pages of a gallery for copies because their words are equal, and drops "Next": the
/// pictures are the content of these pages.
#[test]
fn a_gallery_is_crawled_to_its_last_picture() -> anyhow::Result<()> {
    honest(Honest::Gallery)
}

/// Catches thresholds on words for each link: a page with one entry under 2,000 equal words is a list, too.
#[test]
fn a_list_is_crawled_to_its_last_entry_whatever_stands_above_it() -> anyhow::Result<()> {
    honest(Honest::Pager)
}

/// Catches a gate that throws away what stands in an aside or a footer, and compares only the rest.
#[test]
fn pages_that_differ_only_beside_their_content_are_all_found() -> anyhow::Result<()> {
    honest(Honest::Beside)
}

/// Catches a gate that takes a page for a copy because nearly all its words are equal: a paragraph of a law, or an
/// entry of a list, has few words.
#[test]
fn pages_with_a_few_words_of_their_own_are_all_found() -> anyhow::Result<()> {
    honest(Honest::Plain)
}

/// Catches templates of links that fall apart where no URL shows a number.
#[test]
fn a_list_is_crawled_to_its_last_entry_whatever_its_entries_are_called() -> anyhow::Result<()> {
    honest(Honest::Hidden)
}

/// Catches a month that is taken for the same month of another year, because the links to both are written alike.
#[test]
fn a_calendar_with_events_is_crawled_to_its_last_month() -> anyhow::Result<()> {
    honest(Honest::Months)
}

/// Catches a gate that takes everything to which equal lists lead for copies, and a rescue that never reaches it. (If
/// only one page in ten differs, a sample of 40 may miss it. The estimate says so.)
#[test]
fn what_equal_lists_lead_to_is_found_where_it_is_something_else() -> anyhow::Result<()> {
    let mut bad = Vec::new();
    for shape in [Shape::Tree, Shape::Chain] {
        for parts in [Parts::Domain, Parts::Domains, Parts::Folders] {
            for (seed, own) in (1..).zip([50, 75, 100]) {
                let site: Arc<dyn Site> = Arc::new(Lists::draw(seed, shape, parts, own));
                let truth = walk(&*site);
                let crawled = run(&site, DROP)?;
                let (found, all) = (crawled.seen.things.len(), truth.things.len());
                let strict = fetches(&run(&site, STRICT)?);
                let name = format!("{shape:?}, {parts:?}, {own} % own");
                println!(
                    "{name}: {found} of {all} things with {} fetches of {}; {strict} without rescue; complete: {}",
                    fetches(&crawled),
                    truth.pages.len(),
                    crawled.stats.complete
                );
                if found * 100 < all * 99 {
                    bad.push(format!("{name}: {found} of {all}, complete: {}", crawled.stats.complete));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    Ok(())
}

/// Catches a sample that is drawn from a lot as a whole: in most crawls it misses the one chapter in 40 that was
/// translated. Also catches a rescue that fetches all copies because of that chapter.
#[test]
fn a_chapter_that_says_something_else_is_found_in_a_copied_manual() -> anyhow::Result<()> {
    let (mut bad, mut dear) = (Vec::new(), Vec::new());
    for parts in [Parts::Domain, Parts::Domains, Parts::Folders] {
        for (seed, [chapters, pages, own]) in (1..).zip([[40, 25, 1], [25, 40, 1], [50, 30, 2]]) {
            let site: Arc<dyn Site> = Arc::new(Sections::draw(seed, parts, chapters, pages, own));
            let truth = walk(&*site);
            let (crawled, strict) = (run(&site, DROP)?, fetches(&run(&site, STRICT)?));
            let (found, all, made) = (crawled.seen.things.len(), truth.things.len(), fetches(&crawled));
            let name = format!("{parts:?}, {own} of {chapters} chapters with {pages} pages");
            println!(
                "{name}: {found} of {all} things with {made} fetches of {}; {strict} without rescue",
                truth.pages.len()
            );
            let told = format!("{name}: {found} of {all}, {made} fetches, {strict} without rescue");
            if found * 100 < all * 99 {
                bad.push(told.clone());
            }
            if made > strict + rescue(strict) + own * pages {
                dear.push(told);
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    // If one of the first two URLs of a lot that are tried is new, the whole lot falls. This happens in one crawl in
    // twenty.
    assert!(dear.len() <= 3, "{dear:#?}");
    Ok(())
}

/// Catches an estimate that counts only URLs that were found. Of two archives with the same front page, most of the
/// second one lies behind URLs that are held.
#[test]
fn the_estimate_counts_what_lies_behind_held_urls() -> anyhow::Result<()> {
    for seed in 1..=4 {
        let web = Archives::draw(seed, 2_000, 200);
        let site: Arc<dyn Site> = Arc::new(web.clone());
        let crawled = run(&site, DROP)?;
        let missed = web.own(1).difference(&crawled.seen.things).count();
        let told = crawled.lost.expect("a crawl that has ended has an estimate");
        println!("{seed}: {missed} of 200 own articles lost, {told:?}, {} fetches", fetches(&crawled));
        let missed = missed as f64;
        assert!(told.low <= missed && missed <= told.high, "{seed}: {missed} lost, {told:?}");
    }
    Ok(())
}

/// Catches a rescue that learns nothing from one menu about the next one, because each has its own folder, word or
/// host; and a budget of duplicates that no trial can lift.
#[test]
fn what_equal_menus_lead_to_is_found_whatever_they_are_called() -> anyhow::Result<()> {
    for kind in Menus::ALL {
        for seed in 1..=3 {
            let site: Arc<dyn Site> = Arc::new(Menus::draw(seed, kind));
            let (truth, crawled) = (walk(&*site), run(&site, &[DROP, &[("scope.scope", "any")]].concat())?);
            let (found, all) = (crawled.seen.things.len(), truth.things.len());
            println!(
                "{kind:?} {seed}: {found} of {all} things with {} fetches of {}",
                fetches(&crawled),
                truth.pages.len()
            );
            assert!(found * 100 >= all * 99, "{kind:?} {seed}: {found} of {all}, complete: {}", crawled.stats.complete);
        }
    }
    Ok(())
}

/// Catches a rescue that tries pages which lead nowhere while others lead to pages that were never found.
#[test]
fn what_only_one_of_many_equal_pages_leads_to_is_found() -> anyhow::Result<()> {
    let mut lost = Vec::new();
    for seed in 1..=8 {
        let site: Arc<dyn Site> = Arc::new(Branches::draw(seed));
        let (truth, crawled) = (walk(&*site), run(&site, &[DROP, &[("scope.scope", "host")]].concat())?);
        let (found, all) = (crawled.seen.things.len(), truth.things.len());
        let told =
            format!("{seed}: {found} of {all} things with {} fetches of {}", fetches(&crawled), truth.pages.len());
        println!("{told}");
        if found * 100 < all * 99 {
            lost.push(told);
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    Ok(())
}

/// Catches a gate that loses the older parts of boards, and the later parts of threads to which only these lead.
#[test]
fn boards_are_crawled_to_their_oldest_thread() -> anyhow::Result<()> {
    honest(Honest::Threads)
}

/// Catches a judge that takes pages without words for one page.
#[test]
fn pages_without_a_word_are_crawled_to_the_last() -> anyhow::Result<()> {
    honest(Honest::Images)
}

/// Catches a gate that takes inner pages of a directory for copies: their only content is their links.
#[test]
fn a_directory_is_crawled_to_its_last_article() -> anyhow::Result<()> {
    honest(Honest::Directory)
}

/// Catches trials that learn nothing from pages with too little text for a fingerprint.
#[test]
fn a_directory_of_short_notes_or_pictures_is_crawled_to_its_last_page() -> anyhow::Result<()> {
    honest(Honest::ShortPages)
}

/// Catches trials for which a page brings nothing if it leads only to sites out of the scope.
#[test]
fn a_directory_of_other_sites_is_crawled_to_its_last_page() -> anyhow::Result<()> {
    honest(Honest::Elsewhere)
}

/// Catches a gate that takes the short pages and pictures of a second site for copies, because its lists are equal to
/// those of the first and their counterparts were answered.
#[test]
fn short_pages_and_pictures_behind_equal_lists_are_found() -> anyhow::Result<()> {
    for (seed, words) in (1..).zip([0, 4, 12, 19]) {
        for parts in [Parts::Domain, Parts::Domains, Parts::Folders] {
            let lists = Lists::draw(seed, Shape::Tree, parts, 50).with_leaves_of(words);
            let site: Arc<dyn Site> = Arc::new(lists);
            let truth = walk(&*site);
            let crawled = run(&site, DROP)?;
            let (found, all) = (crawled.seen.things.len(), truth.things.len());
            println!("{parts:?}, {words} words: {found} of {all} things with {} fetches", fetches(&crawled));
            assert!(found * 100 >= all * 99, "{parts:?}, {words} words: {found} of {all}");
        }
    }
    Ok(())
}

/// Catches a gate that loses products to which only products lead, because these differ only in a picture and some
/// words.
#[test]
fn a_shop_is_crawled_to_the_products_that_no_list_shows() -> anyhow::Result<()> {
    honest(Honest::Shop)
}

/// Catches an estimate that says nothing about the pages behind the end of a chain that was given up.
#[test]
fn the_end_of_a_chain_that_was_given_up_is_told() -> anyhow::Result<()> {
    for pages in [20, 70, 90, 200] {
        let site: Arc<dyn Site> = Arc::new(Dates::draw(pages, pages));
        let truth = walk(&*site);
        let Crawled { seen, stats, lost, .. } = run(&site, DROP)?;
        let missed = (truth.things.len() - seen.things.len()) as f64;
        let lost = stats.lost(lost.map(|lost| LastEstimate { lost, held_back: stats.held + stats.stopped }));
        let Lost { low, high, .. } = lost.context("an estimate")?;
        println!("{pages} pages: {missed} missed; {low:.0} to {high:.0}, {} open ends", stats.open_ends);
        assert_eq!(stats.open_ends, u64::from(missed > 0.0), "{pages} pages");
        assert_eq!(stats.complete, missed == 0.0, "{pages} pages");
        assert!(low <= missed && missed <= high, "{pages} pages: {missed} missed, {low} to {high}");
    }
    Ok(())
}

/// The number of fetches in `drop`, with `dedup.audits = false`, at commit cc3b1d4, for the seeds 1 to 4. (At that
/// commit, links were not yet held for counterparts, and there were no trials.) Measured with this test at that commit;
/// 5,000 is its limit.
const BEFORE: [(Trap, [u64; 4]); 8] = [
    (Trap::Calendar, [70, 102, 135, 82]),
    (Trap::Sessions, [143, 185, 210, 158]),
    (Trap::Facets, [106, 196, 313, 171]),
    (Trap::SoftMissing, [96, 5_000, 5_000, 5_000]),
    (Trap::Growing, [95, 120, 108, 105]),
    (Trap::Logins, [5_000, 195, 5_000, 5_000]),
    (Trap::RandomImages, [79, 118, 147, 5_000]),
    (Trap::Ads, [113, 142, 98, 166]),
];

/// Catches trials, verdicts `unique` by links or by pictures, and rescues that a trap can exploit. Each trap must cost
/// no more than it did before these existed, and the honest part beside it must be found.
#[test]
fn traps_cost_what_they_cost_before() -> anyhow::Result<()> {
    let limit = ("limits.max-pages", "5000");
    let mut dear = Vec::new();
    for (trap, before) in BEFORE {
        for (seed, before) in (1..).zip(before) {
            let site = trap.make(seed);
            let strict = run(&site, &[STRICT, &[limit]].concat())?;
            let drop = run(&site, &[DROP, &[limit]].concat())?;
            let (made, with) = (fetches(&strict), fetches(&drop));
            println!(
                "{trap:?} {seed}: {made} fetches, {with} with rescue; {before} before; {}",
                strict.seen.things.len()
            );
            let most = before + before / 10 + 20;
            if made > most || with > most + rescue(most) {
                dear.push(format!("{trap:?} {seed}: {made} fetches, {with} with rescue; before {before}"));
            }
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
    Ok(())
}

/// Catches a crawl that takes each saying for a text of its own: a few words beside a long text may be a paragraph of a
/// law, or one of a stock of sayings.
#[test]
fn equal_pages_with_a_saying_from_a_stock_end() -> anyhow::Result<()> {
    for seed in 1..=6 {
        let site = Trap::Sayings.make(seed);
        let drop = run(&site, &[DROP, &[("limits.max-pages", "5000")]].concat())?;
        let (found, made) = (drop.seen.things.len() as u64, fetches(&drop));
        println!("{seed}: {made} fetches for {found} articles");
        // How soon a stock is recognised depends on the order in which pages arrive. 40 crawls of each site made 40 to
        // 220 fetches beside the articles. A crawl that recognises none makes all 5,000.
        assert!(found >= 60 && made <= found + 400, "{seed}: {made} fetches for {found} articles");
    }
    Ok(())
}

/// Catches a rescue that judges all pages of a family by its copies, although those of one kind lead to new pages.
#[test]
fn the_blogs_that_have_articles_are_found_among_many_equal_hosts() -> anyhow::Result<()> {
    for (seed, writers, articles) in [(1, 50, 28), (2, 50, 12), (3, 45, 28)] {
        let site: Arc<dyn Site> = Arc::new(Tenants::draw(seed, 218, writers, articles));
        let (truth, drop) = (walk(&*site), run(&site, &[DROP, &[("scope.scope", "any")]].concat())?);
        let (found, all) = (drop.seen.things.len(), truth.things.len());
        println!("{writers} % write {articles} articles: {found} of {all} found with {} fetches", fetches(&drop));
        assert!(found * 100 >= all * 99, "{writers} % write {articles} articles: {found} of {all}");
    }
    Ok(())
}

/// Catches words of its own that count only where a page is tried as one of a template. The pages behind equal pages
/// are held for the pages of the first town, and only the rescue tries them.
#[test]
fn a_few_own_words_behind_equal_pages_are_found() -> anyhow::Result<()> {
    use TownAt::{Folder, SubDomain, Tree};
    for (seed, place, towns, words) in [
        (1, Folder, 60, (200, 8)),
        (2, Folder, 20, (150, 6)),
        (3, Folder, 40, (600, 12)),
        (4, SubDomain, 40, (200, 8)),
        (5, Tree, 64, (200, 10)),
    ] {
        let site: Arc<dyn Site> = Arc::new(Franchise::draw(seed, place, towns, words));
        let (truth, drop) = (walk(&*site), run(&site, &[DROP, &[("scope.scope", "domain")]].concat())?);
        let (found, all) = (drop.seen.things.len(), truth.things.len());
        println!("{place:?}, {towns} towns, {words:?} words: {found} of {all} found with {} fetches", fetches(&drop));
        assert!(found * 100 >= all * 99, "{place:?}, {words:?} words: {found} of {all}");
    }
    Ok(())
}
