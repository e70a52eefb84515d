//! `dedup-stage warc` on foreign files and on our own: which records pass, which become revisit records, and which
//! other programs accept the result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crawler::demo::record::Record as Asked;
use crawler::demo::server::serve_web;
use crawler::demo::web::{Options, Web};
use dedup_stage::warc::read::{Piece, Reader, Record};
use dedup_stage::warc::{RecordId, RequestRecord, ResponseRecord, http, request_member, response_member, sha256};
use serde_json::{Value, json};
use tests::background::Background;
use tests::data::shared;
use tests::pipe::feed::breadth_first;
use tests::pipe::{Pipe, program};

/// Filters files. Returns the verdicts, and the records of the output.
fn filter(inputs: &[&Path], output: &Path, near: &str) -> anyhow::Result<(Vec<Value>, Vec<Record>)> {
    let run = Command::new(program()).arg("warc").args(inputs).arg("-o").arg(output).args(["--near", near]).output()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let verdicts =
        run.stdout.split_inclusive(|byte| *byte == b'\n').map(serde_json::from_slice).collect::<Result<_, _>>()?;
    accepted_by_others(output)?;
    Ok((verdicts, records(&std::fs::read(output)?)?))
}

fn records(file: &[u8]) -> anyhow::Result<Vec<Record>> {
    let mut reader = Reader::new(file, u64::MAX);
    let mut records = Vec::new();
    while let Some(piece) = reader.piece()? {
        match piece {
            Piece::Record(record) => records.push(record),
            other => panic!("{other:?}"),
        }
    }
    Ok(records)
}

/// Runs `warcio check` and `fastwarc check`, if they are installed (see tests/peers/adapters).
fn accepted_by_others(file: &Path) -> anyhow::Result<()> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers/venv/bin");
    for tool in ["warcio", "fastwarc"] {
        let tool = tools.join(tool);
        if !tool.exists() {
            println!("skipped: {} is absent", tool.display());
            continue;
        }
        let check = Command::new(&tool).arg("check").arg(file).output()?;
        assert!(check.status.success(), "{}: {}", tool.display(), String::from_utf8_lossy(&check.stdout));
    }
    Ok(())
}

/// A response record, after its request record.
fn exchange(n: u8, url: &str, encoding: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let (id, request) = (RecordId::from_bytes([n; 16]), RecordId::from_bytes([n + 100; 16]));
    let head = http::request_head("GET", "/", [("Host", b"a.test".as_slice())]);
    let mut bytes =
        request_member(&RequestRecord { id: request, url, date: 0, address: None, head: &head, concurrent_to: id });
    let fields = [("Content-Type", b"text/html".as_slice())];
    let fields = fields.into_iter().chain(encoding.map(|encoding| ("Content-Encoding", encoding.as_bytes())));
    let head = http::response_head(200, "OK", fields, payload.len() as u64);
    bytes.extend(response_member(&ResponseRecord {
        id,
        url,
        date: u64::from(n) * 1000,
        address: None,
        head: &head,
        payload,
        payload_digest: sha256(payload),
        payload_type: None,
        truncated: None,
    }));
    bytes
}

fn text(change: &str) -> String {
    let words: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
    format!("<title>t</title><p>{} {change}</p>", words.join(" "))
}

#[test]
fn exact_duplicates_become_revisits_and_near_ones_what_was_asked() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("in.warc.gz");
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, text("").as_bytes())?;
        encoder.finish()?
    };
    let members = [
        exchange(1, "http://a.test/1", None, text("").as_bytes()),
        exchange(2, "http://a.test/2", None, text("").as_bytes()),
        exchange(3, "http://a.test/3", None, text("other").as_bytes()),
        // The same page, stored with another content encoding: its header does not fit the other payload.
        exchange(4, "http://a.test/4", Some("gzip"), &gzip),
    ];
    std::fs::write(&input, members.concat())?;
    let kinds = |records: &[Record]| -> Vec<String> { records.iter().map(|record| record.kind().to_owned()).collect() };
    for (near, expected) in [
        ("keep", "warcinfo request response request revisit request response request response"),
        ("mark", "warcinfo request response request revisit request response metadata request response"),
        ("drop", "warcinfo request response request revisit request response"),
    ] {
        let output = folder.path().join(format!("{near}.warc.gz"));
        let (verdicts, records) = filter(&[&input], &output, near)?;
        assert_eq!(kinds(&records).join(" "), expected, "{near}");
        let column = |name: &str| -> Vec<String> {
            verdicts.iter().map(|line| line[name].as_str().unwrap_or_default().into()).collect()
        };
        assert_eq!(column("verdict"), ["unique", "exact", "near", "exact"]);
        let near_action = match near {
            "keep" => "kept",
            "mark" => "marked",
            _ => "dropped",
        };
        assert_eq!(column("action"), ["kept", "revisit", near_action, "kept"]);
        assert_eq!(column("duplicate_of"), ["", "http://a.test/1", "http://a.test/1", "http://a.test/1"]);

        let original = members[0].as_slice();
        assert!(original.ends_with(records[2].member.as_deref().expect("a member of its own")), "kept byte for byte");
        let revisit = &records[4];
        let field = |name| revisit.fields.text(name).unwrap_or_default();
        assert_eq!(field("WARC-Refers-To-Target-URI"), "http://a.test/1");
        assert_eq!(field("WARC-Refers-To-Date"), "1970-01-01T00:00:01Z");
        assert_eq!(field("WARC-Refers-To"), RecordId::from_bytes([1; 16]).to_string());
        assert_eq!(field("WARC-Payload-Digest"), sha256(text("").as_bytes()).to_string());
        assert!(revisit.block.starts_with(b"HTTP/1.1 200 OK") && revisit.block.ends_with(b"\r\n\r\n"));
        if near == "mark" {
            let facts = String::from_utf8_lossy(&records[7].block);
            assert!(facts.contains("duplicate-of: http://a.test/1\r\n"), "{facts}");
        }

        // If the output is filtered again, only a second warcinfo record is added.
        let (again, twice) = filter(&[&output], &folder.path().join("again.warc.gz"), near)?;
        let verdicts_of = |lines: &[Value]| -> Vec<_> {
            lines
                .iter()
                .map(|line| (line["url"].clone(), line["verdict"].clone(), line["duplicate_of"].clone()))
                .collect()
        };
        let expected: Vec<_> = verdicts.iter().filter(|line| line["action"] != "dropped").cloned().collect();
        assert_eq!(verdicts_of(&again), verdicts_of(&expected));
        if near != "mark" {
            assert_eq!(kinds(&twice)[1..], kinds(&records));
        }
    }
    Ok(())
}

#[test]
fn the_filter_judges_as_the_pipe_does() -> anyhow::Result<()> {
    let lines = breadth_first(&Web::demo(5), 300);
    let mut pipe = Pipe::start(&["run"])?;
    let mut expected = BTreeMap::new();
    let mut file = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let answer = pipe.ask(line)?;
        let (url, body) = (line["url"].as_str().unwrap_or_default(), line["body"].as_str().unwrap_or_default());
        expected.insert(url.to_owned(), answer);
        file.extend(exchange((n % 100) as u8, url, None, body.as_bytes()));
    }
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("in.warc.gz"), folder.path().join("out.warc.gz"));
    std::fs::write(&input, file)?;
    let (verdicts, _) = filter(&[&input], &output, "keep")?;
    assert_eq!(verdicts.len(), lines.len());
    for verdict in &verdicts {
        let answer = &expected[verdict["url"].as_str().unwrap_or_default()];
        for name in ["verdict", "duplicate_of", "distance", "resemblance", "novelty", "sha256", "simhash"] {
            assert_eq!(verdict[name], answer[name], "{name} of {}", verdict["url"]);
        }
    }
    assert!(verdicts.iter().any(|verdict| verdict["verdict"] == "near"));
    Ok(())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn files_of_others_pass() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, kinds) in [
        ("whirlwind.warc.gz", "warcinfo request response metadata"),
        ("whirlwind.warc.wat.gz", "warcinfo metadata"),
        ("whirlwind.warc.wet.gz", "warcinfo conversion"),
    ] {
        let Some(input) = shared(&format!("warc/{name}")) else { return Ok(()) };
        let output = folder.path().join(name);
        let (verdicts, records) = filter(&[&input], &output, "drop")?;
        let own: Vec<&str> = records[1..].iter().map(Record::kind).collect();
        assert_eq!(own.join(" "), kinds);
        assert_eq!(verdicts.len(), usize::from(kinds.contains("response")));
        let members: Vec<u8> =
            records[1..].iter().flat_map(|record| record.member.clone().unwrap_or_default()).collect();
        assert!(members == std::fs::read(&input)?, "{name} is not the same bytes");
    }
    // The same capture twice: the second is no copy of another page, but the same page again, unchanged.
    let Some(input) = shared("warc/whirlwind.warc.gz") else { return Ok(()) };
    let (verdicts, _) = filter(&[&input, &input], &folder.path().join("twice.warc.gz"), "keep")?;
    let words: Vec<_> = verdicts.iter().map(|verdict| (&verdict["verdict"], &verdict["action"])).collect();
    assert_eq!(words, [(&json!("unique"), &json!("kept")), (&json!("unchanged"), &json!("revisit"))]);
    Ok(())
}

#[test]
fn a_file_of_wget_passes() -> anyhow::Result<()> {
    if Command::new("wget").arg("--version").output().is_err() {
        println!("skipped: wget is absent");
        return Ok(());
    }
    let asked = Arc::<Asked>::default();
    let server = Background::start(|listener| {
        let port = listener.local_addr().map_or(0, |address| address.port());
        let web = Arc::new(Web::new(Options::demo(2).on_loopback(port)));
        serve_web(listener, web, Arc::clone(&asked))
    })?;
    let folder = tempfile::tempdir()?;
    // wget ends with a code other than 0 if a link is broken.
    Command::new("wget")
        .current_dir(folder.path())
        .args(["--quiet", "--recursive", "--level=4", "--quota=1m", "--warc-file=site", "--execute", "robots=off"])
        .arg(format!("http://{}/", server.address()))
        .status()?;
    let input: PathBuf = folder.path().join("site.warc.gz");
    let before = records(&std::fs::read(&input)?)?;
    let (verdicts, after) = filter(&[&input], &folder.path().join("out.warc.gz"), "keep")?;
    assert_eq!(after.len(), before.len() + 1);
    let responses = before.iter().filter(|record| record.kind() == "response").count();
    // wget writes revisit records of its own. It also writes its log and arguments as resource records, which are
    // judged, too.
    let judged = |record: &&Record| matches!(record.kind(), "response" | "revisit" | "resource");
    assert!(responses > 20, "{responses} responses");
    assert_eq!(verdicts.len(), before.iter().filter(judged).count());
    let revisits = after.iter().filter(|record| record.kind() == "revisit").count();
    let exact = verdicts.iter().filter(|verdict| verdict["verdict"] == "exact").count();
    assert_eq!(revisits, exact);
    println!("{responses} responses, {exact} of them now revisits");
    Ok(())
}

#[test]
fn damage_is_told_and_what_came_before_it_is_kept() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (whole, cut, output) = (folder.path().join("whole"), folder.path().join("cut"), folder.path().join("out"));
    let bytes = [exchange(1, "http://a.test/1", None, text("").as_bytes()), exchange(2, "http://a.test/2", None, b"x")]
        .concat();
    std::fs::write(&whole, exchange(3, "http://a.test/3", None, text("").as_bytes()))?;
    std::fs::write(&cut, &bytes[..bytes.len() - 20])?;
    let run = Command::new(program()).arg("warc").args([&cut, &whole]).arg("-o").arg(&output).output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1));
    assert!(said.contains("cut: record at "), "{said}");
    accepted_by_others(&output)?;
    assert_eq!(records(&std::fs::read(&output)?)?.len(), 6);

    let same = Command::new(program()).arg("warc").arg(&whole).arg("-o").arg(&whole).output()?;
    assert_eq!(same.status.code(), Some(2));
    let before = std::fs::read(&output)?;
    let absent = Command::new(program()).args(["warc", "/no/such/file", "-o"]).arg(&output).output()?;
    assert_eq!(absent.status.code(), Some(2));
    assert!(std::fs::read(&output)? == before, "the call is wrong, and writes nothing");
    Ok(())
}
