//! The table of contents: one binary, one module a subject.

// The test bed itself: the static site server, and what it serves.
mod docs;
mod site;
// The synthetic web over HTTP and in memory.
mod web;
// Whole crawls.
mod invariants;
// The stations of a page.
mod fetch;
mod hostile;
// Inside other people's crawlers, and over their archives.
mod agree;
mod pipe;
mod warc;
mod hostile_crawl;
// Bytes from strangers.
mod fuzz;
