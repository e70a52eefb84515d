//! Do two pages say the same? `cargo run -p dedup-stage --example judge_two_pages -- ONE.html OTHER.html`

use dedup_stage::page::{Input, Reader};
use dedup_stage::signature::DISTANCE;
use url::Url;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [one, other] = paths.as_slice() else { return Err("say two files".into()) };
    let mut reader = Reader::default();
    let mut signature = |path: &str| -> Result<_, Box<dyn std::error::Error>> {
        let (url, body) = (Url::parse("http://localhost/")?, std::fs::read(path)?);
        let page = reader.read(&Input { url: &url, status: 200, content_type: None, body: &body });
        page.signature.ok_or_else(|| format!("{path} has too little text").into())
    };
    let (one, other) = (signature(one)?, signature(other)?);
    let distance = (one.simhash ^ other.simhash).count_ones();
    let look = one.sketch.compare(&other.sketch);
    println!("Hamming distance {distance}; near-duplicates are looked for within {DISTANCE}");
    println!("resemblance of the texts {:.2}, share of links in common {:.2}", look.resemblance, look.links);
    println!("{}", if distance <= DISTANCE && look.is_duplicate() { "near-duplicates" } else { "different pages" });
    Ok(())
}
