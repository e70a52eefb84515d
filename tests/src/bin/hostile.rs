//! Serves the hostile cases on loopback, so that crawlers can be tried by hand, and prints how to reach them.
//!
//! `cargo run -p tests --bin hostile` prints a command; `SSL_CERT_FILE` in it makes the server's authority trusted.

use std::io::Write;
use std::time::Duration;

use tests::hostile::{Hostile, cases};

fn main() -> anyhow::Result<()> {
    let server = Hostile::start(Duration::from_secs(1))?;
    let authority = std::env::temp_dir().join("hostile-authority.pem");
    std::fs::write(&authority, &server.authority_pem)?;
    let mut out = std::io::stdout().lock();
    for case in cases() {
        writeln!(out, "# {:<40} {}", case.url(""), case.what)?;
    }
    let [http, https] = server.connect_to();
    let seeds: Vec<_> = cases().iter().map(|case| case.url("")).collect();
    let file = authority.display();
    writeln!(
        out,
        "SSL_CERT_FILE={file} crawler crawl --allow-private --connect-to {http} --connect-to {https} --scope host {}",
        seeds.join(" ")
    )?;
    out.flush()?;
    // The server runs until it is killed.
    loop {
        std::thread::park();
    }
}
