//! The web that is crawled in two halves.

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::scripted::{Scripted, html, missing, moved, words};
use url::Url;

/// The number of hosts. The first two belong to one registrable domain.
pub const HOSTS: u64 = 6;
/// The number of pages in the tree of a host.
pub const PAGES: u64 = 24;

/// The name of a host.
pub fn name(host: u64) -> String {
    match host % HOSTS {
        host @ 0..2 => format!("h{host}.one.test"),
        host => format!("h{host}.test"),
    }
}

/// A web of six hosts. Each has a tree of pages, and pages to which only other hosts lead, by links, redirects or a
/// sitemap. With `copies`, each page at the end of a branch has a copy on its own host.
pub fn web(clock: &Clock, copies: bool) -> Scripted {
    Scripted::new(clock, move |url, _| answer(url, copies).unwrap_or_else(missing))
}

fn answer(url: &Url, copies: bool) -> Option<Answer> {
    let host = (0..HOSTS).find(|host| url.host_str() == Some(&name(*host)))?;
    let at = |host: u64, path: &str| format!("http://{}{path}", name(host));
    let page = |number: u64, links: &[String]| {
        let links: String = links.iter().map(|link| format!("<a href=\"{link}\">more</a> ")).collect();
        html(format!("<main><p>{}</p><p>{links}</p></main>", words(host << 32 | number, 60)))
    };
    let (kind, number) = url.path()[1..].split_once('/').unwrap_or((&url.path()[1..], ""));
    let number: u64 = number.parse().unwrap_or(0);
    Some(match kind {
        "robots.txt" => {
            let body = format!("Sitemap: {}\n", at(host + 1, "/sitemap.xml"));
            Answer { content_type: "text/plain", ..html(body) }
        }
        "sitemap.xml" => {
            let named: String =
                (0..3).map(|n| format!("<url><loc>{}</loc></url>", at(host, &format!("/named/{n}")))).collect();
            Answer { content_type: "application/xml", ..html(format!("<urlset>{named}</urlset>")) }
        }
        "" => page(1_000, &[at(host, "/p/1"), at(host + 1, "/")]),
        "p" if (1..PAGES).contains(&number) => {
            let mut links = vec![
                at(host + number, &format!("/only/{number}")),
                at(host + 2, &format!("/moved/{number}")),
                at(host + 3, &format!("/p/{}", PAGES - number)),
            ];
            if number < PAGES / 2 {
                links.extend([at(host, &format!("/p/{}", 2 * number)), at(host, &format!("/p/{}", 2 * number + 1))]);
            } else if copies {
                links.push(at(host, &format!("/copy/{number}")));
            }
            page(number, &links)
        }
        "copy" if copies => return answer(&url.join(&format!("/p/{number}")).ok()?, copies),
        "only" => page(2_000 + number, &[]),
        "named" => page(3_000 + number, &[at(host + 1, &format!("/only/{}", PAGES + number))]),
        "moved" => moved(&at(host + 1, &format!("/target/{number}"))),
        "target" => page(4_000 + number, &[]),
        _ => return None,
    })
}

/// The expected number of URLs: in the trees, alone, behind redirects, and in sitemaps.
pub fn whole_size(copies: bool) -> usize {
    let tree = HOSTS * PAGES;
    let (only, moved, named) = (HOSTS * (PAGES - 1 + 3), 2 * HOSTS * (PAGES - 1), HOSTS * 3);
    let copies = if copies { HOSTS * PAGES / 2 } else { 0 };
    (tree + only + moved + named + copies) as usize
}
