//! `crawler refresh`: makes one round of visits to the pages of a crawl.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use super::crawl::{self, RoundBudget, Voice};
use super::flags::SettingFlags;
use crate::usage::Usage;

/// Arguments of `crawler refresh`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Crawl directory
    dir: PathBuf,
    /// What the round may cost: a number of pages, or a time such as 10m. Pages behind new links count, too.
    /// --max-pages and --time-limit are refused here: they limit a crawl [default: every visit of the round]
    #[arg(long, value_name = "PAGES|TIME")]
    budget: Option<RoundBudget>,
    /// File of settings (TOML) (repeatable)
    #[arg(long, value_name = "FILE", env = "CRAWLER_CONFIG")]
    config: Vec<PathBuf>,
    #[command(flatten)]
    voice: Voice,
    #[command(flatten)]
    settings: SettingFlags,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Args { dir, budget, config, voice, settings } = args;
    for (key, flag) in [("limits.max-pages", "--max-pages"), ("limits.time-limit", "--time-limit")] {
        if settings.has(key) {
            let what =
                format!("{flag} limits a crawl, and not a round of visits: give --budget PAGES or --budget TIME");
            return Err(Usage(what).into());
        }
    }
    if settings.is_on("refresh.continuous") {
        let dir = dir.display();
        let what = format!("--continuous is for crawler crawl: crawler crawl --dir {dir} --continuous");
        return Err(Usage(what).into());
    }
    crawl::go(&crawl::Args::over(dir, voice, config, settings), Some(budget.unwrap_or(RoundBudget::All)))
}

impl FromStr for RoundBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(pages) = text.parse() {
            return if pages > 0 {
                Ok(RoundBudget::Pages(pages))
            } else {
                Err("a round needs at least one page".into())
            };
        }
        let time: config::Duration =
            text.parse().map_err(|_| format!("{text:?} is no number of pages, and no time such as 30s, 10m or 2h"))?;
        if time.0 == 0 {
            return Err("a round needs some time; without --budget, it makes every visit".into());
        }
        Ok(RoundBudget::Time(time.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_of_pages_or_a_time() {
        assert_eq!("250".parse(), Ok(RoundBudget::Pages(250)));
        assert_eq!("10m".parse(), Ok(RoundBudget::Time(600_000)));
        for wrong in ["0", "0s", "0ms", "ten", "10x", "-1", ""] {
            assert!(wrong.parse::<RoundBudget>().is_err(), "{wrong:?}");
        }
    }
}
