//! `dedup-stage fingerprint`: fingerprints of files or JSON Lines.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use url::Url;

use super::rows;
use crate::hex::hex;
use crate::json_lines::mistake;
use crate::page::{Input, Reader};

/// Arguments of `dedup-stage fingerprint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Text or HTML files; without any, JSON Lines on stdin: {"id","text"} or {"id","body"}
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: serde_json::Value,
    text: Option<String>,
    body: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a serde_json::Value,
    /// `null` if there is too little text.
    simhash: Option<String>,
    sha256: String,
    words: u32,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent(&args.files) {
        return Ok(wrong);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut reader = Reader::default();
    for file in &args.files {
        let body = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let id = file.to_string_lossy().into_owned().into();
        if !answer(&mut reader, &id, &body, None, &mut out)? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if args.files.is_empty() {
        for (number, line) in io::stdin().lock().lines().enumerate() {
            let line = line.with_context(|| format!("line {}", number + 1))?;
            // The first line may begin with a byte order mark. Elsewhere such a mark is no JSON anyway, so it may be
            // dropped there, too.
            let line = line.trim_start_matches('\u{feff}');
            if line.trim().is_empty() {
                continue;
            }
            let line: Line = serde_json::from_str(line)
                .map_err(|error| anyhow::anyhow!("line {}: {}", number + 1, mistake(line.as_bytes(), &error)))?;
            let (body, content_type) = match (&line.text, &line.body) {
                (Some(text), _) => (text, Some("text/plain; charset=utf-8")),
                (None, Some(body)) => (body, None),
                (None, None) => anyhow::bail!("line {}: neither text nor body", number + 1),
            };
            if !answer(&mut reader, &line.id, body.as_bytes(), content_type, &mut out)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    rows::unless_closed(out.flush())?;
    Ok(ExitCode::SUCCESS)
}

/// Writes one answer. False if the reader of stdout is gone.
fn answer(
    reader: &mut Reader,
    id: &serde_json::Value,
    body: &[u8],
    content_type: Option<&str>,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let url = Url::parse("http://localhost/")?;
    let page = reader.read(&Input { url: &url, status: 200, content_type, body });
    let answer = Answer {
        id,
        simhash: page.signature.map(|signature| format!("{:016x}", signature.simhash)),
        sha256: hex(&page.sha256),
        words: page.words,
    };
    let line = serde_json::to_string(&answer)? + "\n";
    Ok(rows::unless_closed(out.write_all(line.as_bytes()))?)
}
