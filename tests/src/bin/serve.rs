//! `serve`: shows folders as web sites on one loopback port. The Host header decides which site answers.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;
use tests::site::{Noise, Sites};
use tokio::net::TcpListener;

/// Serve folders as web sites.
///
/// A crawl reaches them with `--connect-to ::127.0.0.1:PORT --allow-private`.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// A host and the folder that it shows; repeatable.
    #[arg(long = "site", value_name = "HOST=DIR", required = true, value_parser = site)]
    sites: Vec<(String, PathBuf)>,
    /// The address on which to listen.
    #[arg(long, default_value = "127.0.0.1")]
    address: String,
    /// The port on which to listen; 0 for any free port.
    #[arg(long, default_value_t = 8000)]
    port: u16,
    /// The time before each answer, such as 20ms.
    #[arg(long, default_value = "0s")]
    latency: config::Duration,
    /// Put an advertisement on each page, a different one with each answer.
    #[arg(long)]
    ads: bool,
    /// Put the time of the answer on each page.
    #[arg(long)]
    timestamps: bool,
    /// Put a session in each link of each page.
    #[arg(long)]
    sessions: bool,
}

fn site(argument: &str) -> Result<(String, PathBuf), String> {
    let (host, folder) = argument.split_once('=').ok_or("HOST=DIR expected")?;
    Ok((host.to_owned(), folder.into()))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let noise = Noise {
        latency: arguments.latency.to_std(),
        ads: arguments.ads,
        timestamps: arguments.timestamps,
        sessions: arguments.sessions,
    };
    let sites = Arc::new(Sites::new(arguments.sites, noise)?);
    let listener = TcpListener::bind((arguments.address.as_str(), arguments.port)).await?;
    eprintln!("serving on http://{}", listener.local_addr()?);
    tokio::select! {
        () = Arc::clone(&sites).run(listener) => {}
        result = tokio::signal::ctrl_c() => result?,
    }
    eprintln!("{} requests", sites.asked().len());
    Ok(())
}
