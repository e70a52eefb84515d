//! Cases that standards publish as files. They lie outside of the repository; without them these tests are ignored.

use std::path::Path;

use crawler::cookies::{Jars, Limits};
use crawler::permissions::tdm::TdmFile;
use crawler::signing::publish::{Agent, Kind};
use crawler::signing::thumbprint;
use serde_json::Value;
use url::Url;

fn spec(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/specs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases(name: &str) -> Vec<Value> {
    serde_json::from_str(&spec(name)).expect("a list of cases")
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data/specs")]
fn keys_have_the_thumbprints_of_the_vectors() {
    for case in cases("web-bot-auth/thumbprint_vectors.json") {
        let key: Value = serde_json::from_str(case["jwk"].as_str().expect("a key")).expect("JSON");
        assert_eq!(thumbprint(&key).as_deref(), case["thumbprint"].as_str(), "{}", case["name"]);
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data/specs")]
fn agents_are_those_of_the_vectors() {
    for case in cases("web-bot-auth/web_bot_auth_signature_agent_v1.json") {
        let entry = &case["entries"][0];
        let kind = match entry["type"].as_str() {
            Some("directory") => Kind::Directory,
            Some("jwks_uri") => Kind::JwksUri,
            Some("cimd") => Kind::Card,
            other => panic!("{other:?}"),
        };
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let agent = Agent { label: text("label"), uri: text("uri"), kind };
        assert_eq!(Some(agent.to_string().as_str()), case["header"].as_str(), "{}", case["name"]);
    }
}

/// A cookie may be set for the registrable domain of a host, and for nothing above it.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data/specs")]
fn cookies_stop_at_public_suffixes() {
    let list = spec("test_psl.txt");
    let mut checked = 0;
    for line in list.lines().filter_map(|line| line.strip_prefix("checkPublicSuffix(")) {
        let arguments: Vec<&str> =
            line.trim_end_matches(");").split(", ").map(|text| text.trim_matches('\'')).collect();
        let [host, domain] = arguments.as_slice() else { panic!("{line}") };
        let (Ok(url), false) = (Url::parse(&format!("https://{host}/")), host.starts_with('.') || *host == "null")
        else {
            continue;
        };
        let host = url.host_str().unwrap_or_default();
        let taken = |domain: &str| {
            let mut jars = Jars::new(Limits::default());
            jars.store(&url, [format!("n=v; Domain={domain}").as_str()]);
            // Whether it goes to another host below that domain, too.
            jars.header(&Url::parse(&format!("https://other.{domain}/")).expect("a URL")).is_some()
        };
        let registrable = Url::parse(&format!("https://{domain}/")).ok().filter(|_| *domain != "null");
        let registrable = registrable.as_ref().and_then(Url::host_str);
        if let Some(domain) = registrable {
            assert!(taken(domain), "{host} may set cookies for {domain}");
        }
        let mut above = host;
        while let Some((_, parent)) = above.split_once('.') {
            above = parent;
            let is_above = registrable.is_none_or(|domain| domain.len() > above.len());
            assert_eq!(taken(above), !is_above, "{host} and a cookie for {above}");
        }
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}

/// Every block of JSON in the specification that is a file of rules is one to us, too.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data/specs")]
fn files_of_rules_in_the_specification_say_something() {
    let text = spec("tdmrep/spec/index.html");
    let mut found = 0;
    for (at, _) in text.match_indices("\"location\"") {
        let (before, after) = text.split_at(at);
        let (Some(start), Some(end)) = (before.rfind('['), after.find(']')) else { continue };
        let file = &text[start..at + end + 1];
        let rules: Vec<Value> = serde_json::from_str(file).expect("JSON");
        let read = TdmFile::read(file.as_bytes());
        let location = rules[0]["location"].as_str().expect("a location").replace('*', "x");
        let url = Url::parse("https://provider.com").and_then(|origin| origin.join(&location)).expect("a URL");
        let stated = read.of(&url).and_then(|stated| stated.reservation).map(u64::from);
        assert_eq!(stated, rules[0]["tdm-reservation"].as_u64(), "{file}");
        found += 1;
    }
    assert!(found >= 2, "{found}");
}
