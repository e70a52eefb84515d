//! The table of contents: one binary, one module a subject.

// The test bed itself: the static site server.
mod site;
// The synthetic web over HTTP and in memory.
mod web;
// The stations of a page.
mod fetch;
mod hostile;
// Who the crawl is to a site, and what pages say of their use; forms that people read.
mod access;
mod everyday;
mod hints;
mod links;
mod lists;
mod log;
mod requisites;
mod running;
mod scores;
mod slots;
mod tls;
mod usage;
mod wording;
// Inside other people's crawlers, and over their archives.
mod agree;
mod hostile_crawl;
mod pipe;
mod warc;
// Bytes from strangers.
mod fuzz;
// What documents say to run.
mod commands;
// Whole crawls: what must never be, what is found and saved, real sites, crashes.
mod again;
mod check;
mod choosing;
mod clock;
mod continuous;
mod crawls;
mod cut;
mod diff;
mod disk;
mod docs;
mod failures;
mod gate;
mod harm;
mod invariants;
mod kill;
mod known;
mod labels;
mod lastmod;
mod neighbours;
mod noticing;
mod numbers;
mod odd;
mod outputs;
mod polite;
mod refresh;
mod rotate;
mod rules;
mod second;
mod traps;
