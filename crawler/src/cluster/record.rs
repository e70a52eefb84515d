//! What stands on the board of a crawl, as JSON: each record under a key of its own.

use std::path::Path;

use config::{ConfigError, Layers, Settings};
use serde::{Deserialize, Serialize};
use url::Url;

/// The version of everything that is written into the cluster.
pub const FORMAT: u32 = 2;

/// The keys of the board.
pub mod keys {
    /// What the crawl is: [`super::Crawl`].
    pub const CRAWL: &str = "crawl";
    /// Which worker has which share: [`super::super::shares::Muster`].
    pub const MUSTER: &str = "muster";
    /// What the operator wishes: [`super::Control`].
    pub const CONTROL: &str = "control";
    /// How the pages of `--max-pages` are shared: [`super::super::quota::Quota`].
    pub const QUOTA: &str = "quota";

    /// The snapshots of a share: [`super::super::snapshots::Kept`].
    pub fn snapshots(share: usize) -> String {
        format!("snapshots.{share}")
    }

    /// Who holds a share: [`super::Lease`].
    pub fn lease(share: usize) -> String {
        format!("lease.{share}")
    }

    /// How far the worker of a share is: [`crate::engine::PeerProgress`].
    pub fn progress(share: usize) -> String {
        format!("standing.{share}")
    }
}

/// A crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crawl {
    /// [`FORMAT`].
    pub format: u32,
    /// The recipe of the fingerprints.
    pub recipe: String,
    /// Random; two crawls of one name differ in it.
    pub id: String,
    /// Secret of the hashes of URLs, in hex. Whoever knows it can make URLs collide.
    pub secret: String,
    /// Settings, as TOML.
    pub settings: String,
    /// Where it starts.
    pub seeds: Vec<Url>,
    /// Parts into which the registrable domains are cut.
    pub partitions: u32,
    /// How many workers share them; 0: those that come.
    pub workers: usize,
    /// How long a lease is good for, in milliseconds.
    pub lease: u64,
    /// When the crawl was made, in milliseconds since 1970.
    pub created: u64,
}

/// A worker: a crawl directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Random, of the directory.
    pub id: String,
    /// The machine where it was last.
    pub host: String,
    /// The directory there.
    #[serde(default)]
    pub dir: String,
}

/// Who holds a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// The directory ([`Worker::id`]).
    pub worker: String,
    /// The process; random.
    pub life: String,
    /// The boot of the machine, as the kernel names it.
    pub boot: String,
    /// Grows with each renewal.
    pub renewals: u64,
    /// The process has ended, and asks for nothing more.
    pub released: bool,
}

/// What the operator wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// What all workers are to do.
    pub wish: Wish,
}

/// What all workers are to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wish {
    /// Crawl.
    #[default]
    Run,
    /// Hand out nothing.
    Pause,
    /// End, with the state saved.
    Stop,
}

impl Crawl {
    /// The settings.
    pub fn settings(&self) -> std::result::Result<Settings, ConfigError> {
        Layers::new().text(Path::new("settings of the cluster"), &self.settings)?.finish()
    }

    /// The secret as bytes.
    pub fn secret(&self) -> Option<Vec<u8>> {
        let digit = |at: usize| u8::from_str_radix(self.secret.get(at..at + 2)?, 16).ok();
        (0..self.secret.len() / 2).map(|byte| digit(2 * byte)).collect()
    }
}

/// Random bytes in hex.
pub fn random<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_hex() {
        let crawl = Crawl { secret: "00ff7f".into(), ..Crawl::default() };
        assert_eq!(crawl.secret(), Some(vec![0, 255, 127]));
        assert_eq!(Crawl { secret: "0g".into(), ..crawl }.secret(), None);
    }
}
