//! The build script of every crate with tests on real data: sets the cfg `shared_data` where the data is there.
//!
//! The data lies beside the repository, in `../shared/data`. A test that needs it is marked
//! `#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]`, so that it is reported as ignored where the data
//! is absent. To use this in a crate: `build = "../build/shared_data.rs"` in its `Cargo.toml`.

use std::path::Path;

fn main() {
    let data = "../../shared/data";
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-changed={data}");
    if Path::new(data).exists() {
        println!("cargo::rustc-cfg=shared_data");
    }
}
