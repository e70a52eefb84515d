//! Measures the cost of fetching alone: the CPU time per page of the thread that fetches, for bare reqwest and for
//! `HttpFetch`, with pages of 14 KB. The server runs on other threads of this process, whose time is not counted.
//!
//! `cargo run --release -p tests --bin fetch-floor -- [PAGES] [HOSTS]`

use std::convert::Infallible;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use config::Settings;
use crawler::fetch::budget::ByteBudget;
use crawler::fetch::http::HttpFetch;
use crawler::fetch::{Fetch, Request};
use frontier::JobKind;
use http_body_util::Full;
use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const PAGE: usize = 14 << 10;

fn main() -> anyhow::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u32>());
    let pages = numbers.next().transpose()?.unwrap_or(20_000);
    let hosts = numbers.next().transpose()?.unwrap_or(20);
    // The server lives as long as its runtime is held.
    let (_server, port) = server(hosts)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut settings = Settings::default();
    settings.fetch.allow_private = true;
    let fetcher = runtime.block_on(async { HttpFetch::new(&settings) })?;
    let bare = reqwest_like_the_others()?;
    let budget = ByteBudget::new(64 << 20);
    for round in 0..3 {
        let bare = measure(&runtime, pages, hosts, |host, page| {
            let (client, url) = (bare.clone(), format!("http://{}:{port}/{page}", address(host)));
            async move {
                let mut response = client.get(url).send().await?;
                let mut body = Vec::new();
                while let Some(chunk) = response.chunk().await? {
                    body.extend_from_slice(&chunk);
                }
                Ok(body.len())
            }
        })?;
        let ours = measure(&runtime, pages, hosts, |host, page| {
            let (fetcher, budget) = (&fetcher, Arc::clone(&budget));
            async move {
                let url = format!("http://{}:{port}/{page}", address(host)).parse()?;
                let request = Request::new(url, JobKind::Page, [IpAddr::V4(address(host))], budget);
                Ok(fetcher.fetch(request).await?.body.len())
            }
        })?;
        writeln!(std::io::stdout(), "round {round}: bare reqwest {bare}; HttpFetch {ours}")?;
    }
    Ok(())
}

/// Fetches `pages` pages, one at a time from each host. Returns the CPU time and the speed as text.
fn measure<F: Future<Output = anyhow::Result<usize>>>(
    runtime: &Runtime,
    pages: u32,
    hosts: u32,
    fetch: impl Fn(u32, u32) -> F + Copy,
) -> anyhow::Result<String> {
    let (started, cpu) = (Instant::now(), thread_cpu_nanos()?);
    let host = |host| async move {
        for page in 0..pages / hosts {
            anyhow::ensure!(fetch(host, page).await? == PAGE, "a short page");
        }
        anyhow::Ok(())
    };
    runtime.block_on(futures_util::future::try_join_all((0..hosts).map(host)))?;
    let cpu = (thread_cpu_nanos()? - cpu) as f64 / 1e3 / f64::from(pages);
    Ok(format!("{cpu:.1} us CPU a page, {:.0} pages/s", f64::from(pages) / started.elapsed().as_secs_f64()))
}

fn address(host: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + host)
}

fn server(hosts: u32) -> anyhow::Result<(Runtime, u16)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let first = runtime.block_on(TcpListener::bind(SocketAddr::from((address(0), 0))))?;
    let port = first.local_addr()?.port();
    let mut listeners = vec![first];
    for host in 1..hosts {
        listeners.push(runtime.block_on(TcpListener::bind(SocketAddr::from((address(host), port))))?);
    }
    let page = Bytes::from(vec![b'x'; PAGE]);
    for listener in listeners {
        let page = page.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let page = page.clone();
                let answer = service_fn(move |_| {
                    let response =
                        hyper::Response::builder().header("content-type", "text/html").body(Full::new(page.clone()));
                    async move { Ok::<_, Infallible>(response.expect("a response")) }
                });
                let io = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, answer));
            }
        });
    }
    Ok((runtime, port))
}

fn reqwest_like_the_others() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build()?)
}

/// The CPU time of this thread, according to the scheduler.
fn thread_cpu_nanos() -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split_whitespace().next().unwrap_or_default().parse()?)
}
