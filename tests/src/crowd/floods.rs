//! Hosts whose pages are well-formed but larger, or more numerous, than a crawl can hold in memory.

use std::fmt::Write;
use std::io;

use fastrand::Rng;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use xxhash_rust::xxh3::xxh3_64;

use super::{files, missing, page, send, words};

/// The kinds of such hosts.
pub(super) const KINDS: &[&str] = &[
    "base",
    "wild",
    "words",
    "maps",
    "atlas",
    "feed",
    "million",
    "many",
    "anchors",
    "ports",
    "queries",
    "deep",
    "brief",
    "heavy",
    "letters",
    "blocks",
    "titles",
    "media",
    "hops",
    "named",
    "canonical",
    "pdf",
    "json",
    "rights",
    "marks",
];

/// The size of a page that is nearly as large as a body may be.
const LARGE: usize = 8_300_000;

pub(super) async fn answer(kind: &str, host: &str, path: &str, stream: &mut TcpStream) -> io::Result<()> {
    let mut rng = Rng::with_seed(xxh3_64(format!("{host}{path}").as_bytes()));
    if path == "/robots.txt" {
        return match kind {
            "maps" | "atlas" | "named" => {
                let maps = if kind == "maps" { 20 } else { 1 };
                let lines: String = (0..maps).map(|n| format!("Sitemap: http://{host}/map-{n}.xml\n")).collect();
                send(stream, "200 OK", "text/plain", lines.as_bytes()).await
            }
            _ => missing(stream).await,
        };
    }
    if path.starts_with("/map-") {
        return sitemap(kind, host, &mut rng, stream).await;
    }
    if kind == "hops" && path != "/" {
        return redirect(&format!("http://s{:x}.{host}/", rng.u64(..)), stream).await;
    }
    match kind {
        "feed" => return feed(host, &mut rng, stream).await,
        "pdf" if path != "/" => return send(stream, "200 OK", "application/pdf", &files::pdf(&mut rng)).await,
        "json" if path != "/" => {
            return send(stream, "200 OK", "application/feed+json", files::json(host, &mut rng).as_bytes()).await;
        }
        "rights" if path == "/.well-known/tdmrep.json" => {
            return send(stream, "200 OK", "application/json", files::rights(LARGE).as_bytes()).await;
        }
        "marks" if path != "/" => {
            return send(stream, "200 OK", "text/markdown", files::markdown(&mut rng).as_bytes()).await;
        }
        _ => {}
    }
    let mut html = String::from("<html><head>");
    if kind == "base" {
        let _ = write!(html, "<base href=\"http://{host}/{}/\">", "b".repeat(1_900));
    }
    if kind == "canonical" {
        for _ in 0..9_000 {
            let _ = write!(html, "<link rel=alternate hreflang=en href=\"http://s{:x}.{host}/\">", rng.u64(..));
        }
        let _ = write!(html, "<link rel=canonical href=\"http://s{:x}.{host}/\">", rng.u64(..));
    }
    let _ = write!(html, "<title>{host}{path}");
    if kind == "titles" {
        while html.len() < LARGE / 2 {
            let _ = write!(html, " {:x}", rng.u64(..));
        }
    }
    let _ = write!(html, "</title></head><body><p>");
    words(&mut html, 60, &mut rng);
    let mut link = |href: std::fmt::Arguments<'_>| _ = write!(html, "<a href={href}>x</a> ");
    match kind {
        "base" => (0..10_000).for_each(|_| link(format_args!("{:x}", rng.u64(..)))),
        "wild" => {
            let domain = host.rsplit('.').nth(1).unwrap_or_default();
            (0..9_000).for_each(|_| link(format_args!("http://s{:x}.{domain}.test/", rng.u64(..))));
        }
        "pdf" | "json" | "rights" | "marks" => (0..200).for_each(|n| link(format_args!("/{n}"))),
        "hops" => (0..9_000).for_each(|_| link(format_args!("/{:x}", rng.u64(..)))),
        "million" => (0..1_000_000).for_each(|n| link(format_args!("/{n}"))),
        // A hundred thousand hosts with ten pages each. The first host has lists of the others, a hundred on each page.
        "many" if host == "many-0.test" && path == "/" => {
            (0..1_000).for_each(|n| link(format_args!("/list/{n}")));
        }
        "many" if host == "many-0.test" => {
            let first = path.rsplit('/').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0) * 100;
            (first..first + 100).for_each(|n| link(format_args!("http://many-{}.test/", n + 1)));
        }
        "many" => (1..10).for_each(|n| link(format_args!("/{n}"))),
        "ports" => (1..10_000).for_each(|port| link(format_args!("http://{host}:{}/", port + 1_024))),
        "queries" => (0..5_000).for_each(|_| link(format_args!("/q?{:x}={:x}", rng.u64(..), rng.u64(..)))),
        // Just too small to be read apart from other pages.
        "brief" => (0..10_000).for_each(|_| link(format_args!("/{:05x}", rng.u32(..1 << 20)))),
        "deep" => (0..2_000).for_each(|n| link(format_args!("/{}{n}", "d/".repeat(800)))),
        "heavy" => {
            link(format_args!("/{:x}", rng.u64(..)));
            let _ = write!(html, "<!--{}-->", "-".repeat(2 << 20));
        }
        "anchors" => {
            for n in 0..10_000 {
                let _ = write!(html, "<a href=/{n}-{:x}>{}</a>", rng.u32(..), "anchor text ".repeat(50));
            }
        }
        // Words of one letter, and blocks of one letter: much for few bytes.
        "letters" | "blocks" => {
            (0..20).for_each(|_| link(format_args!("/{:x}", rng.u64(..))));
            let before = if kind == "letters" { " " } else { "<p>" };
            // Quickly: the server must not keep the healthy hosts waiting.
            while html.len() < LARGE {
                for byte in rng.u64(..).to_le_bytes() {
                    html.push_str(before);
                    html.push(char::from(b'a' + byte % 26));
                }
            }
        }
        // Links whose titles are long, around images whose texts are long.
        "titles" | "media" => {
            for n in 0..10_000 {
                let long = if kind == "titles" { "text ".repeat(60) } else { "alt ".repeat(150) };
                let href = format!("/{n}-{:x}", rng.u32(..));
                let _ = write!(html, "<a href={href} title=\"{long}\"><img src=/i{n} alt=\"{long}\"></a>");
            }
        }
        "words" => {
            link(format_args!("/{:x}", rng.u64(..)));
            link(format_args!("/{:x}", rng.u64(..)));
            while html.len() < LARGE {
                let _ = write!(html, "{:x} ", rng.u64(..));
            }
        }
        _ => {}
    }
    page(stream, &html).await
}

/// Sends a feed of nearly 8 MiB, whose links lead to more such feeds.
async fn feed(host: &str, rng: &mut Rng, stream: &mut TcpStream) -> io::Result<()> {
    let mut xml = String::from("<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>f</title>");
    while xml.len() < LARGE {
        let _ = write!(xml, "<item><title>{0:x}</title><link>http://{host}/{0:x}</link></item>", rng.u64(..));
    }
    xml.push_str("</channel></rss>");
    send(stream, "200 OK", "application/rss+xml", xml.as_bytes()).await
}

async fn redirect(target: &str, stream: &mut TcpStream) -> io::Result<()> {
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).await
}

/// Sends a sitemap of nearly 50 MiB. One of the kind `named` names many hosts, and is smaller.
async fn sitemap(kind: &str, host: &str, rng: &mut Rng, stream: &mut TcpStream) -> io::Result<()> {
    let mut xml = String::from("<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
    let path = "p".repeat(900);
    for _ in 0..50_000 {
        let _ = match kind {
            "named" => write!(xml, "<url><loc>http://s{:x}.{host}/</loc></url>", rng.u64(..)),
            _ => write!(xml, "<url><loc>http://{host}/{path}/{:x}</loc></url>", rng.u64(..)),
        };
    }
    xml.push_str("</urlset>");
    send(stream, "200 OK", "application/xml", xml.as_bytes()).await
}
