//! Tests that links that log out are known by their URLs, texts and labels, and that others are not.

use super::*;
use crate::auth::labels::labelled;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn links_that_log_out_are_known() {
    for (path, expected) in [
        ("/logout/9f86d081884c7d65", true),
        ("/%6cogout/", true),
        ("/lo%67out", true),
        ("/logout%2Ephp", true),
        ("/doLogout", true),
        ("/user_logout", true),
        ("/oidc_logout", true),
        ("/logout-user.php", true),
        ("/index.php?action=userLogout", true),
        ("/about-logout", false),
        ("/100%", false),
        ("/logout", true),
        ("/user/logout/", true),
        ("/Account/LogOff", true),
        ("/logout.php?token=1", true),
        ("/wiki/Special:UserLogout", true),
        ("/w/index.php?title=Special:UserLogout&returnto=x", true),
        ("/wp-login.php?action=logout&_wpnonce=1", true),
        ("/index.php?q=user/logout", true),
        ("/?logout", true),
        ("/?logout=1", true),
        ("/ucp.php?mode=logout&sid=1", true),
        ("/users/sign_out", true),
        ("/logout;jsessionid=1", true),
        ("/articles/logout-problems", false),
        ("/logout/help", false),
        ("/search?q=logout", false),
        ("/?logout=false", false),
        ("/login", false),
        ("/blog", false),
    ] {
        assert_eq!(is_logout(&url("https://a.test/").join(path).unwrap()), expected, "{path}");
    }
}

#[test]
fn the_whole_text_of_a_link_tells_that_it_ends_a_session() {
    for text in ["Sign out", "LOG OUT", "» Logout «", "Abmelden", "Déconnexion", "Se déconnecter", "Выйти", "Log off."]
        .into_iter()
        .chain([
            "Log out (alice)",
            "Logout alice",
            "Log me out",
            "Sign out of all devices",
            "Sign out [Alice Smith]",
            "Log out: me@a.test",
        ])
    {
        assert!(says_logout(text), "{text}");
    }
    for text in ["", "→", "How to log out", "Sign outside", "Log out problems and what to do about them all", "out"]
        .into_iter()
        .chain(["Logout help", "Log out of this", "Sign-out-help"])
    {
        assert!(!says_logout(text), "{text}");
    }
}

#[test]
fn labels_tell_that_a_link_ends_a_session() {
    let page = "<base href=/in/><a href=bye#x title='Log out'>→</a> <a href=/b><img alt='Sign out'></a>\
        <a aria-label=Logout href=c>x</a> <a href=d title='Log in'>in</a> <img alt='Log out'>\
        <script>'<a href=e title=logout>'</script><map><area href=f alt='Log off'></map>";
    let found: Vec<String> = labelled(page.as_bytes(), &url("https://a.test/x")).into_iter().map(Into::into).collect();
    assert_eq!(found, ["https://a.test/in/bye", "https://a.test/b", "https://a.test/in/c", "https://a.test/in/f"]);
}
