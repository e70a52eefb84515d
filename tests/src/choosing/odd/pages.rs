//! The pages of each odd site, as functions of the URL.

use crawler::demo::web::Truth;
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{MANY, Page};

/// This many words that are in no language, different ones for each number.
pub(super) fn prose(number: u64, words: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ke", "lo", "mi", "nu", "ra", "sto", "ve", "wy", "zan", "pel", "dro", "fi", "gu", "hes", "tri"];
    let word = |at: u64| {
        let drawn = xxh3_64_with_seed(&at.to_le_bytes(), number) as usize;
        [0, 4, 8].map(|place| SYLLABLES[(drawn >> place) % 16]).concat()
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

/// The articles to which article `n` links, out of `of` articles: its children in a tree, and one elsewhere.
fn next(n: u64, of: u64) -> impl Iterator<Item = u64> {
    [2 * n + 1, 2 * n + 2, (7 * n + 3) % of].into_iter().filter(move |next| *next < of)
}

fn hex(text: &str) -> String {
    format!("{:08x}", xxh3_64(text.as_bytes()) >> 32)
}

/// The number of an article in a path such as `/a17`; 0 for the folder itself.
fn number(path: &str) -> Option<u64> {
    let name = path.trim_start_matches('/');
    let n = if name.is_empty() {
        0
    } else {
        name.strip_prefix('a')?.strip_suffix(".html").unwrap_or(&name[1..]).parse().ok()?
    };
    (n < MANY).then_some(n)
}

fn path(n: u64) -> String {
    format!("/a{n}")
}

pub(super) fn sessions_in_paths(url: &Url) -> Option<Page> {
    let path_of = url.path().trim_start_matches('/');
    let name = path_of.split_once('/').map_or(path_of, |(_, name)| name);
    let n = number(name)?;
    let links = next(n, MANY).map(|next| format!("/s{}{}", hex(&format!("{url}{next}")), path(next)));
    Some(Page::article(n, links.collect()))
}

pub(super) fn sessions_in_queries(url: &Url) -> Option<Page> {
    let n = number(url.path())?;
    let links = next(n, MANY).map(|next| format!("{}?visit={}", path(next), hex(&format!("{url}{next}"))));
    Some(Page::article(n, links.collect()))
}

pub(super) fn hosts_alike(url: &Url) -> Option<Page> {
    let n = number(url.path())?;
    Some(Page::article(n, next(n, MANY).map(path).collect()))
}

pub(super) fn prints(url: &Url, print: fn(&str) -> String) -> Option<Page> {
    let whole = &url[url::Position::BeforePath..];
    let plain = whole.replace("/print", "").replace("-print.html", "").replace("?view=print", "");
    let n = number(&plain)?;
    let mut links: Vec<String> = next(n, MANY).map(path).collect();
    links.push(print(&path(n)));
    Some(Page::article(n, links))
}

pub(super) fn calendar(url: &Url, queries: bool, words: u64) -> Option<Page> {
    let month = |month: i64| match queries {
        true => format!("/cal?year={}&month={}", 2_000 + month.div_euclid(12), 1 + month.rem_euclid(12)),
        false => format!("/cal/{}/{}/", 2_000 + month.div_euclid(12), 1 + month.rem_euclid(12)),
    };
    let numbers: Vec<i64> =
        url.as_str().split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    if url.path().starts_with("/cal") {
        let now = (numbers.first()? - 2_000) * 12 + numbers.get(1)? - 1;
        let text = format!("Nothing happens in month {} of {}. {}", numbers[1], numbers[0], prose(1 << 40, words));
        let links = vec![month(now - 1), month(now + 1), month(now + 12), "/".into()];
        return Some(Page { shows: Truth::Nothing, text, links });
    }
    let n = number(url.path())?;
    let mut links: Vec<String> = next(n, MANY).map(path).collect();
    links.push(month(300));
    Some(Page::article(n, links))
}

/// A parameter of a URL.
fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

pub(super) fn chosen_by_parameter(url: &Url) -> Option<Page> {
    // There are twelve scripts with twenty contents each.
    if url.path() == "/" {
        let links = (0..12).map(|script| format!("/view{script}.php?id=0")).collect();
        return Some(Page { shows: Truth::List, text: prose(99_999, 60), links });
    }
    let script: u64 = url.path().strip_prefix("/view")?.strip_suffix(".php")?.parse().ok()?;
    let id: u64 = parameter(url, "id")?.parse().ok()?;
    let links = next(id, 20).map(|next| format!("/view{script}.php?id={next}")).collect();
    (script < 12 && id < 20).then(|| Page::article(script * 20 + id, links))
}

pub(super) fn chosen_by_one_of_two(url: &Url) -> Option<Page> {
    let n = if url.path() == "/" { 0 } else { parameter(url, "item")?.parse().ok()? };
    let colours = ["red", "green", "blue"];
    let links = next(n, MANY).flat_map(|next| colours.map(|colour| format!("/show?item={next}&colour={colour}")));
    (n < MANY).then(|| Page::article(n, links.collect()))
}

pub(super) fn languages(url: &Url) -> Option<Page> {
    let (language, rest) = url.path().get(1..)?.split_once('/')?;
    let (n, at) = (number(rest)?, ["en", "de"].iter().position(|known| *known == language)? as u64);
    let mut links: Vec<String> = next(n, MANY).map(|next| format!("/{language}{}", path(next))).collect();
    links.push(format!("/{}{}", ["de", "en"][at as usize], path(n)));
    Some(Page::article(at * MANY + n, links))
}

pub(super) fn languages_in_queries(url: &Url) -> Option<Page> {
    let language = parameter(url, "lang")?;
    let (n, at) = (number(url.path())?, ["en", "de"].iter().position(|known| *known == language)? as u64);
    let mut links: Vec<String> = next(n, MANY).map(|next| format!("{}?lang={language}", path(next))).collect();
    links.push(format!("{}?lang={}", path(n), ["de", "en"][at as usize]));
    Some(Page::article(at * MANY + n, links))
}

pub(super) fn versions(url: &Url) -> Option<Page> {
    let (version, rest) = url.path().get(1..)?.split_once('/')?;
    let (n, new) = (number(rest)?, ["15", "17"].iter().position(|known| *known == version)? > 0);
    let content = if new && n % 3 == 0 { MANY + n / 3 } else { n };
    Some(Page::article(content, next(n, MANY).map(|next| path(next)[1..].to_owned()).collect()))
}

pub(super) fn numbers(url: &Url, write: fn(u64) -> String) -> Option<Page> {
    let n: u64 = match url.path() {
        "/" => 0,
        _ => url.as_str().rsplit(['/', '=']).next()?.parse().ok()?,
    };
    let text = format!("{} Station {n} measured {} and {} degrees.", prose(1 << 41, 120), n * 7 % 61, n * 11 % 53);
    let links = next(n, MANY).map(write).collect();
    (n < MANY).then_some(Page { shows: Truth::Content(n), text, links })
}

pub(super) fn mirror_with_a_blog(url: &Url) -> Option<Page> {
    let host = u64::from(url.host_str() == Some("b.test"));
    if let Some(post) = url.path().strip_prefix("/blog") {
        let n = number(post)?;
        let links = next(n, MANY / 2).map(|next| format!("/blog{}", path(next))).collect();
        return (n < MANY / 2).then(|| Page::article(MANY + host * MANY / 2 + n, links));
    }
    let n = number(url.path())?;
    let mut links: Vec<String> = next(n, MANY).map(path).collect();
    if n + 1 == MANY {
        // The link to the blog comes only on the last page.
        links.push("/blog/a0".into());
    }
    Some(Page::article(n, links))
}

pub(super) fn apologies(url: &Url) -> Option<Page> {
    let (folder, rest) = url.path().get(1..)?.split_once('/').unwrap_or(("", "a0"));
    if folder.is_empty() {
        let links = ["old", "new"].map(|folder| format!("/{folder}/a0")).to_vec();
        return Some(Page { shows: Truth::List, text: prose(99_999, 60), links });
    }
    if rest.starts_with("gone") {
        return Some(Page { shows: Truth::Nothing, text: prose(1 << 42, 60), links: vec!["/".into()] });
    }
    let (n, at) = (number(rest)?, ["old", "new"].iter().position(|known| *known == folder)? as u64);
    let mut links: Vec<String> = next(n, MANY).map(|next| format!("/{folder}{}", path(next))).collect();
    // Each page has broken links, many of them at first.
    links.extend((0..3).map(|broken| format!("/{folder}/gone-{}", (n * 3 + broken) % 90)));
    Some(Page::article(at * MANY + n, links))
}

pub(super) fn list(url: &Url) -> Option<Page> {
    let pages = MANY / 10;
    if let Some(n) = url.path().strip_prefix("/story").and_then(number) {
        return Some(Page::article(n, vec!["/".into()]));
    }
    let page = parameter(url, "page").map_or(Some(0), |page| page.parse().ok())?;
    let mut links: Vec<String> = (page * 10..page * 10 + 10).map(|n| format!("/story{}", path(n))).collect();
    links.extend([page + 1, page + 2].iter().filter(|next| **next < pages).map(|next| format!("/?page={next}")));
    (page < pages && url.path() == "/").then(|| Page { shows: Truth::List, text: prose(99_999, 60), links })
}

pub(super) fn late_parameter(url: &Url) -> Option<Page> {
    // `all=1` shows the same on the first half of the pages, and other contents on the second half.
    let (n, all) = (number(url.path())?, parameter(url, "all").is_some());
    let content = if all && n >= MANY / 2 { MANY + n - MANY / 2 } else { n };
    let links = next(n, MANY).flat_map(|next| [path(next), format!("{}?all=1", path(next))]);
    Some(Page::article(content, links.collect()))
}
