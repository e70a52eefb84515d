//! What a crawl holds in memory at most, whatever the web does: the bounds that a web can reach, in one table.
//!
//! Beside these a crawl holds the seen-set and the index, which grow with the URLs and pages that it has met. A URL takes 11 to
//! 16 bytes. A page that says something new takes about 80 more: 10 to 14 of the digest of its body, 34 of its fingerprint, about
//! 32 of its sketch. The indexes of the tables on disk take about a hundredth of the state. By this calculation a crawl of 10^7
//! URLs, of which seven in ten say something new, holds about 700 MB of these.
//!
//! Beyond a bound, state lies on disk, or the least useful is left out, and that is counted (see `troubles` in the report).
//! Response bodies have the bound that `fetch.body-budget` sets, and everything that depends on the number of jobs the one of
//! `fetch.concurrency`. Bounds of some kilobytes or megabytes stand where they are kept to: rules and candidates for rules
//! (`frontier/src/rules/`), templates of links (`hold/news/`), targets of redirects (`frontier/admit.rs`), cookies
//! (`crawler/src/cookies/`), connections (`fetch/files.rs`).

/// Links of one page.
pub const LINKS: usize = 10_000;
/// Bytes of their URLs, as resolved: a long base makes short links long.
pub const LINK_BYTES: usize = 1 << 20;
/// Bytes of visible text of one page whose words count.
pub const TEXT: usize = 4 << 20;
/// Entries of one sitemap (sitemaps.org).
pub const SITEMAP_ENTRIES: usize = 50_000;
/// Bytes of their URLs.
pub const SITEMAP_BYTES: usize = 8 << 20;
/// Sitemaps of one host in one run: sitemaps can name sitemaps without end.
pub const SITEMAPS: u32 = 50_000;
/// Bytes of URLs and of records of links on their way from the page workers to the engine, beyond which no large answer is begun.
pub const UNDER_WAY: usize = 8 << 20;
/// Bytes of changes that wait for a commit, beyond which one is made at once.
pub const UNCOMMITTED: usize = 4 << 20;
/// Bytes in the memory tables of the store, beyond which the largest becomes a table on disk.
pub const MEMORY_TABLES: u64 = 8 << 20;
/// Full memory tables of the store, of 4 MiB each, beyond which a commit waits until some are on disk.
pub const FULL_TABLES: usize = 2;
/// Bytes of queued URLs that are in memory; the others are on disk.
pub const QUEUE: usize = 16 << 20;
/// Hosts in memory; the others sleep on disk.
pub const HOSTS: usize = 20_000;
/// Hosts of one registrable domain in memory, beyond which they are the first to sleep.
pub const HOSTS_OF_DOMAIN: usize = 2_000;
/// Groups and lanes of URLs of all hosts in memory.
pub const HOST_PARTS: usize = 250_000;
/// Kinds of URL of one host; what comes later shares one.
pub const GROUPS: usize = 64;
/// Schemes and ports of one host, beside the default ones, those of seeds, and those that made room for others.
pub const ORIGINS: usize = 32;
/// Robots files of others that may wait at one host.
pub const ERRANDS: usize = 32;
/// Origins that wait for one robots file.
pub const ASKERS: usize = 4_096;
/// Hosts whose last pages are remembered, to see whether they are alike.
pub const HOSTS_COMPARED: usize = 4_096;
/// Hosts whose troubles are counted.
pub const HOSTS_IN_TROUBLE: usize = 10_000;
/// Bytes that idle connections hold, about: each takes 25 KiB, and up to 408 more after large answers. Beyond half of this, no
/// other connection is kept; beyond all of it, all are closed.
pub const CONNECTIONS: usize = 48 << 20;
/// Names whose addresses are remembered.
pub const NAMES: usize = 50_000;
