//! `dedup-stage run` as a process: callers that misbehave get what the protocol promises, and the verdicts do not
//! depend on the way in which pages come.
//!
//! The program `pipe-bars` tests the same for longer.

use std::process::Command;
use std::time::Duration;

use crawler::demo::web::Web;
use serde_json::{Value, json};
use tests::pipe::feed::{breadth_first, small};
use tests::pipe::kill::{self, KillPlan};
use tests::pipe::{Pipe, abuse, answers, program};

#[test]
fn who_misbehaves_is_borne() -> anyhow::Result<()> {
    let lines = 30_000;
    for told in [
        abuse::stalled_reader(Duration::from_millis(300), lines)?,
        abuse::stopped_writer()?,
        abuse::closed_output()?,
        abuse::cut_input()?,
        abuse::terminated()?,
        abuse::locked()?,
    ] {
        println!("{told}");
    }
    Ok(())
}

#[test]
fn kills_change_no_answer() -> anyhow::Result<()> {
    // There are enough small pages that the program writes answers before a flush.
    let plan = KillPlan { kills: 4, web: 150, small: 4800, flush: 4500, seed: 7 };
    assert!(kill::run(plan, |line| println!("{line}"))?);
    Ok(())
}

#[test]
fn threads_change_no_verdict() -> anyhow::Result<()> {
    let lines = breadth_first(&Web::demo(3), 300);
    let answers = |threads| answers(&["run", "--threads", threads], &lines);
    let one = answers("1")?;
    assert_eq!(one.len(), lines.len());
    let count = |verdict: &str| one.iter().filter(|answer| answer["verdict"] == verdict).count();
    assert!(count("unique") > 0 && count("exact") > 0 && count("near") > 0, "a web without duplicates proves nothing");
    assert_eq!(one, answers("2")?);
    assert_eq!(one, answers("7")?);
    Ok(())
}

#[test]
fn duplicates_lose_demote_or_keep_their_links() -> anyhow::Result<()> {
    let first = small(4);
    let mut copy = small(7);
    copy["priority"] = json!(0.5);
    for (mode, links, dropped) in
        [("drop", json!([]), 2), ("demote", json!([0.0, 0.0]), 0), ("keep", json!([0.5, 0.5]), 0)]
    {
        let mut pipe = Pipe::start(&["run", "--on-duplicate", mode])?;
        assert_eq!(pipe.ask(&first)?["verdict"], "unique");
        let answer = pipe.ask(&copy)?;
        assert_eq!((&answer["verdict"], &answer["duplicate_id"]), (&json!("exact"), &json!(4)));
        let priorities: Value =
            answer["links"].as_array().into_iter().flatten().map(|link| link["priority"].clone()).collect();
        assert_eq!(priorities, links, "{mode}");
        assert_eq!(answer["links_dropped"], dropped, "{mode}");
    }
    Ok(())
}

#[test]
fn settings_come_from_flag_environment_and_file() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("stage.toml");
    std::fs::write(&file, "[dedup]\ndistance = 1\non-duplicate = \"keep\"\n")?;
    let hello = |arguments: &[&str], variables: &[(&str, &str)]| -> anyhow::Result<(Option<i32>, Value, String)> {
        let input = folder.path().join("hello");
        std::fs::write(&input, "{\"op\":\"hello\"}\n")?;
        let output = Command::new(program())
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(std::fs::File::open(&input)?)
            .output()?;
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok((output.status.code(), answer, String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    let file = file.to_string_lossy();
    let (_, answer, _) = hello(&["run", "--config", &file], &[])?;
    assert_eq!((&answer["distance"], &answer["on_duplicate"]), (&json!(1), &json!("keep")));
    let (_, answer, _) = hello(&["--config", &file], &[("DEDUP_STAGE_DISTANCE", "2")])?;
    assert_eq!(answer["distance"], 2);
    let (_, answer, _) = hello(&["--distance", "3"], &[("DEDUP_STAGE_DISTANCE", "2"), ("DEDUP_STAGE_CONFIG", &file)])?;
    assert_eq!((&answer["distance"], &answer["on_duplicate"]), (&json!(3), &json!("keep")));

    let (code, _, said) = hello(&["run"], &[("DEDUP_STAGE_DISTNCE", "2")])?;
    assert_eq!(code, Some(2));
    assert!(said.contains("DEDUP_STAGE_DISTANCE"), "{said}");
    assert_eq!(hello(&["run", "--no-such-flag"], &[])?.0, Some(2));
    assert_eq!(hello(&["run", "--on-duplicate", "perhaps"], &[])?.0, Some(2));
    assert_eq!(hello(&["run", "--config", "/no/such/file"], &[])?.0, Some(2));
    assert_eq!(hello(&["run", "--state", &file], &[])?.0, Some(1));
    Ok(())
}
