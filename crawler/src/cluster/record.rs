//! The records on the board of a crawl. Each is JSON, under a key of its own.

use std::path::Path;

use config::{ConfigError, Layers, Settings};
use serde::{Deserialize, Serialize};
use url::Url;

/// The version of all records and messages of a cluster.
pub const FORMAT: u32 = 8;

/// The keys of the board.
pub mod keys {
    /// The settings and seeds of the crawl: [`super::Crawl`].
    pub const CRAWL: &str = "crawl";
    /// The workers and their shares: [`super::super::shares::Assignment`].
    pub const ASSIGNMENT: &str = "muster";
    /// The order of the operator: [`super::Control`].
    pub const CONTROL: &str = "control";
    /// The pages of `--max-pages` that each share may fetch: [`super::super::quota::Quota`].
    pub const QUOTA: &str = "quota";

    /// The snapshots of a share: [`super::super::snapshots::SnapshotsOnBoard`].
    pub fn snapshots(share: usize) -> String {
        format!("snapshots.{share}")
    }

    /// The lease on a share: [`super::Lease`].
    pub fn lease(share: usize) -> String {
        format!("lease.{share}")
    }

    /// The progress of the worker of a share: [`crate::engine::PeerProgress`].
    pub fn progress(share: usize) -> String {
        format!("standing.{share}")
    }
}

/// A crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crawl {
    /// The value of [`FORMAT`] when the crawl was made.
    pub format: u32,
    /// The recipe of the fingerprints.
    pub recipe: String,
    /// A random name of the crawl. Two crawls with one name given by users differ in it.
    pub id: String,
    /// The secret of the hashes of URLs, in hex. Somebody who knows it can make URLs collide.
    pub secret: String,
    /// The settings, as TOML.
    pub settings: String,
    /// The seeds.
    pub seeds: Vec<Url>,
    /// The number of partitions.
    pub partitions: u32,
    /// The number of workers among which the hosts are shared; 0: those that come.
    pub workers: usize,
    /// The length of a lease, in milliseconds.
    pub lease: u64,
    /// The time at which the crawl was made, in milliseconds since 1970.
    pub created: u64,
}

/// A worker. It is identified by its crawl directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// A random name, which the directory keeps.
    pub id: String,
    /// The machine where the worker ran last.
    pub host: String,
    /// The path of the directory on that machine.
    #[serde(default)]
    pub dir: String,
}

/// The lease on a share. It names the holder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// The worker ([`Worker::id`]).
    pub worker: String,
    /// The identity of the file that locks the directory of the worker: device and inode.
    pub place: String,
    /// A random name of the process.
    pub life: String,
    /// The boot id of the machine, as the kernel gives it.
    pub boot: String,
    /// A number that grows with each renewal.
    pub renewals: u64,
    /// Whether the process has ended, and sends no more requests.
    pub released: bool,
}

/// The order of the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The state that the operator wants: crawl, pause or stop.
    pub wish: WantedState,
}

/// The state that the operator wants for all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WantedState {
    /// Crawl.
    #[default]
    Run,
    /// Start no new jobs.
    Pause,
    /// Save the state and end.
    Stop,
}

impl Crawl {
    /// The settings.
    pub fn settings(&self) -> std::result::Result<Settings, ConfigError> {
        Layers::new().text(Path::new("settings of the cluster"), &self.settings)?.finish()
    }

    /// The secret, as bytes.
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
