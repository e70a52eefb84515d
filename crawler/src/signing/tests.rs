//! Tests with the vectors of RFC 9421 (appendix B.2, and the examples of section 2.2) and those of the Web Bot Auth
//! working group.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;
use ring::signature::{ED25519, UnparsedPublicKey};
use url::Url;

use super::publish::directory;
use super::*;

/// The key of RFC 9421, appendix B.1.4, as PKCS#8 and as a JSON Web Key.
const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n";
const JWK: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519",
    "d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}"#;
const DIGEST: &str =
    "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:";

fn key() -> Key {
    Key::read(PEM).unwrap()
}

fn components(names: &[&str]) -> Vec<Component> {
    names.iter().map(|name| Component::new(name)).collect()
}

/// The signature base of the request of appendix B.2 for these components.
fn rfc_base(components: &[Component], key_id: &str, tag: Option<&str>) -> String {
    let url = Url::parse("https://example.com/foo?param=Value&Pet=dog").unwrap();
    let fields = [
        ("Host", "example.com"),
        ("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
        ("Content-Type", "application/json"),
        ("Content-Digest", DIGEST),
        ("Content-Length", "18"),
    ];
    let message = Message { method: "POST", url: &url, fields: &fields };
    let created = Some(1_618_884_473);
    let (key_id, tag) = (Some(key_id.to_owned()), tag.map(str::to_owned));
    let parameters = Parameters { created, key_id, tag, ..Parameters::default() };
    base::base(&message, components, &base::input(components, &parameters)).unwrap()
}

#[test]
fn rfc_9421_b_2_6_is_signed_as_printed() {
    let names = ["date", "@method", "@path", "@authority", "content-type", "content-length"];
    let base = rfc_base(&components(&names), "test-key-ed25519", None);
    assert_eq!(
        base,
        "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\"@authority\": example.com\n\
         \"content-type\": application/json\n\"content-length\": 18\n\"@signature-params\": (\"date\" \"@method\" \"@path\" \
         \"@authority\" \"content-type\" \"content-length\");created=1618884473;keyid=\"test-key-ed25519\""
    );
    let signature = BASE64_STANDARD.encode(key().sign(base.as_bytes()));
    assert_eq!(signature, "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==");
}

#[test]
fn rfc_9421_b_2_2_has_the_base_that_is_printed() {
    let mut covered = components(&["@authority", "content-digest"]);
    covered.push(Component::new("@query-param").with("name", "Pet"));
    let expected = format!(
        "\"@authority\": example.com\n\"content-digest\": {DIGEST}\n\"@query-param\";name=\"Pet\": dog\n\
         \"@signature-params\": (\"@authority\" \"content-digest\" \"@query-param\";name=\"Pet\");created=1618884473\
         ;keyid=\"test-key-rsa-pss\";tag=\"header-example\""
    );
    assert_eq!(rfc_base(&covered, "test-key-rsa-pss", Some("header-example")), expected);
}

#[test]
fn rfc_9421_b_2_5_verifies_with_its_shared_secret() {
    let secret = "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==";
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(secret).unwrap());
    let base = rfc_base(&components(&["date", "@authority", "content-type"]), "test-shared-secret", None);
    let tag = BASE64_STANDARD.decode("pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=").unwrap();
    assert!(hmac::verify(&secret, base.as_bytes(), &tag).is_ok());
}

/// The examples of RFC 9421, sections 2.1 and 2.2, that are about requests.
#[test]
fn components_have_the_values_of_the_examples() {
    let example = "https://www.example.com/path?param=value";
    let query = "https://www.example.com/path?param=value&foo=bar&baz=bat%2Dman&qux=";
    let odd = "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something";
    let plain = |name: &str| Component::new(name);
    let parameter = |name: &str| Component::new("@query-param").with("name", name);
    for (url, component, expected) in [
        (example, plain("@target-uri"), Some("https://www.example.com/path?param=value")),
        (example, plain("@authority"), Some("www.example.com")),
        ("https://WWW.Example.com:443/", plain("@authority"), Some("www.example.com")),
        ("https://www.example.com:8443/", plain("@authority"), Some("www.example.com:8443")),
        (example, plain("@scheme"), Some("https")),
        (example, plain("@request-target"), Some("/path?param=value")),
        (example, plain("@path"), Some("/path")),
        ("https://www.example.com", plain("@path"), Some("/")),
        (query, plain("@query"), Some("?param=value&foo=bar&baz=bat%2Dman&qux=")),
        ("https://www.example.com/path", plain("@query"), Some("?")),
        ("https://www.example.com/path?queryString", plain("@query"), Some("?queryString")),
        (query, parameter("baz"), Some("bat-man")),
        (query, parameter("qux"), Some("")),
        (query, parameter("param"), Some("value")),
        (query, parameter("absent"), None),
        ("https://www.example.com/?a=1&a=2", parameter("a"), None),
        (odd, parameter("var"), Some("this%20is%20a%20big%0Amultiline%20value")),
        (odd, parameter("bar"), Some("with%20plus%20whitespace")),
        (odd, parameter("fa%C3%A7ade%22%3A%20"), Some("something")),
        (example, plain("x-ows-header"), Some("Leading and trailing whitespace.")),
        (example, plain("x-obs-fold-header"), Some("Obsolete line folding.")),
        (example, plain("cache-control"), Some("max-age=60, must-revalidate")),
        (example, plain("x-empty-header"), Some("")),
        (example, plain("absent"), None),
        (example, plain("@status"), None),
        (example, plain("example-dict").with("key", "a"), Some("1")),
        (example, plain("example-dict").with("key", "d"), Some("?1")),
        (example, plain("example-dict").with("key", "b"), Some("2;x=1;y=2")),
        (example, plain("example-dict").with("key", "c"), Some("(a b c)")),
        (example, plain("example-dict").with("key", "e"), None),
    ] {
        let url = Url::parse(url).unwrap();
        let fields = [
            ("X-OWS-Header", "  Leading and trailing whitespace.   "),
            ("X-Obs-Fold-Header", "Obsolete\r\n    line folding."),
            ("Cache-Control", "max-age=60"),
            ("Cache-Control", "   must-revalidate"),
            ("X-Empty-Header", ""),
            ("Example-Dict", " a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        ];
        let message = Message { method: "GET", url: &url, fields: &fields };
        let base = base::base(&message, std::slice::from_ref(&component), "()");
        let value = base.and_then(|base| Some(base.lines().next()?.split_once(": ")?.1.to_owned()));
        assert_eq!(value.as_deref(), expected, "{component:?} of {url}");
    }
}

/// `web_bot_auth_architecture_v2.json`, the two vectors with Ed25519: without and with `Signature-Agent`.
#[test]
fn web_bot_auth_vectors_are_signed_as_given() {
    let url = Url::parse("https://example.com/path/to/resource").unwrap();
    let agent = Agent { label: "agent2".into(), uri: "https://signature-agent.test".into(), kind: Kind::Directory };
    let field = agent.to_string();
    let message = Message { method: "GET", url: &url, fields: &[("Signature-Agent", &field)] };
    for (covered, nonce, signature) in [
        (
            components(&["@authority"]),
            "zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A==",
            "QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nraNQdBNOADg8aM1MqfCg==",
        ),
        (
            vec![Component::new("@authority"), Component::new("signature-agent").with("key", "agent2")],
            "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
            "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
        ),
    ] {
        let parameters = Parameters {
            created: Some(1_735_689_600),
            key_id: Some(key().thumbprint()),
            algorithm: Some("ed25519".into()),
            expires: Some(4_889_289_600),
            nonce: Some(nonce.into()),
            tag: Some("web-bot-auth".into()),
        };
        let input = base::input(&covered, &parameters);
        let base = base::base(&message, &covered, &input).unwrap();
        assert_eq!(BASE64_STANDARD.encode(key().sign(base.as_bytes())), signature, "{input}");
    }
}

#[test]
fn a_request_is_signed_and_its_signature_verifies() {
    let signer = Signer::new(Key::read(JWK).unwrap(), "https://bot.example/", 60);
    let url = Url::parse("https://a.test:8443/x?y#z").unwrap();
    let headers = signer.sign("GET", &url, 1_000, &[7; 64]);
    assert_eq!(headers.signature_agent, "sig1=\"https://bot.example\"");
    let input = headers.signature_input.strip_prefix("sig1=").unwrap();
    assert!(
        input
            .starts_with("(\"@authority\" \"signature-agent\";key=\"sig1\");created=1000;keyid=\"poqkLGiymh_W0uP6PZFw")
    );
    assert!(input.contains(";expires=1060;nonce=\"BwcH") && input.ends_with(";tag=\"web-bot-auth\""), "{input}");
    let signature = headers.signature.strip_prefix("sig1=:").unwrap().trim_end_matches(':');
    let signature = BASE64_STANDARD.decode(signature).unwrap();
    let verify = |host: &str| {
        let base = format!(
            "\"@authority\": {host}\n\"signature-agent\";key=\"sig1\": \"https://bot.example\"\n\"@signature-params\": {input}"
        );
        UnparsedPublicKey::new(&ED25519, key().public()).verify(base.as_bytes(), &signature).is_ok()
    };
    assert!(verify("a.test:8443") && !verify("b.test:8443"));
}

#[test]
fn what_cannot_be_signed_is_not() {
    let url = Url::parse("https://a.test/").unwrap();
    for (fields, names) in
        [([("a", "1")], &["a", "a"]), ([("a", "caf\u{e9}")], &["a", "@method"]), ([("a", "x\ny")], &["a", "@method"])]
    {
        let message = Message { method: "GET", url: &url, fields: &fields };
        assert_eq!(base::base(&message, &components(names), "()"), None, "{fields:?}");
    }
}

#[test]
fn keys_are_read_from_both_formats_and_not_printed() {
    assert_eq!(key().public(), Key::read(JWK).unwrap().public());
    assert_eq!(format!("{:?}", key()), "Key(poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U)");
    let other_public = JWK.replace("JrQL", "JrQM");
    for (file, error) in [
        ("", KeyError::Format),
        ("{", KeyError::Format),
        (r#"{"kty":"RSA"}"#, KeyError::NotEd25519),
        (r#"{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}"#, KeyError::NotEd25519),
        (&other_public, KeyError::Mismatch),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", KeyError::NotEd25519),
    ] {
        assert_eq!(Key::read(file).unwrap_err(), error, "{file}");
    }
    let text = serde_json::to_string(&directory(&[&key()])).unwrap();
    assert!(text.contains("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs") && !text.contains("n4Ni"));
}
