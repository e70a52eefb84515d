//! The bounds of what a crawl holds in memory, in one table. They hold whatever pages and servers send.
//!
//! A crawl also holds the seen-set and the index, which are not bounded here. They grow with the URLs and pages that it
//! has met. A URL takes 11 to 16 bytes. A page that says something new takes about 80 bytes more: 10 to 14 for the
//! digest of its body, 34 for its fingerprint, about 32 for its sketch. The indexes of the tables on disk take about a
//! hundredth of the size of the state. By this calculation a crawl of 10^7 URLs, of which seven in ten say something
//! new, holds about 700 MB of all these. (`memory` in the report has what a crawl holds.)
//!
//! What exceeds a bound goes to disk, or its least useful part is left out. Whatever is left out is counted (see
//! `troubles` in the report). The setting `fetch.body-budget` bounds response bodies, and `fetch.concurrency` bounds
//! everything that depends on the number of jobs. Bounds of some kilobytes or megabytes are defined next to the code
//! that keeps to them: rules and candidates for rules (`frontier/src/rules/`), templates of links (`hold/news/`),
//! targets of redirects (`frontier/admit.rs`), cookies (`crawler/src/cookies/`), connections (`fetch/files.rs`).

/// The most links of one page.
pub const LINKS: usize = 10_000;
/// The most bytes of the URLs of the links of one page. They count as resolved: a long base makes short links long.
pub const LINK_BYTES: usize = 1 << 20;
/// For a page that consists mostly of links, it is stored which link has which words, unless the links have more words
/// than this.
pub const LINK_WORDS: usize = 1 << 14;
/// The most bytes of the visible text of one page whose words count.
pub const TEXT: usize = 4 << 20;
/// The most entries of one sitemap (the limit of sitemaps.org).
pub const SITEMAP_ENTRIES: usize = 50_000;
/// The most bytes of the URLs of one sitemap.
pub const SITEMAP_BYTES: usize = 8 << 20;
/// The most sitemaps of one host in one run, and the most that one host names. Sitemaps can name sitemaps without end.
pub const SITEMAPS: u32 = 50_000;
/// The most sitemaps on other hosts that the robots.txt files of one host name in one run.
pub const SITEMAPS_ELSEWHERE: u32 = 1_000;
/// The most sitemaps in a row, each of which is named by the one before it. Sitemaps.org allows two: an index, and the
/// sitemaps that it names.
pub const SITEMAPS_IN_A_ROW: u32 = 8;
/// The bytes of URLs and of records of links on their way from the page workers to the engine. While there are more, no
/// page worker begins a large answer.
pub const UNDER_WAY: usize = 8 << 20;
/// The bytes of a large page. A page worker gives back the memory that it needed for reading a larger one. That of a
/// smaller one is kept for the next page.
pub const LARGE_PAGE: usize = 256 << 10;
/// The most PDF files that are read at once. Each is read by a process of its own.
pub const PDFS: usize = 2;
/// The bytes of address space that the process which reads a PDF file may have. (Honest files of some hundred kilobytes
/// take 15 MB.)
pub const PDF_MEMORY: u64 = 160 << 20;
/// The bytes of what origins say about the use of their pages (in robots.txt and `tdmrep.json`) in memory. When there
/// are more, all of it is read from the state again.
pub const USAGE: usize = 4 << 20;
/// The bytes of the answers larger than [`LARGE_PAGE`] that the page workers read at once. A larger answer is read
/// alone. While a page is read, its words, blocks and links take up to some fifteen times the size of its text.
pub const READ_AT_ONCE: usize = 4 << 20;
/// The bytes of memory, roughly, of changes that wait for a commit. When there are more, a commit is made at once. In a
/// crawl without a cluster this also holds in the middle of a sitemap.
pub const UNCOMMITTED: usize = 4 << 20;
/// The bytes in the memory tables of the store. When there are more, the largest memory table is written to disk.
pub const MEMORY_TABLES: u64 = 5 << 20;
/// The full memory tables of the store, of at most half of [`MEMORY_TABLES`] each (of 4 MiB in states that earlier
/// versions began). While there are more, a commit waits until some of them are on disk.
pub const FULL_TABLES: usize = 2;
/// The most bytes of queued URLs in memory. The other queued URLs are on disk.
pub const QUEUE: usize = 16 << 20;
/// The most hosts in memory. The other hosts sleep on disk.
pub const HOSTS: usize = 20_000;
/// A registrable domain with more hosts than this is large. At most this many of its hosts stay in memory when memory
/// is full. All large domains together fill at most half of the memory for hosts then.
pub const HOSTS_OF_DOMAIN: usize = 2_000;
/// The further hosts that a large registrable domain may have at once.
pub const NEW_HOSTS: u32 = 2_000;
/// The further hosts that it may have with each page that is then fetched from one of its hosts. A domain can have
/// subdomains without end, and each of them costs the state several records.
pub const NEW_HOSTS_A_PAGE: u32 = 100;
/// The bytes of the rules of robots.txt files in memory. The store has all rules. When there are more, those that were
/// used longest ago are dropped, and read again when they are needed.
pub const ROBOTS: usize = 16 << 20;
/// The most groups and lanes of URLs in memory, of all hosts together.
pub const HOST_PARTS: usize = 250_000;
/// The most groups of URLs of one host. URLs of further groups share one group.
pub const GROUPS: usize = 64;
/// The most origins (schemes and ports) of one host, besides the default ones, those of seeds, and those that made room
/// for others.
pub const ORIGINS: usize = 32;
/// The most robots files of other origins that may wait at one host.
pub const ERRANDS: usize = 32;
/// The most origins that wait for one robots file.
pub const ASKERS: usize = 4_096;
/// The most hosts whose last pages are remembered, to see whether new pages are like them.
pub const HOSTS_COMPARED: usize = 4_096;
/// The most gists of short pages that are remembered for one host.
pub const GISTS: usize = 256;
/// The pieces of pages that are remembered, of all hosts together. (A piece is a block of text, the text of a link in a
/// list, or a picture.) Each takes eight bytes, so all take 1 MiB.
pub const PIECES: usize = 1 << 17;
/// The rows of words that trials have shown and that are remembered, of all hosts together. Each takes four bytes, so all
/// take 512 KiB.
pub const ROWS_OF_WORDS: usize = 1 << 17;
/// The files that were shown last and are remembered. Each takes four bytes, so all take 256 KiB.
pub const FILES: usize = 1 << 16;
/// The most URLs that are counted as pages of their own although a parameter looks like a session id. Each takes about
/// ten bytes, so all take less than 2 MiB.
pub const DOUBTFUL_SESSIONS: usize = 1 << 16;
/// The most forms of URLs of one host for which it is remembered whether their pages still bring something. Each takes
/// eight bytes, so those of [`HOSTS_COMPARED`] hosts take 2 MiB.
pub const FORMS: usize = 64;
/// The most hosts whose troubles are counted.
pub const HOSTS_IN_TROUBLE: usize = 10_000;
/// The bytes that idle connections hold, roughly: each takes 25 KiB, and up to 408 KiB more after large answers. Above
/// half of this, no further connection is kept. Above all of it, all idle connections are closed.
pub const CONNECTIONS: usize = 36 << 20;
/// The most host names whose addresses are remembered.
pub const NAMES: usize = 50_000;
