//! `dedup-stage plan`: shows which designs of the Hamming index suit a number of fingerprints, a distance and a size of
//! memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use super::rows;
use crate::hamming::{
    Calibration,
    plan::{Plan, plan},
};

/// Arguments of `dedup-stage plan`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fingerprints to be stored; 8e9 and 2^34 are understood
    #[arg(long, short = 'n', value_name = "N", value_parser = count)]
    fingerprints: u64,
    /// Hamming distance
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(..=16))]
    distance: u32,
    /// Memory that the index may take, such as 12GiB
    #[arg(long, short, value_name = "SIZE", value_parser = rows::size)]
    memory: Option<u64>,
    /// Bits of a fingerprint; other than 64, only the paper's recursion is shown
    #[arg(long, value_name = "F", default_value_t = 64, value_parser = clap::value_parser!(u32).range(8..=512))]
    bits: u32,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

fn count(text: &str) -> Result<u64, String> {
    let number = match text.split_once('^') {
        Some(("2", power)) => power.parse::<u32>().ok().and_then(|power| 1u64.checked_shl(power)),
        Some(_) => None,
        None => text.parse::<u64>().ok().or_else(|| text.parse::<f64>().ok().filter(|n| *n < 1e18).map(|n| n as u64)),
    };
    number.filter(|n| *n > 0).ok_or_else(|| "not a number of fingerprints".into())
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let plan = plan(args.fingerprints, args.distance, args.memory, args.bits, Calibration::measure());
    let text = if args.json { serde_json::to_string_pretty(&plan)? + "\n" } else { table(&plan, args.bits) };
    rows::unless_closed(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(if plan.designs.is_empty() || plan.chosen.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(plan: &Plan, bits: u32) -> String {
    let d = (plan.fingerprints as f64).log2();
    let mut text = format!("{} fingerprints (2^{d:.2}), distance {}\n", plan.fingerprints, plan.distance);
    if !plan.designs.is_empty() {
        let _ = writeln!(
            text,
            "\n  {:<12}{:>7}{:>10}{:>7}{:>12}{:>12}{:>10}{:>13}{:>11}{:>12}",
            "design",
            "tables",
            "key bits",
            "flips",
            "B/fp frozen",
            "B/fp online",
            "lookups",
            "candidates",
            "GB frozen",
            "ns a probe"
        );
    }
    for estimate in &plan.designs {
        let (least, most) = estimate.key_bits;
        let chosen = plan.chosen.as_ref() == Some(&estimate.design);
        let _ = writeln!(
            text,
            "{} {:<12}{:>7}{:>10}{:>7}{:>12.2}{:>12.1}{:>10.0}{:>13.1}{:>11.2}{:>12.0}{}",
            if chosen { '*' } else { ' ' },
            estimate.design,
            estimate.tables,
            if least == most { least.to_string() } else { format!("{least}-{most}") },
            estimate.flips,
            estimate.bytes_frozen,
            estimate.bytes_online,
            estimate.lookups,
            estimate.candidates,
            estimate.bytes_frozen * plan.fingerprints as f64 / 1e9,
            estimate.nanoseconds,
            if estimate.fits { "" } else { "  too large" },
        );
    }
    match &plan.chosen {
        Some(design) => {
            let _ = writeln!(text, "\n* the fastest that fits: {design}");
        }
        None if !plan.designs.is_empty() => text.push_str("\nnothing fits into so little memory\n"),
        None => {}
    }
    let _ = writeln!(text, "\nthe paper's recursion X({bits}, {}, {d:.2}): tables by p_min", plan.distance);
    for (i, found) in plan.recursion.iter().enumerate() {
        let until = plan.recursion.get(i + 1).map_or(d.ceil() as u32 + 1, |next| next.p_min - 1);
        let splits: Vec<String> = found.splits.iter().map(u32::to_string).collect();
        let blocks = if splits.is_empty() { "-".into() } else { splits.join(" x ") };
        let _ = writeln!(text, "  p_min {:>2} to {until:>2}: {:>6} tables, blocks {blocks}", found.p_min, found.tables);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes() {
        assert_eq!(count("2^34"), Ok(1 << 34));
        assert_eq!(count("8e9"), Ok(8_000_000_000));
        assert_eq!(count("17"), Ok(17));
        assert!(count("0").is_err() && count("many").is_err() && count("3^4").is_err());
        let size = rows::size;
        assert_eq!(size("12GiB"), Ok(12 << 30));
        assert_eq!(size("1.5kB"), Ok(1500));
        assert!(size("3 parsecs").is_err());
    }
}
