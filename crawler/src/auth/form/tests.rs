//! Tests that a form is sent as a browser sends it.

use encoding_rs::{UTF_8, WINDOWS_1252};

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// The request of the first form of a page, as a URL and a body.
fn sent(html: &str, values: &[(&str, &str)]) -> (String, String) {
    let values: Vec<_> = values.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
    let forms = forms(html);
    let sent = choose(&forms, None).unwrap().submit(&url("https://a.test/in/login?x"), UTF_8, &values).unwrap();
    let body = sent.body.map(|body| body.reveal().to_owned()).unwrap_or_default();
    (sent.url.into(), body)
}

const PAGE: &str = r#"<form action="/search"><input name=q></form>
    <form id="login" method=POST action="/session?x=1#top">
    <input type=hidden name=csrf value="t&amp;k"> <input name=email> <input type=password name=pw>
    <input type=checkbox name=keep checked> <input type=checkbox name=spam> <input type=submit name=go value=Go>
    <select name=lang><option value=de>Deutsch<option value=en selected>English</select>
    <textarea name=note>a &lt; b</textarea></form>"#;

#[test]
fn a_form_is_sent_as_a_browser_would() {
    let forms = forms(PAGE);
    assert_eq!(forms.len(), 2);
    let form = choose(&forms, None).unwrap();
    assert_eq!((form.user.as_deref(), form.password.as_deref()), (Some("email"), Some("pw")));
    let values = [("user".into(), Secret::new("me@a.test")), ("password".into(), Secret::new("a&b"))];
    let sent = form.submit(&url("https://a.test/login"), UTF_8, &values).unwrap();
    assert_eq!(sent.url, url("https://a.test/session?x=1"));
    let body = sent.body.as_ref().unwrap().reveal();
    assert_eq!(body, "csrf=t%26k&email=me%40a.test&pw=a%26b&keep=on&go=Go&lang=en&note=a+%3C+b");
    assert!(!format!("{sent:?}").contains("a%26b"));
    let search = choose(&forms, Some("/search")).unwrap().submit(
        &url("https://a.test/x?y"),
        UTF_8,
        &[("q".into(), Secret::new("z"))],
    );
    assert_eq!(search.unwrap().url, url("https://a.test/search?q=z"));
    assert!(choose(&forms, Some("register")).is_none());
    assert!(super::forms(&"<form><input name=a>".repeat(10_000))[0].fields.len() <= 512);
}

#[test]
fn a_form_is_sent_in_the_encoding_of_its_page() {
    let forms = forms("<form method=post><input name=u><input type=password name=p></form>");
    let values = [("u".into(), Secret::new("Zoë")), ("p".into(), Secret::new("pä\u{4e00}"))];
    let sent = forms[0].submit(&url("https://a.test/"), WINDOWS_1252, &values).unwrap();
    assert_eq!(sent.body.unwrap().reveal(), "u=Zo%EB&p=p%E4%26%2319968%3B");
}

#[test]
fn the_first_button_is_sent_unless_the_plan_names_another() {
    let page = "<form method=post><input name=u><input type=password name=p><button type=button name=b>no</button>\
        <input type=submit name=off value=1 disabled><button name=go value=in formaction=/go>In</button>\
        <input type=submit name=reset value=R formaction=/reset></form>";
    let (address, body) = sent(page, &[("password", "x")]);
    assert_eq!((address.as_str(), body.as_str()), ("https://a.test/go", "u=&p=x&go=in"));
    let (address, body) = sent(page, &[("reset", "1")]);
    assert_eq!((address.as_str(), body.as_str()), ("https://a.test/reset", "u=&p=&reset=1"));
    let page = "<form method=post><input type=password name=p><input type=image name=i></form>";
    assert_eq!(sent(page, &[]).1, "p=&i.x=0&i.y=0");
    let page = "<form><input type=password name=p><button formmethod=POST>In</button></form>";
    assert_eq!(sent(page, &[]), ("https://a.test/in/login?x".into(), "p=".into()));
}

#[test]
fn fields_are_those_of_a_browser() {
    for (page, expected) in [
        // The text of an option is its value, if it has no other.
        ("<select name=s><option>One  two<option selected> three</select>", "p=&s=three"),
        ("<select name=s><option disabled>pick<option>One  two</select>", "p=&s=One+two"),
        ("<select name=s multiple><option>1<option selected>2<option selected>3</select>", "p=&s=2&s=3"),
        ("<textarea name=t>\na\nb</textarea>", "p=&t=a%0D%0Ab"),
        // Disabled fields are not sent.
        ("<input name=a value=1 disabled><fieldset disabled><input name=b></fieldset><input name=c>", "p=&c="),
        ("<select name=s disabled><option>1</select><textarea name=t disabled>x</textarea>", "p="),
        // What is in a template is not part of the page.
        ("<template><input name=a></template><input name=b value=2>", "p=&b=2"),
    ] {
        let page = format!("<form method=post><input type=password name=p>{page}</form>");
        assert_eq!(sent(&page, &[]).1, expected, "{page}");
    }
}

#[test]
fn fields_outside_a_form_can_belong_to_it() {
    let page = "<base href=/base/><base href=/other/><input name=a value=1 form=f>\
        <template><form method=post action=fake><input type=password name=no></form></template>\
        <form id=f method=post action=enter><input type=password name=p></form>\
        <input name=b value=2 form=f><input name=c form=g><input name=d><button form=f name=go>In</button>";
    let (address, body) = sent(page, &[]);
    assert_eq!((address.as_str(), body.as_str()), ("https://a.test/base/enter", "a=1&p=&b=2&go="));
}

#[test]
fn an_address_with_a_user_is_sent_without_it() {
    let page = "<form method=post action=https://me:s3cret@a.test/x><input type=password name=p></form>";
    assert_eq!(sent(page, &[]).0, "https://a.test/x");
}
