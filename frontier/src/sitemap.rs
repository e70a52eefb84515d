//! Sitemaps. (Stub: to be written.)
