//! Which URLs belong to the crawl. (Stub: to be written.)
