//! WARC 1.1: writing, reading, and the filter that turns duplicates into revisit records.
