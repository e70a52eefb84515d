//! Tests what the filter does with archives: what is kept, what becomes a revisit record, what is left out.

use std::io::Read;

use serde_json::Value;

use super::*;
use crate::stage::Preparer;
use crate::store::{Double, Session};
use crate::testing::{html, links, words};
use crate::url::Canonicalizer;
use crate::warc::read::Reader;
use crate::warc::{
    RecordId, RequestRecord, ResponseRecord, http, request_member, response_member, sha256, warcinfo_member,
};

/// One capture of an archive.
struct Capture<'a> {
    url: &'a str,
    body: &'a [u8],
    coding: Option<&'a str>,
}

fn capture<'a>(url: &'a str, body: &'a str) -> Capture<'a> {
    Capture { url, body: body.as_bytes(), coding: None }
}

/// The id of a record: of number `n`, and of the kind `what`.
fn id(n: usize, what: u8) -> RecordId {
    let mut bytes = [what; 16];
    bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
    RecordId::from_bytes(bytes)
}

/// An archive with a request and a response for each capture.
fn archive(captures: &[Capture<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (n, Capture { url, body, coding }) in captures.iter().enumerate() {
        let head = http::request_head("GET", "/", [("Host", b"a.test".as_slice())]);
        let (request, response, date) = (id(n, 1), id(n, 2), 1_790_000_000_000 + n as u64 * 1000);
        let concurrent_to = response;
        let request = RequestRecord { id: request, url, date, address: None, head: &head, concurrent_to };
        out.extend(request_member(&request));
        let mut fields = vec![("Content-Type", b"text/html".as_slice())];
        fields.extend(coding.map(|coding| ("Content-Encoding", coding.as_bytes())));
        out.extend(response_member(&ResponseRecord {
            id: response,
            url,
            date,
            address: None,
            head: &http::response_head(200, "OK", fields, body.len() as u64),
            payload: body,
            payload_digest: sha256(body),
            payload_type: None,
            truncated: None,
        }));
    }
    out
}

/// The result of filtering an archive.
struct Filtered {
    tally: Tally,
    records: Vec<Record>,
    verdicts: Vec<Value>,
    output: Vec<u8>,
}

impl Filtered {
    fn kinds(&self) -> Vec<&str> {
        self.records.iter().skip(1).map(Record::kind).collect()
    }

    fn words(&self, field: &str) -> Vec<&str> {
        self.verdicts.iter().map(|line| line[field].as_str().unwrap_or("-")).collect()
    }
}

fn filter(archive: &[u8], near: OnNear, disk: &Double) -> Filtered {
    let dedup = config::Settings::default().dedup;
    let stage = Stage::open(Session::new(Box::new(disk.clone())), &dedup, Canonicalizer::default()).unwrap();
    let mut preparer = Preparer::new(stage.keys().clone());
    let (mut output, mut verdicts) = (Vec::new(), Vec::new());
    let info = warcinfo_member(id(0, 9), 0, "", &[]);
    let mut filter = Filter::new(stage, near, &mut output, Some(&mut verdicts), &info).unwrap();
    for unit in units("in.warc.gz".into(), archive) {
        filter.take(prepare(unit, &mut preparer), |complaint| panic!("{complaint}")).unwrap();
    }
    let tally = filter.finish().unwrap();
    let mut reader = Reader::new(output.as_slice(), 1 << 20);
    let mut records = Vec::new();
    while let Some(Piece::Record(record)) = reader.piece().unwrap() {
        records.push(record);
    }
    let verdicts = verdicts.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let verdicts = verdicts.map(|line| serde_json::from_slice(line).unwrap()).collect();
    Filtered { tally, records, verdicts, output }
}

fn page(seed: u64) -> String {
    html(&words(seed, 60), &links("/#", 1..=3))
}

#[test]
fn one_url_three_times_with_the_same_bytes_is_one_record_and_two_revisits() {
    let body = page(1);
    let captures =
        [capture("http://a.test/", &body), capture("http://a.test/", &body), capture("http://a.test/", &body)];
    let found = filter(&archive(&captures), OnNear::Keep, &Double::default());
    assert_eq!(found.words("verdict"), ["unique", "unchanged", "unchanged"]);
    assert_eq!(found.words("action"), ["kept", "revisit", "revisit"]);
    assert_eq!(found.words("duplicate_of"), ["-"; 3]);
    assert_eq!(found.kinds(), ["request", "response", "request", "revisit", "request", "revisit"]);
    assert_eq!((found.tally.pages, found.tally.unchanged, found.tally.revisits, found.tally.exact), (3, 2, 2, 0));
    for revisit in found.records.iter().filter(|record| record.kind() == "revisit") {
        // Both name the record that has the bytes, not each other.
        assert_eq!(revisit.fields.text("WARC-Refers-To"), Some(id(0, 2).to_string().as_str()));
        assert_eq!(revisit.fields.text("WARC-Refers-To-Date"), Some("2026-09-21T14:13:20Z"));
        assert_eq!(revisit.fields.text("WARC-Profile"), Some(crate::warc::write::IDENTICAL_PAYLOAD));
    }
}

#[test]
fn a_state_remembers_across_runs() {
    let (body, disk) = (page(1), Double::default());
    let one = archive(&[capture("http://a.test/", &body)]);
    assert_eq!(filter(&one, OnNear::Keep, &disk).words("action"), ["kept"]);
    let again = filter(&one, OnNear::Keep, &disk);
    assert_eq!((again.words("verdict"), again.words("action")), (vec!["unchanged"], vec!["revisit"]));
    let copy = filter(&archive(&[capture("http://b.test/", &body)]), OnNear::Keep, &disk);
    assert_eq!((copy.words("verdict"), copy.words("action")), (vec!["exact"], vec!["revisit"]));
    assert_eq!(copy.words("duplicate_record"), [id(0, 2).to_string()]);
    // Without the state the page is new.
    assert_eq!(filter(&one, OnNear::Keep, &Double::default()).words("action"), ["kept"]);
}

#[test]
fn other_bytes_and_other_codings_are_kept() {
    let body = page(1);
    let gzip = {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let commented = format!("{body}<!-- -->");
    let captures = [
        capture("http://a.test/", &body),
        Capture { url: "http://a.test/", body: &gzip, coding: Some("gzip") },
        capture("http://a.test/", &commented),
        capture("http://a.test/", &commented),
        Capture { url: "http://b.test/", body: &gzip, coding: Some("gzip") },
    ];
    let found = filter(&archive(&captures), OnNear::Keep, &Double::default());
    assert_eq!(found.words("verdict"), ["unique", "unchanged", "unchanged", "unchanged", "near"]);
    assert_eq!(found.words("changed"), ["-", "no", "bytes", "no", "-"]);
    assert_eq!(found.words("action"), ["kept", "kept", "kept", "revisit", "kept"]);
    let revisit = found.records.iter().find(|record| record.kind() == "revisit").unwrap();
    assert_eq!(revisit.fields.text("WARC-Refers-To"), Some(id(2, 2).to_string().as_str()));
}

#[test]
fn near_duplicates_are_kept_marked_or_dropped_with_their_requests_and_copies() {
    let (body, mut text) = (page(1), words(1, 60));
    text[30] = "other".into();
    let near = html(&text, &links("/#", 1..=3));
    let captures = [
        capture("http://a.test/1", &body),
        capture("http://a.test/2", &near),
        capture("http://a.test/3", &near),
        capture("http://a.test/2", &near),
        capture("http://a.test/4", &body),
    ];
    let archive = archive(&captures);
    let found = |near| filter(&archive, near, &Double::default());
    let verdicts = ["unique", "near", "exact", "unchanged", "exact"];
    for (mode, actions, kinds) in [
        (
            OnNear::Keep,
            ["kept", "kept", "revisit", "revisit", "revisit"],
            &[
                "request", "response", "request", "response", "request", "revisit", "request", "revisit", "request",
                "revisit",
            ][..],
        ),
        (
            OnNear::Mark,
            ["kept", "marked", "revisit", "revisit", "revisit"],
            &[
                "request", "response", "request", "response", "metadata", "request", "revisit", "request", "revisit",
                "request", "revisit",
            ],
        ),
        (
            OnNear::Drop,
            ["kept", "dropped", "dropped", "dropped", "revisit"],
            &["request", "response", "request", "revisit"],
        ),
    ] {
        let found = found(mode);
        assert_eq!(found.words("verdict"), verdicts, "{mode:?}");
        assert_eq!(found.words("action"), actions, "{mode:?}");
        assert_eq!(found.kinds(), kinds, "{mode:?}");
        let tally = found.tally;
        assert_eq!((tally.exact, tally.near, tally.unchanged), (2, 1, 1));
        assert_eq!(tally.dropped, if mode == OnNear::Drop { 6 } else { 0 });
        // Every revisit record leads to a record that is there.
        let ids: Vec<&str> =
            found.records.iter().filter(|record| record.kind() == "response").map(Record::id).collect();
        for revisit in found.records.iter().filter(|record| record.kind() == "revisit") {
            assert!(ids.contains(&revisit.fields.text("WARC-Refers-To").unwrap()), "{mode:?}");
        }
    }
}

#[test]
fn what_was_filtered_is_filtered_to_itself() {
    let (one, two) = (page(1), page(2));
    let captures = [
        capture("http://a.test/", &one),
        capture("http://a.test/", &one),
        capture("http://b.test/", &one),
        capture("http://a.test/", &two),
    ];
    let once = filter(&archive(&captures), OnNear::Keep, &Double::default());
    let twice = filter(&once.output, OnNear::Keep, &Double::default());
    assert_eq!(twice.words("verdict"), ["unique", "unchanged", "exact", "unique"]);
    assert_eq!(twice.words("verdict"), once.words("verdict"));
    assert_eq!(twice.words("duplicate_of"), once.words("duplicate_of"));
    assert_eq!(twice.kinds()[1..], once.kinds()[..], "behind the first one's warcinfo");
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(twice.output.as_slice()).read_to_end(&mut plain).unwrap();
    assert!(plain.windows(7).any(|part| part == b"revisit"));
}

#[test]
fn an_archive_packed_with_zstd_is_filtered_as_in_gzip() {
    let (body, other) = (page(1), page(2));
    let captures =
        [capture("http://a.test/", &body), capture("http://b.test/", &other), capture("http://c.test/", &body)];
    let gzip = archive(&captures);
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&gzip[..]).read_to_end(&mut plain).unwrap();
    let [of_gzip, of_zstd] = [gzip, zstd::bulk::compress(&plain, 3).unwrap()]
        .map(|archive| filter(&archive, OnNear::Drop, &Double::default()));
    assert_eq!(of_zstd.words("action"), ["kept", "kept", "revisit"]);
    assert_eq!(of_zstd.words("duplicate_of"), of_gzip.words("duplicate_of"));
    assert_eq!((of_zstd.kinds(), of_zstd.records[1].block.len()), (of_gzip.kinds(), of_gzip.records[1].block.len()));
}
