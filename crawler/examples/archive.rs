//! For `tests/peers/archives/run.py`: `archive keys` reads URLs from stdin and writes each with its key for the index,
//! `archive wacz DIR FILE` writes the archive of a crawl directory as a WACZ file.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crawler::export::wacz_of_crawl;
use dedup_stage::warc::cdxj::surt;
use url::Url;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["keys"] => {
            let mut out = std::io::stdout().lock();
            for line in std::io::stdin().lock().lines() {
                // What is no URL is never fetched.
                if let Ok(url) = Url::parse(&line?) {
                    writeln!(out, "{url}\t{}", surt(&url))?;
                }
            }
        }
        ["wacz", dir, file] => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
            let (written, _) = wacz_of_crawl(Path::new(dir), Path::new(file), now)?;
            println!("{} WARC files, {} captures, {} pages", written.warcs, written.captures, written.pages);
        }
        _ => {
            eprintln!("usage: archive keys < URLS | archive wacz DIR FILE");
            std::process::exit(2);
        }
    }
    Ok(())
}
