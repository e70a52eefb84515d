//! `serve-web`: serves a synthetic web or real documentation over HTTP. It is a process of its own, so that its CPU
//! time is not counted as that of a crawler.

use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use clap::{Parser, ValueEnum};
use crawler::demo::record::Record;
use crawler::demo::server::{serve, serve_web};
use crawler::demo::web::{Names, Options, Web};
use http_body_util::Full;
use hyper::Response;
use tests::manuals::Manuals;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Serve a synthetic web.
///
/// With loopback names it listens on 127.0.0.1, 127.0.0.2 …, one address per host; else it listens on 127.0.0.1 for all
/// hosts, and is reached with `--connect-to ::127.0.0.1:PORT`. The counts of the fetches are a JSON object at
/// http://127.0.0.1:CONTROL/peek, at `/take` (which also resets them), and on stdout at the end (Ctrl-C).
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The web to serve.
    #[arg(long, value_enum, default_value = "benchmark")]
    web: Kind,
    /// The seed of all random decisions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of URLs of articles, including copies.
    #[arg(long)]
    pages: Option<usize>,
    /// Give the hosts coined names instead of their addresses.
    #[arg(long)]
    coined: bool,
    /// The port of the web.
    #[arg(long, default_value_t = 8100)]
    port: u16,
    /// The port of the counts. Without it, they are not served.
    #[arg(long)]
    control: Option<u16>,
    /// Print the seeds, one per line, and end.
    #[arg(long)]
    seeds: bool,
    /// Print the URLs of all pages, one per line, and end.
    #[arg(long)]
    urls: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Demo,
    Benchmark,
    /// The documentation of PostgreSQL and Python, two versions each, as four sites; needs the shared data.
    Docs,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut options = match arguments.web {
        Kind::Demo => Options::demo(arguments.seed),
        Kind::Benchmark => Options::benchmark(arguments.seed),
        Kind::Docs => return serve_docs(&arguments).await,
    };
    options.pages = arguments.pages.unwrap_or(options.pages);
    if !arguments.coined {
        options.names = Names::Loopback { port: arguments.port };
    }
    let web = Arc::new(Web::new(options));
    if arguments.seeds {
        web.seeds().iter().for_each(|seed| println!("{seed}"));
        return Ok(());
    }
    if arguments.urls {
        web.urls().iter().for_each(|url| println!("{url}"));
        return Ok(());
    }
    let record = Arc::<Record>::default();
    let mut servers = JoinSet::new();
    let loopback = [String::from("127.0.0.1")];
    for address in if arguments.coined { &loopback } else { web.hosts() } {
        let listener = TcpListener::bind((address.as_str(), arguments.port)).await?;
        servers.spawn(serve_web(listener, Arc::clone(&web), Arc::clone(&record)));
    }
    if let Some(port) = arguments.control {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let record = Arc::clone(&record);
        let tally = move |again| serde_json::to_vec(&if again { record.take() } else { record.tally() });
        servers.spawn(serve_count(listener, tally));
    }
    eprintln!("serving {} contents on {} hosts", web.contents(), web.hosts().len());
    tokio::signal::ctrl_c().await?;
    println!("{}", serde_json::to_string(&record.take())?);
    Ok(())
}

async fn serve_docs(arguments: &Arguments) -> anyhow::Result<()> {
    let manuals = Arc::new(Manuals::load()?.context("the shared data is absent")?);
    if arguments.seeds {
        manuals.hosts().for_each(|host| println!("http://{host}:{}/index.html", arguments.port));
        return Ok(());
    }
    if arguments.urls {
        manuals.urls(arguments.port).iter().for_each(|url| println!("{url}"));
        return Ok(());
    }
    let mut servers = JoinSet::new();
    for host in manuals.hosts() {
        let listener = TcpListener::bind((host, arguments.port)).await?;
        servers.spawn(Arc::clone(&manuals).run(listener));
    }
    if let Some(port) = arguments.control {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let manuals = Arc::clone(&manuals);
        servers.spawn(serve_count(listener, move |again| serde_json::to_vec(&manuals.tally(again))));
    }
    eprintln!("serving {} pages on {} hosts", manuals.urls(arguments.port).len(), manuals.hosts().count());
    tokio::signal::ctrl_c().await?;
    println!("{}", serde_json::to_string(&manuals.tally(true))?);
    Ok(())
}

/// Serves the counts. `tally` returns them, and resets them if its argument is true.
async fn serve_count(
    listener: TcpListener,
    tally: impl Fn(bool) -> serde_json::Result<Vec<u8>> + Clone + Send + 'static,
) {
    serve(listener, move |request| {
        let count = tally(request.uri().path() == "/take").unwrap_or_default();
        async move { Response::new(Full::new(Bytes::from(count))) }
    })
    .await;
}
