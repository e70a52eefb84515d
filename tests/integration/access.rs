//! Tests how the crawl identifies itself to sites: cookies, accounts, logins and signatures, from the crawl to the
//! server and into the outputs.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;

use crawler::outcome::ending;
use tests::crawl::{Crawled, text};
use tests::told::{Answer, Asked, Told, html, missing, moved};

/// The place of a page in `pages.jsonl`.
fn page<'a>(crawled: &'a Crawled, url: &str) -> &'a serde_json::Value {
    let found = crawled.pages.iter().find(|page| text(page, "url") == url);
    found.unwrap_or_else(|| panic!("{url} is not among {:?}", crawled.urls()))
}

/// All outputs of a crawl as text, without its state. Gzip members are unpacked.
fn written(dir: &Path) -> anyhow::Result<String> {
    let mut all = String::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("state") {
            all += &written(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "gz") {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(
                &mut flate2::read::MultiGzDecoder::new(std::fs::File::open(&path)?),
                &mut bytes,
            )?;
            all += &String::from_utf8_lossy(&bytes);
        } else if path.is_file() {
            all += &String::from_utf8_lossy(&std::fs::read(&path)?);
        }
    }
    Ok(all)
}

/// The files under a folder that others than their owner may read or write, and the number of all its files.
fn open_to_others(dir: &Path) -> anyhow::Result<(Vec<String>, usize)> {
    let (mut open, mut all) = (Vec::new(), 0);
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            let (inside, files) = open_to_others(&path)?;
            open.extend(inside);
            all += files;
        } else {
            all += 1;
            let mode = path.metadata()?.permissions().mode();
            open.extend((mode & 0o077 != 0).then(|| format!("{} {mode:o}", path.display())));
        }
    }
    Ok((open, all))
}

/// A server: `a.test` sets a cookie on its front page, and links to itself and to a foreign site.
fn baker(asked: &Asked) -> Answer {
    match (asked.host.as_str(), asked.target.as_str()) {
        ("a.test", "/") => {
            let (status, mut fields, body) = html("<a href=/x>x</a> <a href=http://b.test/>b</a>");
            fields.push(("set-cookie", "sid=s3cret; Path=/".into()));
            (status, fields, body)
        }
        ("a.test", "/x") => html(format!("<p>one page, {}</p>", asked.host)),
        ("b.test", "/") => html("<p>another page, of a stranger</p>"),
        _ => missing(),
    }
}

#[test]
fn cookies_go_back_to_their_site_alone_and_into_no_output() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(baker)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://a.test/", &[("output.warc", "true")])?;
    assert_eq!(told.of("a.test", "/x")[0].field("cookie"), "sid=s3cret");
    assert_eq!(told.of("b.test", "/")[0].field("cookie"), "");
    let all = written(dir.path())?;
    assert!(all.contains("sid=[redacted]") && !all.contains("s3cret"));
    let (open, files) = open_to_others(&dir.path().join("state"))?;
    assert!(open.is_empty() && files > 10, "the state has the cookie: {open:?} of {files} files");
    // A later run in the directory still has the cookie.
    told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
    assert_eq!(told.of("a.test", "/")[1].field("cookie"), "sid=s3cret");
    Ok(())
}

#[test]
fn without_cookies_none_are_sent() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(baker)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://a.test/", &[("access.cookies", "off")])?;
    assert_eq!(told.of("a.test", "/x")[0].field("cookie"), "");
    Ok(())
}

#[test]
fn cookies_of_a_file_are_sent() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(baker)?, tempfile::tempdir()?);
    let file = dir.path().join("cookies.txt");
    std::fs::write(&file, "b.test\tFALSE\t/\tFALSE\t4102444800\tfrom\tfile\n")?;
    let file = file.to_string_lossy().into_owned();
    told.crawl(&dir.path().join("crawl"), "http://a.test/", &[("access.cookies-file", &file)])?;
    assert_eq!(told.of("b.test", "/")[0].field("cookie"), "from=file");
    Ok(())
}

/// A server: `a.test` wants HTTP authentication of this kind, and redirects one URL to a foreign site.
fn guarded(scheme: &'static str) -> impl Fn(&Asked) -> Answer {
    move |asked| {
        let is_known = asked.field("authorization").starts_with(scheme);
        match (asked.host.as_str(), asked.target.as_str()) {
            (_, "/robots.txt") => missing(),
            ("a.test", _) if !is_known => {
                let challenge = if scheme == "Digest" {
                    "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""
                } else {
                    "Basic realm=\"r\""
                };
                (401, vec![("www-authenticate", challenge.into())], Vec::new())
            }
            ("a.test", "/") => html("<a href=/logout>out</a> <a href=/away>away</a> <p>for members</p>"),
            ("a.test", "/away") => moved(307, "http://b.test/"),
            ("b.test", "/") => html("<p>another page, of a stranger</p>"),
            _ => missing(),
        }
    }
}

#[test]
fn accounts_are_shown_to_their_host_alone() -> anyhow::Result<()> {
    for (word, scheme) in [("basic", "Basic"), ("digest", "Digest")] {
        let (told, dir) = (Told::new(guarded(scheme))?, tempfile::tempdir()?);
        let plan = dir.path().join("login.toml");
        std::fs::write(
            &plan,
            format!("[[auth]]\nhost = \"a.test\"\nscheme = \"{word}\"\nuser = \"me\"\npassword = \"s3cret\"\n"),
        )?;
        let plan = plan.to_string_lossy().into_owned();
        let out = dir.path().join("crawl");
        let crawled = told.crawl(&out, "http://a.test/", &[("access.login", &plan), ("output.warc", "true")])?;
        assert_eq!(page(&crawled, "http://a.test/")["session"], true, "{word}");
        assert_eq!(page(&crawled, "http://a.test/")["status"], 200, "{word}");
        assert_eq!(page(&crawled, "http://b.test/")["session"], false, "{word}");
        assert_eq!(told.of("b.test", "/")[0].field("authorization"), "", "{word}");
        assert_eq!(crawled.stats.refused_with_account, 0, "{word}");
        assert!(told.of("a.test", "/logout").is_empty(), "{word}: nobody follows a link that logs out");
        let secrets = ["s3cret", "bWU6czNjcmV0", "response="];
        let all = written(&out)?;
        assert!(all.contains("[redacted]") && !secrets.iter().any(|secret| all.contains(secret)), "{word}");
    }
    // The control: without the account, the pages cannot be seen.
    let (told, dir) = (Told::new(guarded("Basic"))?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://a.test/", &[])?;
    assert_eq!(page(&crawled, "http://a.test/")["status"], 401);
    assert_eq!(crawled.stats.refused_with_account, 0);
    // The site refuses the account: the crawl does not call itself complete.
    let (told, dir) = (Told::new(guarded("Never"))?, tempfile::tempdir()?);
    let plan = dir.path().join("login.toml");
    std::fs::write(&plan, "[[auth]]\nhost = \"a.test\"\nscheme = \"basic\"\nuser = \"me\"\npassword = \"s3cret\"\n")?;
    let plan = plan.to_string_lossy().into_owned();
    let crawled = told.crawl(&dir.path().join("crawl"), "http://a.test/", &[("access.login", &plan)])?;
    assert_eq!(crawled.stats.refused_with_account, 1, "{:?}", crawled.stats.statuses);
    Ok(())
}

/// A site with a form, a token against forgery, and sessions that end after a few pages.
struct Members {
    /// The number of pages that the session still allows, and the number of logins so far.
    session: Mutex<(u32, u32)>,
    /// The address to which the form is redirected with 307, if it is.
    sent_on: Option<&'static str>,
}

impl Members {
    fn answer(&self, asked: &Asked) -> Answer {
        let mut session = self.session.lock().expect("no panic");
        let cookie = format!("member={}", session.1);
        match (asked.method.as_str(), asked.host.as_str(), asked.target.as_str()) {
            (_, _, "/robots.txt") => missing(),
            ("GET", "m.test", "/signin") => moved(302, "/login"),
            ("GET", "m.test", "/login") => html(
                "<form method=post action=/enter><input type=hidden name=token value=t0ken>\
                 <input name=who><input type=password name=word></form>",
            ),
            ("POST", "m.test", "/enter") if self.sent_on.is_some() => moved(307, self.sent_on.unwrap_or_default()),
            ("POST", "m.test", "/enter" | "/enter2") if asked.body == "token=t0ken&who=me&word=s3cret" => {
                *session = (3, session.1 + 1);
                let (status, mut fields, body) = moved(303, "/account");
                fields.push(("set-cookie", format!("member={}; Path=/", session.1)));
                (status, fields, body)
            }
            ("GET", "m.test", _) if asked.field("cookie") != cookie || session.0 == 0 => moved(302, "/login?next=1"),
            ("GET", "m.test", "/account") => html("<p>Hello, me</p>"),
            ("GET", "m.test", target) => {
                session.0 -= 1;
                let links: String = (0..8).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
                html(format!(
                    "{links}<a href=/sign-out>out</a> <a href=/session/end>Sign  out</a> \
                     <a href=http://o.test/end>Sign out</a><p>the text of {target} is only for members</p>"
                ))
            }
            _ => missing(),
        }
    }
}

/// Writes a file with a login. `login` is the path of the form, or a path that redirects to the form.
fn plan(dir: &Path, login: &str) -> anyhow::Result<String> {
    let file = dir.join("login.toml");
    let text = format!(
        "[[login]]\nurl = \"http://m.test{login}\"\nfields.user = \"me\"\nfields.password = \"s3cret\"\n\
         check = {{ url = \"http://m.test/account\", contains = \"Hello, me\" }}\n"
    );
    std::fs::write(&file, text)?;
    Ok(file.to_string_lossy().into_owned())
}

#[test]
fn a_crawl_logs_in_and_again_when_the_session_is_lost() -> anyhow::Result<()> {
    for (sent_on, login) in [(None, "/login"), (Some("/enter2"), "/login"), (None, "/signin")] {
        let site = Members { session: Mutex::default(), sent_on };
        let (told, dir) = (Told::new(move |asked| site.answer(asked))?, tempfile::tempdir()?);
        let (plan, out) = (plan(dir.path(), login)?, dir.path().join("crawl"));
        let log = dir.path().join("log.jsonl").to_string_lossy().into_owned();
        let keys = [("access.login", plan.as_str()), ("scope.scope", "host"), ("output.log", &log)];
        let crawled = told.crawl(&out, "http://m.test/", &keys)?;
        let logged = std::fs::read_to_string(&log)?;
        assert_eq!(
            logged.lines().count(),
            told.asked().len(),
            "the log has each request, also those of logins: {logged}"
        );
        assert!(logged.contains("\"kind\":\"login\"") && !logged.contains("s3cret"), "{logged}");
        for n in 0..8 {
            let page = page(&crawled, &format!("http://m.test/{n}"));
            assert_eq!((&page["status"], &page["session"]), (&200.into(), &true.into()), "{page}");
        }
        assert_eq!(told.of("m.test", "/enter").len(), 3, "nine pages, three a session");
        assert!(told.of("m.test", "/sign-out").is_empty());
        assert!(told.of("m.test", "/session/end").is_empty(), "the text of the link says that it ends the session");
        assert!(!written(&out)?.contains("s3cret"));
    }
    Ok(())
}

/// A site that accepts a login, and then shows its form, without a word of text, in the place of every page.
fn forgetful(asked: &Asked) -> Answer {
    let form = "<title>Log in</title><form method=post action=/login><input type=password name=password></form>";
    match (asked.method.as_str(), asked.target.as_str()) {
        (_, "/robots.txt") => missing(),
        ("POST", "/login") => moved(303, "/"),
        (_, "/") => html((0..15).map(|n| format!("<a href=/{n}>{n}</a> ")).collect::<String>() + "<p>Welcome, me</p>"),
        _ => html(form),
    }
}

#[test]
fn a_crawl_with_an_account_that_saw_walls_does_not_call_itself_complete() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(forgetful)?, tempfile::tempdir()?);
    let file = dir.path().join("login.toml");
    std::fs::write(&file, "[[login]]\nurl = \"http://w.test/login\"\nfields.password = \"s3cret\"\n")?;
    let file = file.to_string_lossy().into_owned();
    let crawl = |name: &str, keys: &[(&str, &str)]| told.crawl(&dir.path().join(name), "http://w.test/", keys);
    let crawled = crawl("account", &[("access.login", &file)])?;
    assert_eq!(crawled.stats.walls_with_account, 15, "{:?}", crawled.stats);
    let said = ending(&crawled.stats, "done", None);
    assert!(said.starts_with("15 pages show a wall although the crawl has an account"), "{said}");
    // The control: without an account, walls are expected.
    let crawled = crawl("stranger", &[])?;
    assert_eq!((crawled.stats.labels["wall"], crawled.stats.walls_with_account), (15, 0));
    assert!(ending(&crawled.stats, "done", None).contains("It is complete"), "{:?}", crawled.stats);
    Ok(())
}

/// A site whose links and redirects contain a password.
fn talkative(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/" => html("<p>A page</p><a href=http://me:s3cret@t.test/two>two</a> <a href=/r>r</a>"),
        "/r" => moved(302, "http://me:s3cret@t.test/three"),
        "/two" | "/three" => html(format!("<p>The text of {}</p>", asked.target)),
        _ => missing(),
    }
}

#[test]
fn passwords_in_links_are_neither_sent_nor_written() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(talkative)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://t.test/", &[("output.markdown", "true"), ("output.text", "true")])?;
    for path in ["/two", "/three"] {
        assert_eq!(page(&crawled, &format!("http://t.test{path}"))["status"], 200, "{path}");
        assert_eq!(told.of("t.test", path)[0].field("authorization"), "", "{path}");
    }
    assert_eq!(page(&crawled, "http://t.test/r")["redirect_to"], "http://t.test/three");
    assert!(!written(dir.path())?.contains("s3cret"));
    Ok(())
}

#[test]
fn a_form_is_not_sent_on_to_another_host() -> anyhow::Result<()> {
    let site = Members { session: Mutex::default(), sent_on: Some("http://evil.test/enter") };
    let (told, dir) = (Told::new(move |asked| site.answer(asked))?, tempfile::tempdir()?);
    let plan = plan(dir.path(), "/login")?;
    let error = told.crawl(&dir.path().join("crawl"), "http://m.test/", &[("access.login", &plan)]).unwrap_err();
    assert!(error.to_string().contains("another host"), "{error}");
    assert!(told.asked().iter().all(|asked| asked.host != "evil.test"));
    Ok(())
}

#[test]
fn requests_are_signed_each_on_its_own() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(baker)?, tempfile::tempdir()?);
    let key = dir.path().join("key.pem");
    // The key of RFC 9421, appendix B.1.4.
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n";
    std::fs::write(&key, pem)?;
    let key = key.to_string_lossy().into_owned();
    let keys = [("access.web-bot-auth", key.as_str()), ("access.web-bot-auth-agent", "https://bot.example")];
    told.crawl(&dir.path().join("crawl"), "http://a.test/", &keys)?;
    let asked = told.asked();
    let mut signatures: Vec<&str> = asked.iter().map(|asked| asked.field("signature")).collect();
    assert!(asked.iter().all(|asked| asked.field("signature-agent") == "sig1=\"https://bot.example\""));
    assert!(
        asked.iter().all(|asked| asked
            .field("signature-input")
            .contains("keyid=\"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U\""))
    );
    signatures.sort_unstable();
    signatures.dedup();
    assert_eq!(signatures.len(), asked.len(), "a nonce is used once");
    Ok(())
}

/// A site with a session, to whose end a redirect, a sitemap, a picture and a label lead.
fn slippery(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/robots.txt" => (200, Vec::new(), b"User-agent: *\nSitemap: http://s.test/map.xml\n".to_vec()),
        "/map.xml" => {
            let body = "<urlset><url><loc>http://s.test/users/sign_out</loc></url>\
                        <url><loc>http://s.test/mapped</loc></url></urlset>";
            (200, vec![("content-type", "application/xml".into())], body.into())
        }
        "/" => html(
            "<a href=/away>away</a> <a href=/bye title='Log out'>→</a> <img src=/logout.gif> <a href=/own>own</a>\
             <p>the text of the front page</p>",
        ),
        "/away" => moved(302, "/account/logout"),
        "/own" => {
            html("<meta name=once-crawler content=nofollow><a href=/hidden>hidden</a><p>what stands on this page</p>")
        }
        "/mapped" => html("<p>a page that the sitemap names</p>"),
        _ => missing(),
    }
}

#[test]
fn nothing_leads_to_the_end_of_a_session_and_a_page_may_speak_to_the_crawler() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(slippery)?, tempfile::tempdir()?);
    let file = dir.path().join("cookies.txt");
    std::fs::write(&file, "s.test\tFALSE\t/\tFALSE\t4102444800\tsid\tone\n")?;
    let file = file.to_string_lossy().into_owned();
    let keys = [("scope.sitemaps", "true"), ("output.warc", "true"), ("output.requisites", "true")];
    let ends = ["/account/logout", "/users/sign_out", "/logout.gif", "/bye"];
    let with = [&keys[..], &[("access.cookies-file", file.as_str())]].concat();
    told.crawl(&dir.path().join("member"), "http://s.test/", &with)?;
    assert_eq!(told.of("s.test", "/mapped").len(), 1);
    assert_eq!(told.of("s.test", "/own").len(), 1);
    for end in ends {
        assert!(told.of("s.test", end).is_empty(), "{end}");
    }
    assert!(told.of("s.test", "/hidden").is_empty(), "the page says nofollow to this crawler");
    // The control: without a session, these are pages like others.
    told.crawl(&dir.path().join("stranger"), "http://s.test/", &keys)?;
    for end in ends {
        assert_eq!(told.of("s.test", end).len(), 1, "{end}");
    }
    Ok(())
}
