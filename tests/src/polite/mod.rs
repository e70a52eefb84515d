//! Tests politeness from the side of the servers: hosts on a few loopback addresses record the time of each request and
//! of the end of its answer, and a judge reads this log.
//!
//! Each host has a Crawl-delay and a response time of its own, an endless tree of pages, and a folder that its
//! robots.txt forbids and to which every page links. Some hosts answer 503 or 429 with a Retry-After now and then.

mod judge;
mod run;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

pub use judge::{Judgement, Process};
pub use run::{Course, follow};

/// The hosts.
#[derive(Clone, Copy, Debug)]
pub struct Town {
    /// The number of hosts.
    pub hosts: usize,
    /// The number of loopback addresses that they share.
    pub addresses: u8,
    /// The Crawl-delay of the first host.
    pub shortest: Duration,
    /// The Crawl-delay of the last host. The delays of the hosts between the first and the last grow evenly.
    pub longest: Duration,
    /// One host in this many is busy: it sends a Retry-After in every 16th answer. 0 means none.
    pub busy: usize,
}

impl Town {
    /// The longest response time.
    const LATENCY: Duration = Duration::from_millis(20);

    /// The name of a host.
    pub fn name(host: usize) -> String {
        format!("h{host:03}.polite.test")
    }

    /// The Crawl-delay of a host, in whole milliseconds.
    pub fn delay(&self, host: usize) -> Duration {
        let span = self.longest.saturating_sub(self.shortest).as_millis() as usize;
        self.shortest + Duration::from_millis((span * host / (self.hosts - 1).max(1)) as u64)
    }

    /// The response time of a host. It does not grow with the delay of the host.
    fn latency(&self, host: usize) -> Duration {
        Self::LATENCY.mul_f64((host * 7 % 11) as f64 / 11.0)
    }

    /// Whether a host sends a Retry-After now and then.
    pub fn is_busy(&self, host: usize) -> bool {
        self.busy > 0 && host % self.busy == 1
    }

    /// The number of the address of a host.
    pub fn address(&self, host: usize) -> usize {
        host % usize::from(self.addresses)
    }
}

/// One request, as its host saw it. All times are counted from the start of the server.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// The number of the host.
    pub host: usize,
    /// The path.
    pub path: String,
    /// The time at which its last byte was read.
    pub arrived: Duration,
    /// The time just before the last piece of the answer was sent, or at which the client was gone; `None` while the
    /// request is open.
    pub ended: Option<Duration>,
    /// The number of requests to the same host that were open then, including this one.
    pub open: usize,
    /// The time before which the host wants no request, according to the Retry-After of the answer.
    pub retry_after: Option<Duration>,
}

/// The servers. They end when this is dropped.
pub struct Servers {
    town: Town,
    ports: Vec<u16>,
    log: Log,
    runtime: Option<Runtime>,
}

#[derive(Clone)]
struct Log {
    start: Instant,
    /// The time of day at `start`.
    date: SystemTime,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    /// Is notified of each arrival.
    arrived: Arc<Condvar>,
}

impl Servers {
    /// Starts the servers.
    pub fn start(town: Town) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let log = Log { start: Instant::now(), date: SystemTime::now(), seen: Arc::default(), arrived: Arc::default() };
        let mut ports = Vec::new();
        for address in 0..town.addresses {
            let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::new(127, 0, 0, 1 + address), 0)))?;
            ports.push(listener.local_addr()?.port());
            let log = log.clone();
            runtime.spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let log = log.clone();
                    tokio::spawn(async move { serve(town, &log, stream).await });
                }
            });
        }
        Ok(Self { town, ports, log, runtime: Some(runtime) })
    }

    /// The rules that lead each host to its address.
    pub fn connect_to(&self) -> impl Iterator<Item = String> {
        (0..self.town.hosts).map(|host| {
            let address = self.town.address(host);
            format!("{}:80:127.0.0.{}:{}", Town::name(host), 1 + address, self.ports[address])
        })
    }

    /// Waits until this many requests have arrived in total, or `time` is over. Returns the number of requests that
    /// have arrived.
    pub fn wait_for(&self, requests: usize, time: Duration) -> usize {
        let few = |seen: &mut Vec<SeenRequest>| seen.len() < requests;
        let waited = self.log.arrived.wait_timeout_while(self.log.lock(), time, few);
        waited.unwrap_or_else(PoisonError::into_inner).0.len()
    }

    /// The time since the start of the servers.
    pub fn now(&self) -> Duration {
        self.log.start.elapsed()
    }

    /// All requests so far, in the order of their arrival.
    pub fn log(&self) -> Vec<SeenRequest> {
        self.log.lock().clone()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Log {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<SeenRequest>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an arrival. Returns the number of the request, and how many requests to its host came before it.
    fn arrive(&self, host: usize, path: &str) -> (usize, usize) {
        let mut seen = self.lock();
        let arrived = self.start.elapsed();
        let of_host = || seen.iter().filter(|seen| seen.host == host);
        let (before, open) = (of_host().count(), 1 + of_host().filter(|seen| seen.ended.is_none()).count());
        seen.push(SeenRequest { host, path: path.to_owned(), arrived, ended: None, open, retry_after: None });
        self.arrived.notify_all();
        (seen.len() - 1, before)
    }

    fn end(&self, number: usize, retry_after: Option<Duration>) {
        let mut seen = self.lock();
        seen[number].ended = Some(self.start.elapsed());
        seen[number].retry_after = retry_after;
    }
}

/// Answers the requests on one connection.
async fn serve(town: Town, log: &Log, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        while !buffer.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        let text = String::from_utf8_lossy(&buffer).into_owned();
        buffer.clear();
        let path = text.split(' ').nth(1).unwrap_or_default();
        let header = |line: &str| line.to_ascii_lowercase().strip_prefix("host: h").map(str::to_owned);
        let host = text.lines().find_map(header).and_then(|name| name.get(..3)?.parse().ok()).unwrap_or(0);
        let (number, before) = log.arrive(host, path);
        tokio::select! {
            () = tokio::time::sleep(town.latency(host)) => {}
            // The crawler sends nothing while it waits. If the read returns, the client has closed the connection or is
            // another program.
            _ = stream.read_u8() => {
                log.end(number, None);
                return Ok(());
            }
        }
        let (head, body, retry_after) = answer(town, log, host, path, before);
        let length = body.len();
        let head = format!("HTTP/1.1 {head}content-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        log.end(number, retry_after);
        stream.write_all(body.as_bytes()).await?;
    }
}

/// The status and headers, the body, and the time before which the host wants no request.
fn answer(town: Town, log: &Log, host: usize, path: &str, before: usize) -> (String, String, Option<Duration>) {
    let html = |body: String| ("200 OK\r\ncontent-type: text/html\r\n".to_owned(), body, None);
    if path == "/robots.txt" {
        let delay = town.delay(host).as_secs_f64();
        let rules = format!("User-agent: *\nDisallow: /private/\nCrawl-delay: {delay:.3}\n");
        return ("200 OK\r\ncontent-type: text/plain\r\n".to_owned(), rules, None);
    }
    if town.is_busy(host) && before % 16 == 8 {
        let wait = Duration::from_secs(2);
        let now = log.start.elapsed();
        if before % 32 == 8 {
            let body = "busy\n".to_owned();
            return (format!("503 Service Unavailable\r\nretry-after: {}\r\n", wait.as_secs()), body, Some(now + wait));
        }
        // A date has whole seconds.
        let date = (log.date + now + wait).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(date);
        let until = date.duration_since(log.date).unwrap_or_default();
        let head = format!("429 Too Many Requests\r\nretry-after: {}\r\n", httpdate::fmt_http_date(date));
        return (head, "busy\n".to_owned(), Some(until));
    }
    let number: u64 = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let (left, right) = (2 * number + 1, 2 * number + 2);
    html(format!("<a href=/p/{left}>left</a> <a href=/p/{right}>right</a> <a href=/private/{number}>private</a>"))
}
