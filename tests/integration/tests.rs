//! The integration tests: one program, with a module for each subject. A comment "Catches …" names the mistake that a
//! test finds. A *control* is the case without the fault, or without the part under test: it shows that the test can
//! tell them apart.

// The servers of the tests: static sites.
mod site;
// The synthetic web, over HTTP and in memory.
mod web;
// Fetching a page.
mod fetch;
mod hostile;
// How the crawl identifies itself to sites; what pages say about their use; the commands and outputs that people use.
mod access;
mod everyday;
mod hints;
mod links;
mod lists;
mod log;
mod requisites;
mod reserved;
mod running;
mod scores;
mod slots;
mod tls;
mod usage;
mod wording;
// The stage in other crawlers, and on their archives.
mod agree;
mod hostile_crawl;
mod pipe;
mod warc;
// The judges of other tests.
mod judges;
// Input that others control.
mod fuzz;
// The commands in documents.
mod commands;
// Whole crawls: promises, what is found and saved, real sites, crashes.
mod again;
mod check;
mod choosing;
mod clock;
mod continuous;
mod crawls;
mod cut;
mod depth;
mod diff;
mod disk;
mod docs;
mod endless;
mod failures;
mod gate;
mod harm;
mod invariants;
mod kill;
mod known;
mod labels;
mod lastmod;
mod neighbours;
mod network;
mod noticing;
mod numbers;
mod odd;
mod order;
mod outputs;
mod polite;
mod refresh;
mod rotate;
mod rules;
mod second;
mod traps;
mod trials;
