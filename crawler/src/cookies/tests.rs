//! Tests of the rules of sending cookies, of files, of limits, and of hidden secrets.

use proptest::prelude::*;

use super::file::FileError;
use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn jars() -> Jars {
    Jars::new(Limits::default())
}

/// The `Cookie` header for `to` after `from` has set `cookie`.
fn sent(from: &str, cookie: &str, to: &str) -> Option<String> {
    let mut jars = jars();
    jars.store(&url(from), [cookie]);
    jars.header(&url(to))
}

#[test]
fn a_cookie_goes_where_rfc_6265bis_says() {
    for (from, cookie, to, expected) in [
        ("https://a.test/", "n=v", "https://a.test/x", true),
        // Host-only, domain, and domains of others.
        ("https://www.a.com/", "n=v", "https://a.com/", false),
        ("https://www.a.com/", "n=v", "https://b.www.a.com/", false),
        ("https://www.a.com/", "n=v; Domain=a.com", "https://b.a.com/", true),
        ("https://www.a.com/", "n=v; Domain=.A.com", "https://a.com/", true),
        ("https://www.a.com/", "n=v; Domain=b.com", "https://b.com/", false),
        ("https://a.com/", "n=v; Domain=www.a.com", "https://www.a.com/", false),
        ("https://www.a.com/", "n=v; Domain=a.com", "https://nota.com/", false),
        // Public suffixes: only the host that is the suffix may have such a cookie, and no other host gets it.
        ("https://www.a.com/", "n=v; Domain=com", "https://a.com/", false),
        ("https://a.co.uk/", "n=v; Domain=co.uk", "https://b.co.uk/", false),
        ("https://a.github.io/", "n=v; Domain=github.io", "https://b.github.io/", false),
        ("https://github.io/", "n=v; Domain=github.io", "https://github.io/", true),
        ("https://github.io/", "n=v; Domain=github.io", "https://a.github.io/", false),
        // Addresses.
        ("http://127.0.0.1/", "n=v", "http://127.0.0.1/", true),
        ("http://127.0.0.1/", "n=v; Domain=0.0.1", "http://127.0.0.1/", false),
        ("http://[::1]/", "n=v", "http://[::1]/", true),
        // Ports do not separate cookies. Schemes do if the cookie is secure.
        ("http://a.test:8000/", "n=v", "http://a.test:9000/", true),
        ("https://a.test/", "n=v; Secure", "http://a.test/", false),
        ("http://a.test/", "n=v; Secure", "https://a.test/", false),
        ("https://a.test/", "n=v", "http://a.test/", true),
        // Paths.
        ("https://a.test/x/y", "n=v", "https://a.test/x/z", true),
        ("https://a.test/x/y", "n=v", "https://a.test/xy", false),
        ("https://a.test/x/y", "n=v; Path=/", "https://a.test/", true),
        ("https://a.test/", "n=v; Path=/x", "https://a.test/xy", false),
        ("https://a.test/", "n=v; Path=/x", "https://a.test/x/y", true),
        // Time.
        ("https://a.test/", "n=v; Max-Age=60", "https://a.test/", true),
        ("https://a.test/", "n=v; Max-Age=0", "https://a.test/", false),
        ("https://a.test/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.test/", false),
        ("https://a.test/", "n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", "https://a.test/", true),
        // Prefixes.
        ("https://a.test/", "__Secure-n=v", "https://a.test/", false),
        ("https://a.test/", "__Secure-n=v; Secure", "https://a.test/", true),
        ("https://a.test/", "__Host-n=v; Secure; Path=/", "https://a.test/", true),
        ("https://a.test/", "__Host-n=v; Secure; Path=/; Domain=a.test", "https://a.test/", false),
        ("https://a.test/", "__host-n=v; Secure", "https://a.test/", false),
        ("https://a.test/", "n=v; SameSite=None", "https://a.test/", false),
        ("https://a.test/", "n=v; SameSite=None; Secure", "https://a.test/", true),
        // Values that are no cookie.
        ("https://a.test/", "", "https://a.test/", false),
        ("https://a.test/", "n=\u{1}", "https://a.test/", false),
    ] {
        assert_eq!(sent(from, cookie, to).is_some(), expected, "{from} sets {cookie:?}, asked by {to}");
    }
}

#[test]
fn longer_paths_come_first_and_new_values_replace_old_ones() {
    let mut jars = jars();
    let page = url("https://a.test/x/y");
    let stored = jars.store(&page, ["a=1; Path=/", "b=2; Path=/x", "c=3; Path=/"]);
    assert_eq!(stored, Stored { changed: vec!["a.test".into()], refused: 0 });
    assert_eq!(jars.header(&page).unwrap(), "b=2; a=1; c=3");
    assert_eq!(jars.store(&page, ["a=1; Path=/"]).changed, Vec::<String>::new(), "nothing new");
    jars.store(&page, ["a=4; Path=/", "c=; Max-Age=0; Path=/"]);
    assert_eq!(jars.header(&page).unwrap(), "b=2; a=4");
    // A page without TLS does not change a cookie that was set with TLS.
    jars.store(&page, ["s=1; Secure; Path=/"]);
    assert_eq!(jars.store(&url("http://a.test/"), ["s=2; Path=/"]).refused, 1);
    assert!(jars.header(&page).unwrap().contains("s=1"));
}

#[test]
fn jars_come_back_from_the_state() {
    let mut jars = jars();
    let pages = ["https://www.a.com/x/", "https://b.test/"].map(url);
    jars.store(&pages[0], ["a=1; Domain=a.com; Path=/; Max-Age=1000; HttpOnly", "b=2; Secure", "b=3; Path=/"]);
    jars.store(&pages[1], ["c=4"]);
    let mut other = super::Jars::default();
    for site in ["a.com", "b.test"] {
        assert!(other.restore(&jars.to_bytes(site).unwrap()));
    }
    for page in ["https://www.a.com/x/", "https://b.a.com/", "http://www.a.com/x/", "https://b.test/"].map(url) {
        assert_eq!(jars.header(&page), other.header(&page), "{page}");
    }
    assert_eq!(other.to_bytes("a.com"), jars.to_bytes("a.com"));
    assert_eq!(other.to_bytes("c.test"), None);
    assert!(!other.restore(b"something else"));
}

#[test]
fn files_of_browsers_are_read() {
    let netscape = "# Netscape HTTP Cookie File\n\n.a.com\tTRUE\t/\tTRUE\t4102444800\tsid\tsecret\n\
        #HttpOnly_b.test\tFALSE\t/x\tFALSE\t0\tt\tv=1\r\nb.test\tFALSE\t/\tFALSE\t0\tempty\n";
    let json = r#"[{"domain":".a.com","hostOnly":false,"path":"/","secure":true,"name":"sid","value":"secret","expirationDate":4102444800.5,"sameSite":"lax"},
        {"domain":"b.test","path":"/x","httpOnly":true,"name":"t","value":"v=1","session":true},
        {"domain":"b.test","path":"/","name":"empty","value":"","expires":-1}]"#;
    let state = format!("{{\"cookies\":{json},\"origins\":[]}}");
    for text in [netscape, json, &state] {
        let mut jars = jars();
        assert_eq!(
            jars.load(file::read(text).unwrap()),
            Stored { changed: vec!["a.com".into(), "b.test".into()], refused: 0 }
        );
        assert_eq!(jars.header(&url("https://www.a.com/")).unwrap(), "sid=secret");
        assert_eq!(jars.header(&url("http://www.a.com/")), None);
        assert_eq!(jars.header(&url("http://b.test/x")).unwrap(), "t=v=1; empty=");
        assert_eq!(jars.header(&url("http://www.b.test/x")), None);
    }
    for (text, error) in [
        ("a b c", FileError::Line(1)),
        ("\n.a\tTRUE\t/\tTRUE\tsoon\tn\tv", FileError::Line(1)),
        ("[{\"host\":\"a.test\",\"cookieName\":\"sid\"}]", FileError::Foreign),
        ("[{\"name\":\"secret", FileError::Json("line 1, column 16".into())),
        ("{\"a\":1}", FileError::Json("expected [{\"domain\", \"name\", \"value\", …}, …]".into())),
    ] {
        assert_eq!(file::read(text).unwrap_err(), error, "{text:?}");
    }
}

#[test]
fn a_cookie_bomb_stays_small_and_harms_nobody_else() {
    let mut jars = jars();
    let friend = url("https://friend.test/");
    jars.store(&friend, ["session=1"]);
    let bomber = url("https://bomb.test/");
    for round in 0..400 {
        let bombs: Vec<String> =
            (0..256).map(|n| format!("c{round}-{n}={}", "x".repeat(if n % 16 == 0 { 4_000 } else { 90 }))).collect();
        jars.store(&bomber, bombs.iter().map(String::as_str));
    }
    let limits = Limits::default();
    assert_eq!(jars.len(), limits.per_site + 1, "of 102,400 cookies");
    assert!(jars.bytes() < (limits.per_site + 1) * 5_000, "{}", jars.bytes());
    let header = jars.header(&bomber).unwrap();
    assert!(header.len() <= limits.header_bytes, "{}", header.len());
    assert_eq!(jars.header(&friend).unwrap(), "session=1");
    assert_eq!(jars.store(&bomber, [format!("n={}", "x".repeat(4_096)).as_str()]).refused, 1, "too long");
    assert_eq!(jars.store(&bomber, [format!("n={}", "x".repeat(4_095)).as_str()]).refused, 0);
}

#[test]
fn the_site_that_nobody_asked_for_goes_first() {
    let mut jars = Jars::new(Limits { total_bytes: 100_000, ..Limits::default() });
    let value = format!("n={}", "x".repeat(900));
    let asked = url("https://asked.test/");
    jars.store(&asked, ["n=1"]);
    let mut gone = 0;
    for n in 0..100_000 / 500 {
        let stored = jars.store(&url(&format!("https://s{n}.test/")), [value.as_str()]);
        gone += stored.changed.len() - 1;
        assert!(jars.header(&asked).is_some());
        assert!(jars.bytes() <= 100_000);
    }
    assert!(gone > 100 && jars.header(&url("https://s0.test/")).is_none());
    assert_eq!(jars.len(), 201 - gone);
}

#[test]
fn secrets_are_not_shown() {
    for (name, value, shown) in [
        ("Cookie", "a=1; b=2=3; c", "a=[redacted]; b=[redacted]; [redacted]"),
        ("set-cookie", "a=1; Path=/; HttpOnly", "a=[redacted]; Path=/; HttpOnly"),
        ("Set-Cookie", "a=1", "a=[redacted]"),
        ("Authorization", "Bearer abc def", "Bearer [redacted]"),
        ("Authorization", "abc", "[redacted]"),
        ("Accept", "text/html", "text/html"),
    ] {
        assert_eq!(redact(name, value.as_bytes()), shown.as_bytes(), "{name}: {value}");
    }
}

proptest! {
    /// Whatever servers send, limits hold, and what is sent back is one line.
    #[test]
    fn limits_hold(lines in proptest::collection::vec("[ -~\t;=]{0,80}", 0..200), hosts in proptest::collection::vec("[a-c]{1,2}", 1..5)) {
        let mut jars = Jars::new(Limits { per_site: 5, total_bytes: 4_000, ..Limits::default() });
        for (n, line) in lines.iter().enumerate() {
            let page = url(&format!("https://{}.test/a/b", hosts[n % hosts.len()]));
            jars.store(&page, [line.as_str()]);
            if let Some(header) = jars.header(&page) {
                prop_assert!(!header.contains(['\n', '\r']));
            }
            prop_assert!(jars.sites.values().all(|site| site.len() <= 5));
            prop_assert!(jars.bytes() <= 4_000 || jars.sites.len() <= 1);
            prop_assert_eq!(jars.bytes(), jars.sites.values().map(Site::bytes).sum::<usize>());
        }
    }
}

#[test]
fn cookies_of_a_file_and_of_a_login_are_the_last_to_go() {
    let mut jars = Jars::new(Limits { per_site: 5, ..Limits::default() });
    jars.load(file::read("a.test\tTRUE\t/\tFALSE\t0\tfile\t1\n").unwrap());
    jars.store_lasting(&url("https://a.test/"), ["login=1; Domain=a.test"]);
    for n in 0..20 {
        jars.store(&url(&format!("https://s{n}.a.test/")), [format!("x={n}").as_str()]);
    }
    assert_eq!(jars.len(), 5);
    assert_eq!(jars.header(&url("https://a.test/")).as_deref(), Some("file=1; login=1"));
    // What the site sets again stays among them, and so it does after a restart.
    jars.store(&url("https://a.test/"), ["file=2; Domain=a.test"]);
    let bytes = jars.to_bytes("a.test").unwrap();
    let mut later = Jars::new(Limits { per_site: 5, ..Limits::default() });
    later.load(file::read("a.test\tTRUE\t/\tFALSE\t0\tfile\t1\n").unwrap());
    assert!(later.restore(&bytes));
    for n in 0..20 {
        later.store(&url(&format!("https://t{n}.a.test/")), [format!("x={n}").as_str()]);
    }
    assert!(later.header(&url("https://a.test/")).unwrap().contains("file=2"));
}

/// Catches a jar that keeps whole lines. The bound on all bytes would not count them.
#[test]
fn attributes_that_nobody_knows_are_not_kept() {
    let mut jars = Jars::new(Limits::default());
    let long = format!("a=1; Path=/x; Secure; HttpOnly; x={}", "y".repeat(100_000));
    jars.store(&url("https://a.test/x/y"), [long.as_str()]);
    assert_eq!(jars.header(&url("https://a.test/x/")).as_deref(), Some("a=1"));
    assert_eq!(jars.header(&url("https://a.test/")), None, "the path still counts");
    assert_eq!(jars.header(&url("http://a.test/x/")), None, "and so does the flag");
    let site = jars.sites.values().next().expect("one site");
    assert!(!format!("{site:?}").contains("yyyy"), "the line is kept");
}
