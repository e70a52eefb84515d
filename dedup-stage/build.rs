//! Tells the tests whether the shared test data is there, so that those that need it are ignored, and say so, where it is not.

fn main() {
    const DATA: &str = "../../shared/data";
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-changed={DATA}");
    if std::path::Path::new(DATA).exists() {
        println!("cargo::rustc-cfg=shared_data");
    }
}
