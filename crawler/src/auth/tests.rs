//! Tests with the vectors of the RFCs, and a login site in memory.

use encoding_rs::UTF_8;
use url::Url;

use super::digest::Challenge;
use super::login::{Answer, LoginSession, Step};
use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn environment(name: &str) -> Option<String> {
    (name == "SITE_PASSWORD").then(|| "correct horse".into())
}

#[test]
fn digests_are_those_of_the_rfcs() {
    let rfc_7616 = "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
    let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
    let mufasa = ("Mufasa", "Circle of Life");
    let lower = ("Mufasa", "Circle Of Life");
    let doe = ("J\u{e4}s\u{f8}n Doe", "Secret, or not?");
    for (challenge, (user, password), target, cnonce, response) in [
        // RFC 7616, section 3.9.1.
        (
            format!("Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=MD5, {rfc_7616}"),
            mufasa,
            "/dir/index.html",
            cnonce,
            "8ca523f5e9506fed4657c9700eebdbec",
        ),
        (
            format!("Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=SHA-256, {rfc_7616}"),
            mufasa,
            "/dir/index.html",
            cnonce,
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
        ),
        // RFC 7616, section 3.9.2, as its erratum 4897 corrects it.
        (
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, userhash=true, \
             nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\""
                .into(),
            doe,
            "/doe.json",
            "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
            "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5",
        ),
        // RFC 2617, section 3.5, and the same without qop.
        (
            "digest realm=\"testrealm@host.com\",qop=\"auth,auth-int\",nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"".into(),
            lower,
            "/dir/index.html",
            "0a4f113b",
            "6629fae49393a05397450978507c4ef1",
        ),
        (
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"".into(),
            lower,
            "/dir/index.html",
            "",
            "670fd8c2df070c60b045671b8b24ff02",
        ),
    ] {
        let read = Challenge::read(&challenge).unwrap();
        let answer = read.answer(user, password, "GET", target, 1, cnonce);
        assert!(answer.contains(&format!("response=\"{response}\"")), "{challenge}\n{answer}");
        assert!(!answer.contains(password));
    }
    for odd in [
        "Basic realm=\"x\"",
        "Digest",
        "Digest realm=\"x\"",
        "Digest nonce=\"x\", algorithm=ROT13",
        "Digest nonce=\"x\", qop=auth-int",
    ] {
        assert_eq!(Challenge::read(odd), None, "{odd}");
    }
    let quoted = Challenge::read(r#"Digest realm="a \"b\", nonce=\"c\"", nonce=d, stale=TRUE"#).unwrap();
    assert!(quoted.stale && quoted.answer("u", "p", "GET", "/", 1, "").contains(r#"realm="a \"b\", nonce=\"c\"""#));
}

const PLAN: &str = r#"
    [[login]]
    url = "https://a.test/login"
    fields.user = "me"
    fields.password = { env = "SITE_PASSWORD" }
    check = { url = "https://a.test/account", contains = "Log out" }

    [[auth]]
    host = "b.test"
    scheme = "basic"
    user = "Aladdin"
    password = "open sesame"

    [[auth]]
    host = "c.test:8443"
    scheme = "bearer"
    token = { env = "SITE_PASSWORD" }

    [[auth]]
    host = "d.test"
    scheme = "digest"
    user = "Mufasa"
    password = "Circle Of Life"
"#;

/// Whether the page of `d.test` is asked once more after a 401 with these challenges.
fn heard(credentials: &mut Credentials, challenges: &[&str], sent: Option<&str>) -> bool {
    credentials.heard(&url("https://d.test/x?y"), 401, challenges.iter().copied(), sent)
}

#[test]
fn a_challenge_is_answered_once_for_each_request() {
    let mut credentials = LoginFile::read(PLAN, environment).unwrap().credentials;
    let (page, other) = (url("https://d.test/x?y"), url("https://d.test/other"));
    let challenge = |nonce: u8| format!("Basic realm=\"b, c\", Digest realm=\"r\", nonce=\"{nonce}\", qop=\"auth\"");
    let mut ask = |address: &Url, sent: Option<&str>, nonce: u8| {
        let again = credentials.heard(address, 401, [challenge(nonce).as_str()], sent);
        (again, credentials.header("GET", address, 1).unwrap())
    };
    let (again, first) = ask(&page, None, 1);
    assert!(again && first.contains(" nonce=\"1\", nc=00000001"), "{first}");
    let (again, second) = ask(&page, Some(&first), 2);
    assert!(!again, "the password may be wrong");
    assert!(ask(&other, None, 3).0, "this request was on its way without an answer");
    credentials.heard(&page, 200, [], Some(&second));
    for nonce in 4..6 {
        // Each nonce is good once, and nobody says that the last one is stale.
        assert!(credentials.heard(&page, 401, [challenge(nonce).as_str()], Some(&second)), "{nonce}");
        assert!(!credentials.heard(&page, 401, [challenge(nonce + 2).as_str()], Some(&second)), "{nonce}: once");
    }
}

#[test]
fn passwords_are_not_shown_without_tls_on_a_host_that_has_it() {
    let plan = |host: &str, more: &str| {
        let text = format!("[[auth]]\nhost = \"{host}\"\nscheme = \"basic\"\nuser = \"u\"\npassword = \"p\"\n{more}");
        LoginFile::read(&text, environment).unwrap().credentials
    };
    let (open, safe) = (url("http://a.test/"), url("https://a.test/"));
    let has = |credentials: &mut Credentials, url: &Url| credentials.header("GET", url, 1).is_some();
    let mut credentials = plan("a.test", "");
    assert!(has(&mut credentials, &open), "nobody has asked for anything else");
    assert!(has(&mut credentials, &safe) && !has(&mut credentials, &open));
    let mut credentials = plan("A.test", "");
    credentials.guard(&[url("https://a.test/x")]);
    assert!(!has(&mut credentials, &open), "a seed with https");
    let mut credentials = plan("a.test", "http = true");
    assert!(has(&mut credentials, &safe) && has(&mut credentials, &open), "the plan allows it");
    // A port is meant as it is given.
    for (host, over_tls) in [("a.test:443", true), ("a.test:80", false)] {
        let mut credentials = plan(host, "");
        assert_eq!((has(&mut credentials, &safe), has(&mut credentials, &open)), (over_tls, !over_tls), "{host}");
    }
}

#[test]
fn a_host_gets_its_own_credentials_and_no_other_does() {
    let mut credentials = LoginFile::read(PLAN, environment).unwrap().credentials;
    for (address, expected) in [
        ("https://b.test/x", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
        ("https://sub.b.test/", None),
        ("https://b.test:8080/", None),
        ("https://c.test:8443/", Some("Bearer correct horse")),
        ("https://c.test/", None),
        ("https://d.test/", None),
    ] {
        assert_eq!(credentials.header("GET", &url(address), 1).as_deref(), expected, "{address}");
    }
    let page = url("https://d.test/x?y");
    let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
    assert!(heard(&mut credentials, ["Negotiate", challenge].as_slice(), None), "the first one is answered");
    let header = credentials.header("GET", &page, 7).unwrap();
    assert!(
        header.contains("uri=\"/x?y\"")
            && header.contains("nc=00000001")
            && header.contains("cnonce=\"0000000000000007\"")
    );
    assert!(credentials.header("GET", &page, 8).unwrap().contains("nc=00000002"));
    assert!(!heard(&mut credentials, &[challenge], Some(&header)), "a wrong password is not sent again");
    assert!(heard(&mut credentials, &[&format!("{challenge}, stale=true")], Some(&header)));
    let basic = url("https://b.test/");
    assert!(!credentials.heard(&basic, 401, [challenge], Some("Basic x")), "basic was sent already");
    assert!(!format!("{credentials:?}").contains("sesame"));
}

#[test]
fn a_plan_says_what_is_wrong_without_saying_secrets() {
    for (text, expected) in [
        ("[[login]]\nurl = \"ftp://a\"", "ftp://a: not an http or https URL"),
        (
            "[[login]]\nurl = \"https://a.test\"\nfields.p = { env = \"NONE\" }",
            "the environment variable NONE is not set",
        ),
        ("[[login]]\nurl = \"https://me:hunter2@a.test/\"", "https://…@a.test/: no user name"),
        ("[[login]]\nurl = \"https://me:hunter2@a b/\"", "https://…@a b/: not an http or https URL"),
        ("[[auth]]\nhost = \"http://a.test\"\nscheme = \"basic\"", "http://a.test: not a host, with its port"),
        ("[[auth]]\nhost = \"a.test/x\"\nscheme = \"basic\"", "a.test/x: not a host, with its port"),
        ("[[auth]]\nhost = \"me:hunter2@a\"\nscheme = \"basic\"", "…@a: not a host, with its port"),
        ("[[auth]]\nhost = \"a\"\nscheme = \"ntlm\"", "ntlm: not one of basic, digest, bearer"),
        ("[[auth]]\nhost = \"a\"\nscheme = \"basic\"\nuser = \"u\"", "a: needs a password"),
        ("[[auth]]\nhost = \"a\"\nscheme = \"basic\"\npasswort = \"hunter2\"", "line 4: unknown field `passwort`"),
        ("[[auth]]\npassword = \"hunter2", "line 2: invalid basic string"),
    ] {
        let error = LoginFile::read(text, environment).unwrap_err().to_string();
        assert!(error.starts_with(expected) && !error.contains("hunter2"), "{text}: {error}");
    }
    assert!(!format!("{:?}", LoginFile::read(PLAN, environment).unwrap()).contains("horse"));
}

/// A site whose tokens are good once, and which can lose its session.
#[derive(Default)]
struct Site {
    tokens: u32,
    inside: bool,
    posts: u32,
}

impl Site {
    fn page(&mut self, address: &Url) -> (u16, String) {
        match address.path() {
            "/login" => {
                self.tokens += 1;
                (
                    200,
                    format!(
                        "<form method=post action=/session><input type=hidden name=csrf value={}><input name=user><input type=password name=password></form>",
                        self.tokens
                    ),
                )
            }
            "/account" if self.inside => (200, "Hello. <a href=/logout>Log out</a>".into()),
            _ => (403, "who are you?".into()),
        }
    }

    fn take(&mut self, body: &str) -> (u16, String) {
        self.posts += 1;
        self.inside = body == format!("csrf={}&user=me&password=correct+horse", self.tokens);
        self.tokens += 1;
        (200, "welcome or not".into())
    }

    /// Runs a login to its end.
    fn run(&mut self, session: &mut LoginSession) -> Step {
        let mut step = session.begin();
        for _ in 0..10 {
            let (address, (status, html)) = match &step {
                Step::Get(address) => (address.clone(), self.page(address)),
                Step::Submit(sent) => (sent.url.clone(), self.take(sent.body.as_ref().unwrap().reveal())),
                Step::Done | Step::Failed(_) => return step,
            };
            step = session.answer(&Answer { url: &address, status, html: &html, encoding: UTF_8 });
        }
        panic!("no end")
    }
}

/// Whether an answer loses the session.
fn lost(session: &mut LoginSession, status: u16, redirect: Option<&Url>, html: &str) -> bool {
    let page = url("https://a.test/page");
    let is_lost = session.login().is_lost(status, redirect, html.as_bytes());
    session.saw(&page, status, is_lost)
}

#[test]
fn a_login_gets_in_and_gets_in_again_when_the_session_is_lost() {
    let mut site = Site::default();
    let mut session = LoginSession::new(LoginFile::read(PLAN, environment).unwrap().logins.remove(0));
    assert_eq!(site.run(&mut session), Step::Done);
    assert!(session.is_inside());
    let login = url("https://a.test/login?next=/x");
    assert!(!lost(&mut session, 200, None, "a page"));
    assert!(!lost(&mut session, 302, Some(&url("https://b.test/login")), ""), "another host's login page");
    site.inside = false;
    assert!(lost(&mut session, 302, Some(&login), ""));
    assert!(lost(&mut session, 302, Some(&login), ""), "it was requested before the session was lost");
    assert_eq!(site.run(&mut session), Step::Done);
    assert_eq!(site.posts, 2);
    assert!(!lost(&mut session, 200, None, "a page"));
    // A site that takes the session away at once is not asked for ever.
    let mut pages = (0..).map(|n| url(&format!("https://a.test/{n}")));
    let mut posts = 2;
    while session.saw(&pages.next().unwrap(), 401, true) && site.run(&mut session) == Step::Done {
        posts += 1;
    }
    assert!(matches!(site.run(&mut session), Step::Failed(_)));
    assert_eq!((site.posts, posts), (2 + LoginSession::MAX_ATTEMPTS, 2 + LoginSession::MAX_ATTEMPTS));
}

#[test]
fn a_url_that_ends_each_session_is_answered_and_does_not_end_the_crawl() {
    let mut site = Site::default();
    let mut session = LoginSession::new(LoginFile::read(PLAN, environment).unwrap().logins.remove(0));
    assert_eq!(site.run(&mut session), Step::Done);
    for n in 0..10 {
        let (bye, page) = (url(&format!("https://a.test/bye/{n}")), url(&format!("https://a.test/{n}")));
        assert!(session.saw(&bye, 401, true), "perhaps the session has come to its end");
        assert_eq!(site.run(&mut session), Step::Done);
        assert!(!session.saw(&bye, 401, true), "it is the URL");
        assert_eq!(site.run(&mut session), Step::Done, "{n}");
        assert!(!session.saw(&page, 200, false));
    }
}

#[test]
fn a_session_is_lost_where_pages_redirect_to_the_form_that_the_login_was_led_to() {
    let plan = "[[login]]\nurl = \"https://a.test/signin\"\nfields.password = \"p\"";
    let mut session = LoginSession::new(LoginFile::read(plan, environment).unwrap().logins.remove(0));
    // The page workers have a copy that was made before the login.
    let copy = session.login().clone();
    let form = url("https://a.test/login");
    assert!(!copy.is_lost(302, Some(&form), b""), "nobody knows of it yet");
    session.begin();
    let html = "<form method=post action=/enter><input type=password name=password></form>";
    assert!(matches!(session.answer(&Answer { url: &form, status: 200, html, encoding: UTF_8 }), Step::Submit(_)));
    assert!(copy.is_lost(302, Some(&url("https://a.test/login?next=/x")), b""));
    assert!(copy.is_lost(302, Some(&url("https://a.test/signin")), b""));
    assert!(!copy.is_lost(302, Some(&url("https://b.test/login")), b""), "another host");
}

#[test]
fn a_login_that_fails_says_why_and_is_not_tried_again() {
    let session = |password: &str| {
        let text = format!(
            "[[login]]\nurl = \"https://a.test/login\"\nfields.user = \"me\"\nfields.password = \"{password}\"\ncheck.url = \"https://a.test/account\""
        );
        LoginSession::new(LoginFile::read(&text, environment).unwrap().logins.remove(0))
    };
    let (mut right, mut wrong) = (session("correct horse"), session("wrong"));
    assert_eq!(Site::default().run(&mut right), Step::Done, "the control");
    let mut site = Site::default();
    assert!(
        matches!(site.run(&mut wrong), Step::Failed(why) if why.contains("https://a.test/account answers with status 403"))
    );
    assert!(matches!(site.run(&mut wrong), Step::Failed(_)));
    assert_eq!(site.posts, 1);
    // Fields that the form does not have are named: one of them may be a mistake.
    let text = "[[login]]\nurl = \"https://a.test/login\"\nfields.username = \"me\"\nfields.password = \"x\"\n\
        check.url = \"https://a.test/account\"";
    let mut odd = LoginSession::new(LoginFile::read(text, environment).unwrap().logins.remove(0));
    let step = Site::default().run(&mut odd);
    let said = "The form has no field \"username\" (it has [\"csrf\", \"user\", \"password\"]).";
    assert!(matches!(&step, Step::Failed(why) if why.contains(said)), "{step:?}");
    assert!(!format!("{:?}", Site::default().run(&mut wrong)).contains("has no field"));
    let home = url("https://a.test/login");
    for (html, why) in [
        ("<form action=https://evil.test/ method=post><input type=password name=p></form>", "another host"),
        ("<form action=http://a.test/ method=post><input type=password name=p></form>", "without TLS"),
        ("<form action=https://x.a.test/ method=post><input type=password name=p></form>", ""),
        ("<p>no form</p>", "no such form"),
    ] {
        let mut session = session("correct horse");
        session.begin();
        let step = session.answer(&Answer { url: &home, status: 200, html, encoding: UTF_8 });
        match &step {
            Step::Submit(sent) => assert!(why.is_empty(), "{sent:?}"),
            Step::Failed(said) => assert!(!why.is_empty() && said.contains(why), "{step:?}"),
            _ => panic!("{step:?}"),
        }
    }
    // The login page redirects to a stranger, whose form leads to himself.
    let mut session = session("correct horse");
    session.begin();
    let html = "<form method=post><input type=password name=p></form>";
    let step = session.answer(&Answer { url: &url("https://evil.example/"), status: 200, html, encoding: UTF_8 });
    assert!(matches!(&step, Step::Failed(said) if said.contains("another host, evil.example")), "{step:?}");
}

#[test]
fn a_login_reaches_the_hosts_that_get_its_cookies() {
    let plan = "[[login]]\nurl = \"https://sso.site.test/login\"\nfields.password = \"p\"";
    let mut session = LoginSession::new(LoginFile::read(plan, environment).unwrap().logins.remove(0));
    let copy = session.login().clone();
    let (login, www) = (url("https://sso.site.test/login"), url("https://www.site.test/"));
    session.begin();
    session.was_given(&login, "seen=1; Domain=site.test");
    assert!(!copy.concerns(&www), "a cookie of the login page");
    let html = "<form method=post action=/enter><input type=password name=p></form>";
    assert!(matches!(session.answer(&Answer { url: &login, status: 200, html, encoding: UTF_8 }), Step::Submit(_)));
    session.was_given(&url("https://app.site.test/callback"), "own=1");
    assert!(copy.concerns(&url("https://app.site.test/")) && !copy.concerns(&url("https://x.app.site.test/")));
    session.was_given(&url("https://other.test/"), "sid=1; Domain=other.test");
    session.was_given(&login, "sid=1; Path=/; domain=.Site.test; Secure");
    assert!(copy.concerns(&www) && copy.concerns(&login));
    assert!(!copy.concerns(&url("https://other.test/")) && !copy.concerns(&url("https://notsite.test/")));
    assert_eq!(session.answer(&Answer { url: &www, status: 200, html: "hello", encoding: UTF_8 }), Step::Done);
    // A 401 of a host that has shown nothing may ask for another account.
    assert!(!session.saw(&www, 401, copy.is_lost(401, None, b"")));
    assert!(!session.saw(&www, 200, false));
    assert!(session.saw(&www, 401, copy.is_lost(401, None, b"")));
    session.begin();
    assert!(!session.is_inside());
}
