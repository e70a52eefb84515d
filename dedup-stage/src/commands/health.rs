//! `dedup-stage health`: how uniform a set of fingerprints is.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::{rows, signed};
use crate::corpus::Signatures;
use crate::hamming::Fingerprints;
use crate::hamming::health::Health;

/// Arguments of `dedup-stage health`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fingerprint file: raw little-endian 64-bit words; or a signature file, which is also read to see that it is
    /// undamaged
    file: PathBuf,
    /// Also draw the paper's figure 2 and the bit bias
    #[arg(long, value_name = "OUT.svg")]
    svg: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = rows::refuse_absent([&args.file]) {
        return Ok(wrong);
    }
    let is_signatures = Signatures::is_signatures(&args.file)?;
    let health = if is_signatures {
        Health::of(signed::open(&[&args.file])?[0].fingerprints())
    } else {
        Health::of(&Fingerprints::open(&args.file)?)
    };
    if let Some(path) = &args.svg {
        std::fs::write(path, health.svg()).with_context(|| format!("writing {}", path.display()))?;
    }
    // `signed::open` has read the whole file.
    let undamaged = if is_signatures { "undamaged\tyes\n" } else { "" };
    rows::unless_closed(std::io::stdout().write_all(format!("{undamaged}{}", table(&health)).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn table(health: &Health) -> String {
    let mut text = format!("rows\t{}\ndistinct\t{}\n", health.rows, health.distinct);
    let (least, most) = health.bucket_range();
    let _ = writeln!(text, "buckets, least and most (mean 1)\t{least:.3}\t{most:.3}");
    let _ = writeln!(text, "chi-squared of 128 buckets (uniform: 127 +- 16)\t{:.1}", health.chi_squared());
    let bias = |(bit, share): (usize, &f64)| (bit, (share - 0.5).abs());
    if let Some((bit, bias)) = health.ones.iter().enumerate().map(bias).max_by(|a, b| a.1.total_cmp(&b.1)) {
        let _ = writeln!(text, "most biased bit, and by how much\t{bit}\t{bias:.4}");
    }
    text.push_str("\nbit\tshare of ones\tleading ones of XORs of sorted neighbours\n");
    let pairs = health.distinct.saturating_sub(1).max(1) as f64;
    for bit in (0..64).rev() {
        let leading = health.leading[63 - bit];
        let _ = writeln!(text, "{bit}\t{:.4}\t{leading}\t{:.4}", health.ones[bit], leading as f64 / pairs);
    }
    text.push_str("\nbucket\tfingerprints\n");
    for (bucket, n) in health.buckets.iter().enumerate() {
        let _ = writeln!(text, "{bucket}\t{n}");
    }
    text.push_str("\nhot value\trows\n");
    for (value, rows) in &health.hot {
        let _ = writeln!(text, "{value:016x}\t{rows}");
    }
    text
}
