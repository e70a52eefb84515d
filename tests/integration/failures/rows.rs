//! Every way to fail, with the words that must report it.

use tests::failing::Manner;

/// One way to fail, with the words that must report it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub server: Server,
    pub scheme: &'static str,
    /// Whether a page is answered with 2xx nevertheless.
    pub page: bool,
    /// The key in `failures` of `report --json`, and its count.
    pub kind: (&'static str, u64),
    /// The words in the last lines on the terminal, and in `report.html`.
    pub says: &'static str,
    /// The words of `why` about the front page.
    pub why: &'static str,
    /// The beginning of a line of `/metrics` while the crawl runs.
    pub metric: &'static str,
    /// The value of `complete`; `None` if it may be either.
    pub complete: Option<bool>,
}

/// The server of the host of a row.
#[derive(Clone, Copy, Debug)]
pub enum Server {
    /// A server that behaves like this.
    Is(Manner),
    /// A port on which no program listens.
    Closed,
    /// A server that ends after it has answered the request for robots.txt.
    Gone,
    /// No server: the name has no address.
    Nowhere,
}

pub const fn row(
    name: &'static str,
    server: Server,
    kind: &'static str,
    says: &'static str,
    metric: &'static str,
) -> Row {
    Row { name, server, scheme: "http", page: false, kind: (kind, 1), says, why: says, metric, complete: Some(false) }
}

/// Every way to fail.
pub const ROWS: [Row; 25] = [
    Row {
        complete: Some(true),
        ..row("404", Server::Is(Manner::Status(404)), "404", "status 404", "crawler_answers_total{status=\"404\"} 1")
    },
    Row {
        complete: Some(true),
        ..row("403", Server::Is(Manner::Status(403)), "403", "status 403", "crawler_answers_total{status=\"403\"} 1")
    },
    Row {
        complete: Some(true),
        ..row("410", Server::Is(Manner::Status(410)), "410", "status 410", "crawler_answers_total{status=\"410\"} 1")
    },
    row("500", Server::Is(Manner::Status(500)), "500", "status 500", "crawler_answers_total{status=\"500\"} 1"),
    row("503", Server::Is(Manner::Status(503)), "503", "status 503", "crawler_answers_total{status=\"503\"} 1"),
    Row {
        why: "the connection was refused",
        ..row(
            "closed",
            Server::Closed,
            "withheld_refused",
            "the connection was refused",
            "crawler_errand_failures_total{kind=\"refused\"}",
        )
    },
    Row {
        why: "connect",
        ..row(
            "gone",
            Server::Gone,
            "refused",
            "the connection was refused",
            "crawler_failures_total{kind=\"refused\"} 1",
        )
    },
    row(
        "silent",
        Server::Is(Manner::Silent),
        "withheld_timeout",
        "no answer in time",
        "crawler_errand_failures_total{kind=\"timeout\"}",
    ),
    Row {
        why: "timeout",
        ..row(
            "hang",
            Server::Is(Manner::Hang),
            "timeout",
            "no answer in time",
            "crawler_failures_total{kind=\"timeout\"} 1",
        )
    },
    row(
        "nowhere",
        Server::Nowhere,
        "withheld_name",
        "the name was not found",
        "crawler_errand_failures_total{kind=\"name\"}",
    ),
    Row {
        scheme: "https",
        ..row(
            "tls",
            Server::Is(Manner::Fine),
            "withheld_tls",
            "TLS failed",
            "crawler_errand_failures_total{kind=\"tls\"}",
        )
    },
    Row {
        why: "reset",
        ..row(
            "reset",
            Server::Is(Manner::Reset),
            "reset",
            "the connection ended early",
            "crawler_failures_total{kind=\"reset\"} 1",
        )
    },
    Row {
        why: "protocol",
        ..row(
            "garbage",
            Server::Is(Manner::Garbage),
            "protocol",
            "breaks the protocol",
            "crawler_failures_total{kind=\"protocol\"} 1",
        )
    },
    Row {
        complete: Some(true),
        ..row(
            "disallow",
            Server::Is(Manner::Disallow),
            "withheld_robots",
            "robots.txt forbids it",
            "crawler_urls_refused{reason=\"robots\"} 1",
        )
    },
    Row {
        why: "robots.txt cannot be read: the server answers 500",
        ..row(
            "robots-500",
            Server::Is(Manner::RobotsStatus(500)),
            "withheld_robots_500",
            "robots.txt cannot be read (the server answers it with 500)",
            "crawler_errand_failures_total{kind=\"robots_500\"}",
        )
    },
    Row {
        why: "redirects to http://elsewhere.example/",
        complete: Some(true),
        ..row(
            "out",
            Server::Is(Manner::Out),
            "redirected_out",
            "lead out of --scope",
            "crawler_redirects_failed_total{kind=\"out\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: Some(false),
        ..row(
            "to-itself",
            Server::Is(Manner::ToItself),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: Some(false),
        ..row(
            "circle",
            Server::Is(Manner::Circle),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        why: "redirects to",
        complete: Some(false),
        ..row(
            "chain",
            Server::Is(Manner::Chain),
            "redirect_loop",
            "redirects that lead in a circle",
            "crawler_redirects_failed_total{kind=\"loop\"} 1",
        )
    },
    Row {
        page: true,
        why: "--max-body",
        complete: None,
        ..row(
            "large",
            Server::Is(Manner::Large),
            "cut_too_large",
            "too large",
            "crawler_bodies_cut_total{kind=\"too_large\"} 1",
        )
    },
    Row {
        page: true,
        why: "reset: the connection ended",
        complete: None,
        ..row("half", Server::Is(Manner::Half), "cut_reset", "reset", "crawler_bodies_cut_total{kind=\"reset\"} 1")
    },
    Row {
        page: true,
        why: "took longer",
        complete: None,
        ..row(
            "stuck",
            Server::Is(Manner::Stuck),
            "cut_timeout",
            "timeout",
            "crawler_bodies_cut_total{kind=\"timeout\"} 1",
        )
    },
    Row {
        page: true,
        why: "bad_chunks: ",
        complete: None,
        ..row(
            "bad-chunks",
            Server::Is(Manner::BadChunks),
            "cut_bad_chunks",
            "bad chunks",
            "crawler_bodies_cut_total{kind=\"bad_chunks\"} 1",
        )
    },
    Row {
        page: true,
        why: "reset: the connection ended",
        complete: None,
        ..row(
            "half-chunk",
            Server::Is(Manner::HalfChunk),
            "cut_reset",
            "reset",
            "crawler_bodies_cut_total{kind=\"reset\"} 1",
        )
    },
    Row {
        page: true,
        why: "encoding: the content-encoding is broken",
        complete: None,
        ..row(
            "bad-gzip",
            Server::Is(Manner::BadGzip),
            "cut_encoding",
            "encoding",
            "crawler_bodies_cut_total{kind=\"encoding\"} 1",
        )
    },
];
