//! Every scheme: its name, and its results on small texts.

use super::*;

fn document(seed: u64, changed: std::ops::Range<u64>) -> Document {
    let words: Vec<String> = (0..400u64)
        .map(|i| {
            let word = (i * 7919 + if changed.contains(&i) { seed } else { 1 } * 104_729) % 1201;
            format!("w{word}{}", if i % 9 == 0 { "," } else { "" })
        })
        .collect();
    let text = words.join(" ");
    let url = ::url::Url::parse("http://a.example/").unwrap();
    let input = crate::page::Input { url: &url, status: 200, content_type: Some("text/plain"), body: text.as_bytes() };
    Document::read(&mut crate::page::Reader::default(), &input)
}

#[test]
fn names_lead_back() {
    for scheme in Scheme::all() {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    for wrong in ["simhash-words-foo", "minhash0", "simhash-words-tf+foo", "simhash-words-tf-x", "simhash16-words-tf"] {
        assert!(wrong.parse::<Scheme>().is_err(), "{wrong}");
    }
    let all = "simhash-shingles2-idf+stop+stem+digits+title+headings+anchors+windows";
    assert_eq!(all.parse::<Scheme>().map(|scheme| scheme.to_string()), Ok(all.to_owned()));
}

#[test]
fn parts_and_words_vote_where_asked() {
    let html = |title: &str, number: u32| {
        let words: String = (0..30).map(|i| format!("stone{i} ")).collect();
        format!("<title>{title}</title><body><h1>{title} of all</h1><p>{words}<a href=/x>{title}</a> {number} stones")
    };
    let url = ::url::Url::parse("http://a.example/").unwrap();
    let hash = |scheme: &str, html: String| {
        let input =
            crate::page::Input { url: &url, status: 200, content_type: Some("text/html"), body: html.as_bytes() };
        let document = Document::read(&mut crate::page::Reader::default(), &input);
        match scheme.parse::<Scheme>().unwrap().fingerprint(&document, &Lexicon::default()) {
            Fingerprint::Hashes(hashes) => hashes[0],
            other => panic!("{other:?}"),
        }
    };
    for option in ["", "+title", "+headings", "+anchors", "+windows", "+stop", "+stem"] {
        let scheme = format!("simhash-words-tf{option}");
        assert_eq!(hash(&scheme, html("Bread", 7)), hash(&scheme, html("Bread", 8)), "{option}: numbers");
        let voted = hash(&scheme, html("Bread", 7)) != hash("simhash-words-tf", html("Bread", 7));
        assert_eq!(voted, !option.is_empty(), "{option}");
    }
    assert_ne!(hash("simhash-words-tf+digits", html("Bread", 7)), hash("simhash-words-tf+digits", html("Bread", 70)));
}

#[test]
fn every_scheme_tells_a_copy_from_another_text() {
    let (original, copy, other) = (document(1, 0..0), document(2, 200..203), document(3, 0..400));
    let mut lexicon = Lexicon::default();
    (0..40).for_each(|i| lexicon.add(&document(i, i * 10..400).words));
    for scheme in Scheme::all() {
        let [a, b, c] = [&original, &copy, &other].map(|document| scheme.fingerprint(document, &lexicon));
        let nearer = |x: f64, y: f64| if scheme.by_distance() { x < y } else { x > y };
        assert!(nearer(scheme.compare(&a, &a), scheme.compare(&a, &c)), "{scheme}: itself");
        if scheme != Scheme::IMatch(0) {
            assert!(nearer(scheme.compare(&a, &b), scheme.compare(&a, &c)), "{scheme}: a copy");
        }
        let nothing = scheme.fingerprint(&Document::default(), &lexicon);
        assert!(
            scheme.thresholds().iter().all(|t| !scheme.is_near(scheme.compare(&nothing, &nothing), *t)),
            "{scheme}"
        );
    }
}
