//! Tests records that are written and read back, oddities of real files, and damage.

use std::io::{BufReader, Read, Write};

use proptest::prelude::*;
use url::Url;

use super::read::{Error, Piece, Reader, Record};
use super::*;

fn id(n: u8) -> RecordId {
    RecordId::from_bytes([n; 16])
}

fn response(url: &str, payload: &[u8]) -> Vec<u8> {
    let head = http::response_head(200, "OK", [("content-type", b"text/html".as_slice())], payload.len() as u64);
    response_member(&ResponseRecord {
        id: id(1),
        url,
        date: 1_790_000_000_000,
        address: Some([127, 0, 0, 1].into()),
        head: &head,
        payload,
        payload_digest: sha256(payload),
        payload_type: Some("text/html"),
        truncated: None,
    })
}

fn plain(member: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(member).read_to_end(&mut out).unwrap();
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read_all(file: &[u8]) -> Result<Vec<Record>, Error> {
    // With a tiny buffer, the end of the buffer falls everywhere.
    let mut reader = Reader::new(BufReader::with_capacity(7, file), 1 << 20);
    let mut records = Vec::new();
    while let Some(piece) = reader.piece()? {
        match piece {
            Piece::Record(record) => records.push(record),
            other => panic!("{other:?} from a small record"),
        }
    }
    Ok(records)
}

#[test]
fn a_response_is_spelt_as_the_standard_says() {
    let text = String::from_utf8(plain(&response("http://a.test/", b"hello"))).unwrap();
    assert_eq!(
        text,
        "WARC/1.1\r\n\
         WARC-Type: response\r\n\
         WARC-Record-ID: <urn:uuid:01010101-0101-4101-8101-010101010101>\r\n\
         WARC-Date: 2026-09-21T14:13:20Z\r\n\
         WARC-Target-URI: http://a.test/\r\n\
         WARC-IP-Address: 127.0.0.1\r\n\
         WARC-Payload-Digest: sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\r\n\
         WARC-Identified-Payload-Type: text/html\r\n\
         WARC-Block-Digest: sha256:d4688e92d5b6091d015ffc4fa89a282c817fa31b3091bbaa428486f99b9d1ec6\r\n\
         Content-Type: application/http; msgtype=response\r\n\
         Content-Length: 68\r\n\
         \r\n\
         HTTP/1.1 200 OK\r\n\
         content-type: text/html\r\n\
         Content-Length: 5\r\n\
         \r\n\
         hello\r\n\r\n"
    );
}

#[test]
fn every_kind_of_record_comes_back() {
    let head = http::request_head("GET", "/", [("Host", b"a.test".as_slice())]);
    let request = request_member(&RequestRecord {
        id: id(2),
        url: "http://a.test/",
        date: 0,
        address: None,
        head: &head,
        concurrent_to: id(1),
    });
    let revisit = |revisited| {
        revisit_member(&RevisitRecord {
            id: id(3),
            url: "http://b.test/",
            date: 0,
            address: None,
            head: b"HTTP/1.1 304 Not Modified\r\n\r\n",
            revisited,
            refers_to_url: "http://a.test/",
            refers_to_date: 1_790_000_000_000,
            refers_to: Some(id(1)),
        })
    };
    let same = revisit(Revisited::IdenticalPayload(sha256(b"hello")));
    let unchanged = revisit(Revisited::NotModified { etag: Some("\"x\""), last_modified: None });
    let metadata = metadata_member(&MetadataRecord {
        id: id(4),
        url: "http://b.test/",
        date: 0,
        concurrent_to: &id(3).to_string(),
        facts: &[("distance", "2")],
    });
    let info = warcinfo_member(id(5), 0, "x.warc.gz", &[("software", "us")]);
    let members = [info, request, response("http://a.test/", b"hello"), same, unchanged, metadata];
    let records = read_all(&members.concat()).unwrap();

    let kinds: Vec<&str> = records.iter().map(Record::kind).collect();
    assert_eq!(kinds, ["warcinfo", "request", "response", "revisit", "revisit", "metadata"]);
    for (record, member) in records.iter().zip(&members) {
        assert_eq!(record.member.as_ref(), Some(member));
        assert!(record.fields.get("warc-block-digest").is_some());
    }
    assert_eq!(records[2].url(), Some("http://a.test/"));
    assert_eq!(records[3].fields.text("WARC-Profile"), Some(write::IDENTICAL_PAYLOAD));
    assert_eq!(records[3].fields.text("WARC-Refers-To-Date"), Some("2026-09-21T14:13:20Z"));
    assert_eq!(records[4].fields.text("WARC-Etag"), Some("\"x\""));
    assert_eq!(records[5].block, b"distance: 2\r\n");
}

#[test]
fn no_value_adds_a_field() {
    let member = response("http://a.test/\r\nWARC-Type: request", b"");
    let records = read_all(&member).unwrap();
    assert_eq!(records[0].kind(), "response");
    let head = http::response_head(200, "OK", [("x", b"1\r\nSet-Cookie: y".as_slice())], 0);
    assert_eq!(http::parse_response(&head).unwrap().fields.get("set-cookie"), None);
}

#[test]
fn odd_files_are_read() {
    let one = plain(&response("http://a.test/", b"hello"));
    let two = plain(&response("<http://b.test/>", b"world"));
    let lf = String::from_utf8(two.clone()).unwrap().replacen("\r\n\r\nHTTP", "\n\nHTTP", 1).into_bytes();
    let files: [(&str, Vec<u8>); 7] = [
        ("plain", [one.clone(), two.clone()].concat()),
        ("one member around all", gzip(&[one.clone(), two.clone()].concat())),
        ("zeros between members", [gzip(&one), vec![0; 1000], gzip(&two), vec![0; 10]].concat()),
        ("a record over two members", {
            let (front, back) = two.split_at(two.len() / 2);
            [gzip(&one), gzip(front), gzip(back)].concat()
        }),
        ("no empty lines after records", [&one[..one.len() - 4], &two[..two.len() - 4]].concat()),
        ("many empty lines", [b"\r\n\r\n".as_slice(), &one, b"\r\n\n\n", &two].concat()),
        ("line feeds alone", [one.clone(), lf].concat()),
    ];
    for (name, file) in files {
        let records = read_all(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let urls: Vec<_> = records.iter().filter_map(Record::url).collect();
        assert_eq!(urls, ["http://a.test/", "http://b.test/"], "{name}");
        assert!(records[1].block.ends_with(b"world"), "{name}");
    }
}

#[test]
fn a_large_record_comes_in_pieces() {
    let payload = vec![b'x'; 3 << 20];
    let file = [response("http://a.test/", &payload), response("http://b.test/", b"small")].concat();
    let mut reader = Reader::new(file.as_slice(), 1 << 20);
    let mut block = Vec::new();
    let Some(Piece::Begin(record)) = reader.piece().unwrap() else { panic!("not in pieces") };
    loop {
        match reader.piece().unwrap().unwrap() {
            Piece::More(bytes) => block.extend(bytes),
            Piece::End => break,
            other => panic!("{other:?} within a block"),
        }
    }
    assert_eq!(record.fields.text("Content-Length"), Some(block.len().to_string().as_str()));
    assert!(block.ends_with(&payload));
    let Some(Piece::Record(next)) = reader.piece().unwrap() else { panic!("nothing behind it") };
    assert_eq!(next.url(), Some("http://b.test/"));
}

#[test]
fn damage_is_named_where_it_is() {
    let one = response("http://a.test/", b"hello");
    let two = response("http://b.test/", b"world");
    let mut broken = two.clone();
    broken[20] ^= 0xff;
    for (name, tail) in [("cut", &two[..two.len() - 9]), ("broken", &broken)] {
        let file = [one.as_slice(), tail].concat();
        match read_all(&file) {
            Err(Error::Damaged { offset, .. }) => assert_eq!(offset, one.len() as u64, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    let short = plain(&one);
    assert!(matches!(read_all(&short[..short.len() - 8]), Err(Error::Damaged { offset: 0, .. })));
    assert!(matches!(read_all(b"<html>no archive</html>"), Err(Error::Damaged { .. })));
    assert!(read_all(b"").unwrap().is_empty());
}

/// The URLs of all records that can be read, and what is said of the others.
fn rest_of(file: &[u8], limit: u64) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(BufReader::with_capacity(7, file), limit);
    let (mut urls, mut errors) = (Vec::new(), Vec::new());
    loop {
        match reader.piece() {
            Ok(Some(Piece::Record(record))) => urls.push(record.url().unwrap_or_default().to_owned()),
            Ok(Some(Piece::Begin(_))) => urls.push("large".into()),
            Ok(Some(Piece::More(_) | Piece::End)) => {}
            Ok(None) => return (urls, errors),
            Err(error) => errors.push(error.to_string()),
        }
    }
}

#[test]
fn records_behind_damage_are_read() {
    let members: Vec<Vec<u8>> = (0..6).map(|n| response(&format!("http://{n}/"), &[b'x'; 300])).collect();
    let offset = |n: usize| members[..n].iter().map(Vec::len).sum::<usize>();
    let plains: Vec<Vec<u8>> = members.iter().map(|member| plain(member)).collect();
    let plain_offset = |n: usize| plains[..n].iter().map(Vec::len).sum::<usize>();
    let all_but = |lost: &[usize]| (0..6).filter(|n| !lost.contains(n)).map(|n| format!("http://{n}/")).collect();
    let length = |claimed: &str| {
        let record = String::from_utf8(plains[2].clone()).unwrap();
        let (head, rest) = record.split_at(record.find("\r\n\r\n").unwrap());
        let (before, _) = head.split_at(head.find("Content-Length: ").unwrap());
        format!("{before}Content-Length: {claimed}{rest}").into_bytes()
    };
    let with = |parts: &[Vec<u8>], part: Vec<u8>| {
        [&parts[..2].concat(), &part, &parts[3..].concat()].map(|x| x.to_vec()).concat()
    };
    let between = |parts: &[Vec<u8>], junk: &[u8]| [&parts[..2].concat(), junk, &parts[2..].concat()].concat();

    // Bytes that belong to no record.
    for junk in
        [b"junk".as_slice(), b"WARjunk", b"WARC/no", b"\x1fjunk", b"\x1f\x8b\x08junk", b"junk WARC/1.0\r\nmore\r\n"]
    {
        for (parts, at) in [(&members, offset(2)), (&plains, plain_offset(2))] {
            let (urls, errors) = rest_of(&between(parts, junk), 1 << 20);
            let is_plain = parts[0][0] == b'W';
            // Junk without an end of line hides the version line behind it, so one record more is lost.
            let lost: &[usize] = if is_plain && !junk.ends_with(b"\n") { &[2] } else { &[] };
            let said = errors[0].split(':').next().unwrap();
            assert_eq!((urls, errors.len()), (all_but(lost), 1), "{junk:?} {is_plain}");
            assert!(said == format!("byte {at}") || said == format!("record at {at}"), "{said}");
        }
        // Within one member that has all records.
        let whole = gzip(&between(&plains, &[junk, b"\r\n"].concat()));
        let (urls, errors) = rest_of(&whole, 1 << 20);
        assert_eq!((urls, errors), (all_but(&[]), vec!["byte 0: bytes that belong to no record".into()]), "{junk:?}");
    }
    // Bytes behind the last record.
    let (urls, errors) = rest_of(&[&members.concat(), b"WAR".as_slice()].concat(), 1 << 20);
    assert_eq!((urls, errors), (all_but(&[]), vec![format!("byte {}: bytes that belong to no record", offset(6))]));
    // A length that is too small, too large, larger than the file, larger than the limit, and no number.
    for claimed in ["10", "600", "1500", "99999", "9999999999", "-5", "x"] {
        for (name, file, at) in [
            ("members", with(&members, gzip(&length(claimed))), offset(2)),
            ("plain", with(&plains, length(claimed)), plain_offset(2)),
            ("one member", gzip(&with(&plains, length(claimed))), 0),
        ] {
            let (mut urls, errors) = rest_of(&file, 1 << 20);
            if claimed.len() == 10 {
                assert_eq!(urls.remove(2), "large", "{name} {claimed}");
                // An unpacked member is not held, so what follows in it is lost.
                if name == "one member" {
                    assert_eq!((urls.len(), errors.len()), (2, 1));
                    continue;
                }
            }
            assert_eq!(urls, all_but(&[2]) as Vec<String>, "{name} {claimed}");
            assert_eq!(errors.len(), 1, "{name} {claimed}: {errors:?}");
            assert!(errors[0].starts_with(&format!("record at {at}: ")), "{name} {claimed}: {errors:?}");
        }
    }
    // Any flipped byte of a member loses no other record. (If it is the last one, the record is whole.)
    for at in 0..members[2].len() {
        let mut member = members[2].clone();
        member[at] ^= 0x55;
        let (urls, errors) = rest_of(&with(&members, member), 1 << 20);
        assert!(
            urls == all_but(&[2]) as Vec<String> || urls == all_but(&[]) as Vec<String>,
            "{at}: {urls:?} {errors:?}"
        );
        assert!(errors.len() <= 1, "{at}: {errors:?}");
    }
    // The end of a head is missing.
    let head_end = plains[2].windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let (urls, errors) = rest_of(&with(&plains, plains[2][..head_end + 2].to_vec()), 1 << 20);
    assert_eq!((urls, errors.len()), (all_but(&[2]), 1));
}

#[test]
fn bodies_lose_their_codings() {
    let text = b"<p>hello".as_slice();
    let zlib = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = zstd::encode_all(text, 1).unwrap();
    // Made with another implementation: there is no brotli encoder among the dependencies.
    let brotli = [0x8b, 0x03, 0x80, b'<', b'p', b'>', b'h', b'e', b'l', b'l', b'o', 0x03];
    let cases: [(&str, &[u8]); 8] = [
        ("", text),
        ("Content-Encoding: gzip\r\n", &gzip(text)),
        ("Content-Encoding: GZIP\r\n", text),
        ("Content-Encoding: deflate\r\n", &zlib),
        ("Content-Encoding: zstd\r\n", &zstd),
        ("Content-Encoding: br\r\n", &brotli),
        ("Transfer-Encoding: chunked\r\n", b"3;x=y\r\n<p>\r\n5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", text),
    ];
    for (fields, payload) in cases {
        let block = [b"HTTP/1.1 200 OK\r\n".as_slice(), fields.as_bytes(), b"\r\n", payload].concat();
        let response = http::parse_response(&block).unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(response.body(1 << 20).as_deref(), Ok(text), "{fields}");
    }
    let bomb = gzip(&vec![0; 1 << 20]);
    let block = [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".as_slice(), &bomb].concat();
    assert_eq!(http::parse_response(&block).unwrap().body(1 << 16), Err(http::BodyError::TooLarge));
    assert!(http::parse_response(b"GET / HTTP/1.1\r\n\r\n").is_none());
}

#[test]
fn files_are_cut_at_the_limit() {
    let mut rotation = Rotation::new(100, 0, 0);
    assert!(rotation.is_due(10));
    assert_eq!(rotation.place(60), MemberLocation { file: 0, offset: 0, opens: true });
    assert!(!rotation.is_due(40));
    assert!(rotation.is_due(41));
    assert_eq!(rotation.place(40), MemberLocation { file: 0, offset: 60, opens: false });
    rotation.cut();
    assert_eq!(rotation.place(500), MemberLocation { file: 1, offset: 0, opens: true });
    assert_eq!(rotation.position(), (1, 500));
    let (file, size) = rotation.position();
    assert_eq!(Rotation::new(100, file, size), rotation);
}

#[test]
fn a_capture_is_one_line() {
    let url = Url::parse("http://a.test/").unwrap();
    let line = cdxj::line(&cdxj::Capture {
        url: &url,
        date: 1_790_000_000_000,
        mime: "text/html; charset=utf-8",
        status: 200,
        digest: sha256(b""),
        length: 10,
        offset: 20,
        file_name: "x.warc.gz",
    });
    assert_eq!(
        line,
        "test,a)/ 20260921141320 {\"url\":\"http://a.test/\",\"mime\":\"text/html\",\"status\":\"200\",\"digest\":\
         \"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"length\":\"10\",\"offset\":\"20\",\
         \"filename\":\"x.warc.gz\"}\n"
    );
}

proptest! {
    /// Every payload is read as it was written, and the next record is found.
    #[test]
    fn payloads_come_back(payload in proptest::collection::vec(any::<u8>(), 0..3000), compressed: bool) {
        let members = [response("http://a.test/", &payload), response("http://b.test/", b"x")];
        let file = if compressed { members.concat() } else { members.iter().flat_map(|m| plain(m)).collect() };
        let records = read_all(&file).unwrap();
        prop_assert_eq!(records.len(), 2);
        prop_assert_eq!(http::parse_response(&records[0].block).unwrap().payload, payload.as_slice());
    }

    /// Flipped and cut bytes give records or an error, never a panic or a loop without end.
    #[test]
    fn damage_never_panics(flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut: prop::sample::Index, compressed: bool) {
        let members = [response("http://a.test/", b"hello"), response("http://b.test/", b"world")];
        let mut file = if compressed { members.concat() } else { members.iter().flat_map(|m| plain(m)).collect() };
        for (at, value) in flips {
            let at = at.index(file.len());
            file[at] = value;
        }
        file.truncate(cut.index(file.len()) + 1);
        let (urls, errors) = rest_of(&file, 1 << 20);
        prop_assert!(urls.len() + errors.len() <= file.len());
        if let Ok(records) = read_all(&file) {
            for record in records {
                if let Some(response) = http::parse_response(&record.block) {
                    let _ = response.body(1 << 16);
                }
            }
        }
    }
}
