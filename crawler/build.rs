//! Tells the tests whether the shared test data are there, so that those that need them are `ignored` where they are
//! not.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-changed=build.rs");
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/specs");
    if data.exists() {
        println!("cargo::rerun-if-changed={}", data.display());
        println!("cargo::rustc-cfg=shared_data");
    }
}
