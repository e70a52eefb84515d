//! The `crawler` binary.

fn main() {}
