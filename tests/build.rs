//! Sets the cfg `shared_data` where the material for tests on real data lies beside the repository, in
//! `../shared/data`.
//!
//! A test that needs it is marked `#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]`, so that it is
//! reported as ignored where the material is absent.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    let readme = "../../shared/data/README.md";
    println!("cargo::rerun-if-changed={readme}");
    if std::path::Path::new(readme).exists() {
        println!("cargo::rustc-cfg=shared_data");
    }
}
