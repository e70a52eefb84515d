//! Tests layers of configuration through the public interface: which layer beats which, and the errors for wrong input.

use std::path::Path;

use config::{ConfigError, Layers, OnDuplicate, ScopeKind, Settings, Size};

fn file(text: &str) -> Result<Layers, ConfigError> {
    Layers::new().text(Path::new("crawl.toml"), text)
}

fn message<T: std::fmt::Debug>(result: Result<T, ConfigError>) -> String {
    result.expect_err("an error").to_string()
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_profile_beats_the_default() {
    let env = variables(&[("CRAWLER_MAX_PAGES", "3"), ("CRAWLER_DISTANCE", "3"), ("HOME", "/")]);
    let settings = Layers::new()
        .profile("focused")
        .and_then(|layers| layers.text(Path::new("a.toml"), "dedup.on-duplicate = \"keep\"\ndedup.distance = 1"))
        .and_then(|layers| {
            layers.text(Path::new("b.toml"), "[limits]\nmax-pages = 2\n[dedup]\ndistance = 2\nthreads = 2")
        })
        .and_then(|layers| layers.env("CRAWLER_", env, &[]))
        .and_then(|layers| layers.set("dedup.distance", "4"))
        .and_then(Layers::finish)
        .unwrap();
    assert_eq!(settings.dedup.distance, 4);
    assert_eq!(settings.limits.max_pages, 3);
    assert_eq!(settings.dedup.threads, 2);
    assert_eq!(settings.dedup.on_duplicate, OnDuplicate::Keep);
    assert_eq!(settings.scope.scope, ScopeKind::Any);
    assert_eq!(settings.urls, Settings::default().urls);
}

#[test]
fn the_generic_profile_is_the_default() {
    assert_eq!(Layers::new().profile("generic").and_then(Layers::finish).unwrap(), Settings::default());
}

#[test]
fn text_is_read_as_its_key_asks() {
    let env = variables(&[
        ("CRAWLER_WARC", "1"),
        ("CRAWLER_DELAY_FACTOR", "2"),
        ("CRAWLER_INCLUDE", "a{1,2}"),
        ("CRAWLER_EXCLUDE", r#"["b", 'c\d']"#),
        ("CRAWLER_MAX_BODY", "1MiB"),
    ]);
    let settings = Layers::new()
        .env("CRAWLER_", env, &[])
        .and_then(|layers| layers.set("focus.topic", vec!["wool", "sheep"]))
        .and_then(|layers| layers.set("scope.sitemaps", true))
        .and_then(Layers::finish)
        .unwrap();
    assert!(settings.output.warc && settings.scope.sitemaps);
    assert_eq!(settings.politeness.delay_factor, 2.0);
    assert_eq!(settings.scope.include, ["a{1,2}"]);
    assert_eq!(settings.scope.exclude, ["b", r"c\d"]);
    assert_eq!(settings.fetch.max_body, Size(1 << 20));
    assert_eq!(settings.focus.topic, ["wool", "sheep"]);
}

#[test]
fn an_unknown_key_is_told_with_its_place_and_the_nearest() {
    let text = "# mine\n[dedup]\nthreads = 1\ndistanse = 3\n";
    assert_eq!(message(file(text)), "crawl.toml:4: unknown key `dedup.distanse`; did you mean `dedup.distance`?");
    let text = "\ndistance = 3\n";
    assert_eq!(message(file(text)), "crawl.toml:2: unknown key `distance`; did you mean `dedup.distance`?");
    assert_eq!(message(file("[polite]\nx = 3\n")), "crawl.toml:1: unknown key `polite`; did you mean `politeness`?");
    let flag = message(Layers::new().set("dedup.distanse", "3"));
    assert_eq!(flag, "--distanse: unknown key `dedup.distanse`; did you mean `dedup.distance`?");
}

#[test]
fn an_unknown_variable_is_told_with_the_nearest() {
    let env = |name: &str| Layers::new().env("CRAWLER_", variables(&[(name, "x")]), &["CRAWLER_DIR"]);
    let distanse = "unknown environment variable CRAWLER_DISTANSE; did you mean `CRAWLER_DISTANCE`?";
    assert_eq!(message(env("CRAWLER_DISTANSE")), distanse);
    assert_eq!(message(env("CRAWLER_DRI")), "unknown environment variable CRAWLER_DRI; did you mean `CRAWLER_DIR`?");
    assert!(env("CRAWLER_DIR").is_ok());
    assert!(env("OTHER_DISTANSE").is_ok());
    // Orchestrators make up names such as CRAWLER_SERVICE_HOST. With `env_of_any` such a name only brings a warning.
    let any = |name: &str| Layers::new().env_of_any("CRAWLER_", variables(&[(name, "x")]), &["CRAWLER_DIR"]);
    assert_eq!(any("CRAWLER_DISTANSE").unwrap().warnings(), [distanse]);
    assert_eq!(any("CRAWLER_DIR").unwrap().warnings(), [""; 0]);
}

#[test]
fn a_deprecated_key_still_works_and_says_what_took_its_place() {
    let rescue = |layers: Layers| layers.finish().unwrap().dedup.rescue.0;
    let off = file("[dedup]\naudits = false\naudits-from = 7\n").unwrap();
    assert_eq!(off.warnings().len(), 2, "{:?}", off.warnings());
    assert_eq!(rescue(off), 0.0);
    assert_eq!(rescue(Layers::new().set("dedup.audits", "true").unwrap()), 0.05);
    assert_eq!(rescue(file("[dedup]\nrescue = 0.1\n").unwrap()), 0.1);
    assert_eq!(rescue(file("[dedup]\nrescue = \"3%\"\n").unwrap()), 0.03);
}

#[test]
fn a_wrong_value_is_told_without_the_types_of_the_program() {
    for (key, value, said) in [
        ("dedup.on-duplicate", "foo", "\"foo\" is not one of drop, demote, keep"),
        ("politeness.robots", "foo", "\"foo\" is not one of obey, ignore"),
        ("limits.max-pages", "-3", "-3 is not a whole number from 0"),
        ("dedup.distance", "-1", "-1 is not a whole number from 0"),
        ("scope.include", "a(b", "\"a(b\" is not a regular expression: unclosed group"),
        ("fetch.connect-to", "a", "\"a\": 1 field instead of 4; write HOST1:PORT1:HOST2:PORT2"),
        ("refresh.share", "10", "\"10\" is not a share such as 30%, and not a range such as 10%..90%"),
    ] {
        let message = message(Layers::new().set(key, value));
        assert!(message.ends_with(&format!("`{key}`: {said}")), "{message}");
    }
    let text = "[limits]\nmax-pages = true\n";
    assert_eq!(message(file(text)), "crawl.toml:2: `limits.max-pages`: true is not a whole number from 0");
}

#[test]
fn an_unknown_profile_is_told_with_those_that_there_are() {
    assert_eq!(
        message(Layers::new().profile("focussed")),
        "unknown profile `focussed`: there are `generic` and `focused`"
    );
}

#[test]
fn a_bad_value_is_told_with_its_key() {
    for (key, value, needle) in [
        ("scope.scope", "hots", "one of host, "),
        ("scope.include", "a(", "unclosed group"),
        ("scope.max-depth", "deep", "not a whole number"),
        ("scope.max-depth", "-1", "-1"),
        ("scope.sitemaps", "maybe", "neither true nor false"),
        ("limits.patience", "10", "needs a unit"),
        ("dedup.distance", "65", "at most 64"),
        ("dedup.threads", "1025", "at most 1024"),
        ("politeness.delay-factor", "-1", "from 0 to 1000"),
        ("politeness.delay-factor", "NaN", "from 0 to 1000"),
        ("politeness.attempts", "0", "at least 1"),
        ("fetch.user-agent", "My Bot/1.0", "product token"),
        ("fetch.contact", "me\r\nEvil: 1", "control"),
        ("fetch.connect-to", "a:b:c:d", "HOST1:PORT1:HOST2:PORT2"),
        ("fetch.connect-to", "a:80:c", "HOST1:PORT1:HOST2:PORT2"),
        ("fetch.connect-to", "a:80:c:80:", "HOST1:PORT1:HOST2:PORT2"),
        ("fetch.timeout", "0", "at least 1"),
        ("fetch.proxy", "localhost:3128", "not an http"),
        ("fetch.headers", "no colon", "not a header"),
        ("fetch.headers", "A: b\nC: d", "not a header"),
        ("output.dashboard", ":8080", "not an address"),
        ("output.progress", "loud", "one of auto, "),
    ] {
        let told = message(Layers::new().set(key, value));
        assert!(told.contains(&format!("`{key}`")) && told.contains(needle), "{key} = {value}: {told}");
    }
    let told = message(file("[scope]\n\nmax-depth = \"deep\"\n"));
    assert!(told.starts_with("crawl.toml:3: `scope.max-depth`: "), "{told}");
    let told = message(file("scope = 3"));
    assert_eq!(told, "crawl.toml:1: `scope`: is a group of keys: write [scope] on a line of its own");
}

#[test]
fn good_values_pass_that_look_odd() {
    for (key, value) in [
        ("fetch.connect-to", "::127.0.0.1:8080"),
        ("fetch.connect-to", "[::1]:80:[fe80::1]:"),
        ("fetch.proxy", "socks5h://localhost:1080"),
        ("fetch.headers", "X-Empty:"),
        ("limits.time-limit", "0"),
        ("output.dashboard", "[::1]:0"),
    ] {
        Layers::new().set(key, value).unwrap_or_else(|error| panic!("{key} = {value}: {error}"));
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    let told = message(file("[scope]\nmax-depth = = 3\n"));
    assert!(told.starts_with("crawl.toml:2: "), "{told}");
    let told = message(Layers::new().file(Path::new("/no/such/file.toml")));
    assert!(told.starts_with("--config /no/such/file.toml: "), "{told}");
}

#[test]
fn values_that_do_not_fit_together_are_told_at_the_end() {
    let layers = Layers::new().set("fetch.max-body", "100MiB").unwrap();
    assert!(message(layers.clone().finish()).contains("`fetch.body-budget`"));
    assert!(layers.set("fetch.body-budget", "100MiB").and_then(Layers::finish).is_ok());
}

#[test]
fn an_age_that_does_not_fit_names_where_the_other_age_comes_from() {
    let stored = || Layers::new().stored("[refresh]\nmin-age = \"1h\"\n").unwrap();
    let error = stored().set("refresh.max-age", "30m").unwrap_err().to_string();
    let said =
        "`refresh.max-age`: is shorter than refresh.min-age, which is 1h (from the stored settings of the directory)";
    assert!(error.contains(said), "{error}");
    let error = stored().set("refresh.max-age", "2h").unwrap().set("refresh.min-age", "3h").unwrap_err().to_string();
    assert!(error.contains("refresh.max-age (from --max-age) is shorter than refresh.min-age, which is 3h"), "{error}");
    assert!(stored().set("refresh.max-age", "1h").is_ok());
}
