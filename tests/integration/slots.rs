//! Slow work costs only its own slot: a PDF file that does not end, a login.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody};
use crawler::fetch::http::HttpFetch;
use crawler::pdf::Program;
use tests::crawl::{lines, text};
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing, moved};

/// The number of pages of the honest host.
const PAGES: usize = 60;

/// The reading of the file takes until the last page of the other host is asked for. A crawl that waits for the file
/// waits for ever.
#[test]
fn a_pdf_that_does_not_end_holds_nobody_else() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (last, program) = (dir.path().join("last"), dir.path().join("program"));
    std::fs::write(&program, format!("#!/bin/sh\nwhile [ ! -e {} ]; do /bin/sleep 0.05; done\n", last.display()))?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    let asked = AtomicUsize::new(0);
    let told = Told::new(move |request: &Asked| match (request.host.as_str(), request.target.as_str()) {
        ("p.test", "/") => html("<a href=/endless.pdf>p</a><a href=http://q.test/0>q</a>"),
        ("p.test", "/endless.pdf") => (200, vec![("content-type", "application/pdf".into())], b"%PDF-1.4 x".to_vec()),
        ("q.test", target) => match target.trim_start_matches('/').parse::<usize>() {
            Ok(n) if n < PAGES => {
                if asked.fetch_add(1, Ordering::Relaxed) + 1 == PAGES {
                    let _ = std::fs::write(&last, "");
                }
                html(format!("<a href=/{}>on</a><p>{}</p>", n + 1, words(n as u64, 100)))
            }
            _ => missing(),
        },
        _ => missing(),
    })?;
    let settings = told.settings(&[("dedup.threads", "1"), ("fetch.concurrency", "4")])?;
    let out = dir.path().join("crawl");
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = vec!["http://p.test/".parse()?];
    let mut parts = CrawlDir::open(&out)?.start(&settings, seeds, Clock::System, control)?;
    parts.pdf = Program::at(&program);
    engine::run(parts, HttpFetch::new(&settings)?, &mut Nobody)?;
    let pages = lines(&out, "pages.jsonl")?;
    let place = |end: &str| pages.iter().position(|page| text(page, "url").ends_with(end));
    assert_eq!(pages.len(), PAGES + 3, "all pages, the file, and what is missing");
    assert!(place("/59") < place(".pdf"), "the file came when its reading ended, after the others");
    // The file counts as any file that cannot be read: it is recorded and not judged.
    let file = &pages[place(".pdf").expect("the file")];
    assert_eq!((text(file, "verdict"), &file["status"]), ("unjudged", &200.into()));
    Ok(())
}

/// Catches pages that wait until a page of some megabytes has been read, which came before them.
#[test]
fn a_heavy_page_holds_nobody_else() -> anyhow::Result<()> {
    const CHAIN: usize = 12;
    let told = Told::new(|request: &Asked| match (request.host.as_str(), request.target.as_str()) {
        ("heavy.test", "/") => html((0..800_000).map(|n| words(n / 8, 1) + " ").collect::<String>()),
        ("light.test", target) => match target.trim_start_matches('/').parse::<usize>() {
            Ok(n) if n < CHAIN => html(format!("<a href=/{}>on</a><p>{}</p>", n + 1, words(n as u64, 100))),
            _ => missing(),
        },
        _ => missing(),
    })?;
    let dir = tempfile::tempdir()?;
    let settings = told.settings(&[("dedup.threads", "1"), ("fetch.concurrency", "4")])?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = vec!["http://heavy.test/".parse()?, "http://light.test/0".parse()?];
    let parts = CrawlDir::open(dir.path())?.start(&settings, seeds, Clock::System, control)?;
    engine::run(parts, HttpFetch::new(&settings)?, &mut Nobody)?;
    let (asked, pages) = (told.asked(), lines(dir.path(), "pages.jsonl")?);
    let was_asked =
        |host: &str, target: &str| asked.iter().position(|a| (a.host.as_str(), a.target.as_str()) == (host, target));
    let place = |url: &str| pages.iter().position(|page| text(page, "url") == url).expect("a page");
    assert!(was_asked("heavy.test", "/") < was_asked("light.test", "/5"), "the heavy page came early");
    assert!(place("http://light.test/5") < place("http://heavy.test/"), "it was still being read");
    Ok(())
}

#[test]
fn a_login_holds_its_own_site_alone() -> anyhow::Result<()> {
    // The sessions last for three pages. The other hosts have a chain of pages each.
    let session: Arc<Mutex<(u32, u32)>> = Arc::default();
    let told = Told::new(move |asked: &Asked| -> Answer {
        if asked.target == "/robots.txt" {
            return missing();
        }
        if asked.host != "m.test" {
            let n: u64 = asked.target.trim_start_matches('/').parse().unwrap_or(0);
            let text = words(n + u64::from(asked.host.as_bytes()[0]) * 1_000, 100);
            return if n < 30 { html(format!("<a href=/{}>on</a><p>{text}</p>", n + 1)) } else { missing() };
        }
        let mut session = session.lock().expect("no panic");
        let cookie = format!("member={}", session.1);
        match (asked.method.as_str(), asked.target.as_str()) {
            ("GET", "/login") => {
                html("<form method=post action=/enter><input name=user><input type=password name=password></form>")
            }
            ("POST", "/enter") => {
                *session = (3, session.1 + 1);
                let (status, mut fields, body) = moved(303, "/account");
                fields.push(("set-cookie", format!("member={}; Path=/", session.1)));
                (status, fields, body)
            }
            ("GET", _) if asked.field("cookie") != cookie || session.0 == 0 => moved(302, "/login?next=1"),
            ("GET", "/account") => html("<p>Hello, me</p>"),
            ("GET", target) => {
                session.0 -= 1;
                let links: String = (0..6).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
                html(format!(
                    "{links}<p>{}</p>",
                    words(target.len() as u64 + u64::from(target.as_bytes()[target.len() - 1]), 100)
                ))
            }
            _ => missing(),
        }
    })?;
    let dir = tempfile::tempdir()?;
    let plan = dir.path().join("login.toml");
    let text_of_plan = "[[login]]\nurl = \"http://m.test/login\"\nfields.user = \"me\"\nfields.password = \"s3cret\"\n\
        check = { url = \"http://m.test/account\", contains = \"Hello, me\" }\n";
    std::fs::write(&plan, text_of_plan)?;
    let settings = told.settings(&[("access.login", &plan.to_string_lossy()), ("politeness.delay", "100ms")])?;
    let seeds = ["http://m.test/", "http://a.test/0", "http://b.test/0", "http://c.test/0"].map(str::to_owned);
    let out = dir.path().join("crawl");
    let crawled = tests::crawl::crawl_with(HttpFetch::new(&settings)?, &Clock::System, &out, &seeds, &settings)?;
    for n in 0..6 {
        let page = crawled.pages.iter().find(|page| text(page, "url") == format!("http://m.test/{n}")).expect("a page");
        assert_eq!((&page["status"], &page["session"]), (&200.into(), &true.into()), "{page}");
    }
    // During a login, from the page with the form to the account page, other hosts were asked.
    let asked = told.asked();
    let forms: Vec<usize> =
        asked.iter().enumerate().filter(|(_, asked)| asked.target == "/login").map(|(at, _)| at).collect();
    let (mut logins, mut beside) = (0, 0);
    for from in forms {
        let Some(length) = asked[from..].iter().position(|asked| asked.target == "/account") else { continue };
        let during = &asked[from + 1..from + length];
        logins += 1;
        beside += during.iter().filter(|asked| asked.host != "m.test").count();
        assert!(
            during.iter().all(|asked| asked.host != "m.test" || asked.target == "/enter"),
            "nobody else is at the site"
        );
    }
    assert!(logins >= 3 && beside > 0, "{logins} logins, {beside} requests beside them");
    Ok(())
}
