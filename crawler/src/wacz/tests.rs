//! Tests that write a WACZ and read it. (py-wacz checks one in `tests/peers/archives`.)

use std::io::{Cursor, Read};

use flate2::read::{GzDecoder, MultiGzDecoder};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;

fn read(wacz: &[u8], name: &str) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(Cursor::new(wacz)).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn index(lines: u64) -> String {
    (0..lines).map(|n| format!("test,a)/{n:05} 20260101000000 {{\"url\":\"http://a.test/{n}\"}}\n")).collect()
}

fn wacz(index: &str, pages: Vec<Page>) -> io::Result<(Vec<u8>, Written)> {
    let folder = tempfile::tempdir()?;
    let warc = folder.path().join("crawl-00000.warc.gz");
    std::fs::write(&warc, b"not really a WARC")?;
    let mut out = Cursor::new(Vec::new());
    let input = Input {
        warcs: vec![warc],
        index: index.as_bytes(),
        pages: pages.into_iter().map(Ok),
        title: "A \"test\"".into(),
        created: 1_790_000_000_000,
    };
    let written = write(&mut out, input)?;
    Ok((out.into_inner(), written))
}

#[test]
fn every_part_has_its_digest_and_size() {
    let (file, written) = wacz(&index(3), vec![Page { url: "http://a.test/1".into(), ..Page::default() }]).unwrap();
    assert_eq!(written, Written { warcs: 1, captures: 3, pages: 1 });
    let package = read(&file, "datapackage.json");
    let digest: Value = serde_json::from_slice(&read(&file, "datapackage-digest.json")).unwrap();
    assert_eq!(digest["hash"], parts::digest(Sha256::digest(&package).as_ref()));
    let package: Value = serde_json::from_slice(&package).unwrap();
    assert_eq!(package["wacz_version"], "1.1.1");
    assert_eq!(package["title"], "A \"test\"");
    let resources = package["resources"].as_array().unwrap();
    let paths: Vec<_> = resources.iter().map(|resource| resource["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        ["archive/crawl-00000.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"]
    );
    for resource in resources {
        let bytes = read(&file, resource["path"].as_str().unwrap());
        assert_eq!(resource["hash"], parts::digest(Sha256::digest(&bytes).as_ref()));
        assert_eq!(resource["bytes"], bytes.len());
    }
    let pages = String::from_utf8(read(&file, "pages/pages.jsonl")).unwrap();
    assert!(pages.starts_with("{\"format\":\"json-pages-1.0\""));
    assert!(pages.contains("\"title\":\"http://a.test/1\""), "a page without a title shows its URL: {pages}");
}

#[test]
fn a_block_is_found_by_its_line_in_the_list() {
    let (file, written) = wacz(&index(2_500), Vec::new()).unwrap();
    assert_eq!(written.captures, 2_500);
    let blocks = read(&file, "indexes/index.cdx.gz");
    let mut all = String::new();
    MultiGzDecoder::new(blocks.as_slice()).read_to_string(&mut all).unwrap();
    assert_eq!(all, index(2_500));
    let list = String::from_utf8(read(&file, "indexes/index.idx")).unwrap();
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].starts_with("!meta 0 {"));
    assert_eq!(lines.len(), 4);
    for (line, first) in lines[1..].iter().zip([0, 1_024, 2_048]) {
        let (key, place) = line.split_at(line.find('{').unwrap());
        assert_eq!(key, format!("test,a)/{first:05} 20260101000000 "));
        let place: Value = serde_json::from_str(place).unwrap();
        let (offset, length) = (place["offset"].as_u64().unwrap() as usize, place["length"].as_u64().unwrap() as usize);
        let mut text = String::new();
        GzDecoder::new(&blocks[offset..offset + length]).read_to_string(&mut text).unwrap();
        assert!(text.starts_with(key));
    }
}

#[test]
fn an_index_out_of_order_is_refused() {
    let unsorted = "b 1 {}\na 1 {}\n";
    assert_eq!(wacz(unsorted, Vec::new()).unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert!(wacz("a 1 {}\nb 1 {}\n", Vec::new()).is_ok());
}
