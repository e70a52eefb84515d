//! Hosts that start well and then fail: pages that are to be tried again must be reported in every place, too.

use serde_json::Value;
use tests::failing::Manner;

use super::rows::{Server, row};
use super::{Town, last_lines, program, text};

/// How a host fails after its front page; the key in `failures`; the text about it; the text of `why` about the last
/// attempt.
const KINDS: [(Manner, &str, &str, &str); 4] = [
    (Manner::LaterStatus(503), "retry_503", "the last attempt brought status 503", "status 503"),
    (Manner::LaterStatus(429), "retry_429", "the last attempt brought status 429", "status 429"),
    (Manner::LaterReset, "retry_reset", "the connection ended early", "the connection ended early"),
    (Manner::LaterHang, "retry_timeout", "no answer in time", "no answer in time"),
];

/// Catches a crawl that says only that a host waits, although the host fails after its front page.
#[test]
fn a_host_that_fails_later_is_told_in_every_place() -> anyhow::Result<()> {
    for (manner, kind, says, last) in KINDS {
        let row = row("later", Server::Is(manner), "", "", "");
        let (town, folder) = (Town::start(&row)?, tempfile::tempdir()?);
        let dir = folder.path().join("crawl");
        let output = town.crawl(&dir, &["--attempts", "5", "--host-failures", "2"], &[]).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "there is a page\n{stderr}");
        let lines = last_lines(&output);
        assert!(lines.contains(says) && lines.contains(&town.host), "{kind}: the last lines\n{stderr}");
        assert!(stderr.contains("to be tried again"), "{stderr}");

        let report: Value = serde_json::from_str(&text(program("report").arg(&dir).arg("--json").output()?)?)?;
        assert!(report["failures"][kind].as_u64() >= Some(1), "{kind}: {report:#}");
        assert_eq!(report["worst_host"]["host"], town.host, "{report:#}");
        assert_eq!(report["complete"], false, "{report:#}");
        text(program("report").arg(&dir).output()?)?;
        let html = std::fs::read_to_string(dir.join("report.html"))?;
        assert!(html.contains(says) && html.contains(&town.host), "{kind}: report.html");

        // At least one of the queued pages was asked for. (The others are only reported as waiting while their host
        // rests.)
        let mut asked = 0;
        for page in 1..=5 {
            let why = text(program("why").arg(&dir).arg(format!("{}{page}", town.url)).output()?)?;
            if why.contains("last answer (attempt") {
                assert!(why.contains(last) && tells_when(&why), "{kind}: why\n{why}");
                asked += 1;
            }
        }
        assert!(asked >= 1, "{kind}");
        let check = program("check").arg(&dir).output()?;
        assert_eq!(check.status.code(), Some(0), "check\n{}", String::from_utf8_lossy(&check.stdout));
    }
    Ok(())
}

/// If a seed is answered with 503 and Retry-After, the crawl must name the reason, and the exit code must say that
/// there is no page.
#[test]
fn a_seed_that_is_to_be_asked_later_names_the_reason() -> anyhow::Result<()> {
    let row = row("busy", Server::Is(Manner::Status(503)), "", "", "");
    let (town, folder) = (Town::start(&row)?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl");
    let output = town.crawl(&dir, &["--attempts", "50"], &[]).output()?;
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = last_lines(&output);
    assert!(lines.contains("status 503") && lines.contains(&town.host), "{lines}");
    let why = text(program("why").arg(&dir).arg(&town.url).output()?)?;
    assert!(why.contains("status 503") && tells_when(&why), "{why}");
    Ok(())
}

/// Whether `why` says when the next attempt is due. It may have become due since the crawl ended.
fn tells_when(why: &str) -> bool {
    why.contains("next attempt not before") || why.contains("it is tried again at its turn")
}
