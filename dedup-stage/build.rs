//! Tells the compiler whether the test material lies beside the repository (`cfg(test_data)`), so that tests that need it are
//! listed as ignored where it is absent.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(test_data)");
    let readme = "../../shared/data/README.md";
    println!("cargo::rerun-if-changed={readme}");
    if std::path::Path::new(readme).exists() {
        println!("cargo::rustc-cfg=test_data");
    }
}
