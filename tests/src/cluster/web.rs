//! A web of many hosts, some of which are mirrors of others, that writes down when it was asked for what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use crawler::demo::server::{host_and_target, serve, status};
use fastrand::Rng;
use http::{Response, StatusCode};
use http_body_util::Full;
use tokio::net::TcpListener;

/// What the web is like. Each host is a registrable domain of its own.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Hosts with pages of their own.
    pub originals: usize,
    /// Hosts that show what the first of those show; every other one with a word changed on each page.
    pub mirrors: usize,
    /// Pages of each host: a tree, and links to other hosts.
    pub pages: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which host.
    pub host: usize,
    /// Path.
    pub path: String,
    /// When it came, since the start.
    pub arrived: Duration,
    /// When it was answered.
    pub ended: Option<Duration>,
}

/// The web.
pub struct Town {
    shape: Shape,
    /// Whether the robots.txt of each host has moved to another host.
    robots_move: bool,
    /// Whether each page has one link only, to a page of the next host that no other page links to.
    is_chained: bool,
    start: Instant,
    asked: Mutex<Vec<Asked>>,
}

/// What a page shows: pages with one content are copies.
pub type Content = (usize, usize);

impl Shape {
    /// Hosts.
    pub fn hosts(&self) -> usize {
        self.originals + self.mirrors
    }

    /// Different contents.
    pub fn contents(&self) -> usize {
        self.originals * self.pages
    }

    /// The name of a host.
    pub fn name(host: usize) -> String {
        format!("h{host:03}.test")
    }

    /// What a URL shows.
    pub fn content(&self, url: &str) -> Option<Content> {
        let (host, path) = url.strip_prefix("http://h")?.split_once(".test/")?;
        let (host, page) =
            (host.parse::<usize>().ok()?, path.strip_prefix("p/").map_or(Some(0), |page| page.parse().ok())?);
        (host < self.hosts() && page < self.pages).then_some((self.original(host), page))
    }

    fn original(&self, host: usize) -> usize {
        if host < self.originals { host } else { host - self.originals }
    }

    fn body(&self, host: usize, page: usize, is_chained: bool) -> String {
        let original = self.original(host);
        let seed = (original * self.pages + page) as u64;
        let mut random = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut word = || (0..4).map(|_| char::from(b'a' + random.u8(..26))).collect::<String>();
        let mut words: Vec<String> = (0..400).map(|_| word()).collect();
        if host >= self.originals && host % 2 == 1 {
            words[70] = "mirrored".into();
        }
        if is_chained {
            let next = format!("http://{}/p/{}", Self::name((host + 1) % self.hosts()), page + 1);
            let link = if page + 1 < self.pages { format!("<a href={next}>next</a>") } else { String::new() };
            return format!("<html><title>{seed}</title><main><p>{}</p>{link}</main></html>", words.join(" "));
        }
        let mut links = String::new();
        for child in [2 * page + 1, 2 * page + 2].into_iter().filter(|child| *child < self.pages) {
            links += &format!("<a href=/p/{child}>next</a> ");
        }
        let other = (seed as usize * 7 + 3) % self.originals;
        links += &format!("<a href=http://{}/p/{}>elsewhere</a>", Self::name(other), seed as usize * 5 % self.pages);
        format!("<html><title>{seed}</title><main><p>{}</p>{links}</main></html>", words.join(" "))
    }
}

impl Town {
    /// Nobody has asked yet.
    pub fn new(shape: Shape) -> Arc<Self> {
        Self::with(shape, false, false)
    }

    /// The same, but each page has one link only, to a page of the next host that no other page links to: what follows a link
    /// that is lost is never found.
    pub fn chained(shape: Shape) -> Arc<Self> {
        Self::with(shape, false, true)
    }

    /// The same, but the robots.txt of each host is at another host.
    pub fn with_moved_robots(shape: Shape) -> Arc<Self> {
        Self::with(shape, true, false)
    }

    fn with(shape: Shape, robots_move: bool, is_chained: bool) -> Arc<Self> {
        Arc::new(Self { shape, robots_move, is_chained, start: Instant::now(), asked: Mutex::default() })
    }

    /// Answers connections until it is dropped.
    pub async fn run(self: Arc<Self>, listener: TcpListener) {
        serve(listener, move |request| {
            let town = Arc::clone(&self);
            async move {
                let (host, target) = host_and_target(&request);
                let host = host.strip_prefix('h').and_then(|host| host.strip_suffix(".test")?.parse::<usize>().ok());
                let Some(host) = host.filter(|host| *host < town.shape.hosts()) else {
                    return status(StatusCode::MISDIRECTED_REQUEST);
                };
                let number = town.arrive(host, target);
                let answer = town.answer(host, target);
                town.lock()[number].ended = Some(town.start.elapsed());
                answer
            }
        })
        .await;
    }

    fn answer(&self, host: usize, target: &str) -> Response<Full<Bytes>> {
        if self.robots_move && target == "/robots.txt" {
            let there = format!("http://{}/robots-of/{host}", Shape::name((host * 7 + 3) % self.shape.hosts()));
            let response = Response::builder().status(StatusCode::FOUND).header("location", there);
            return response.body(Full::default()).expect("headers of our own");
        }
        let url = format!("http://{}{target}", Shape::name(host));
        let Some((_, page)) = self.shape.content(&url) else { return status(StatusCode::NOT_FOUND) };
        let body = self.shape.body(host, page, self.is_chained);
        let response = Response::builder().header("content-type", "text/html");
        response.body(Full::new(body.into())).expect("headers of our own")
    }

    fn arrive(&self, host: usize, path: &str) -> usize {
        let mut asked = self.lock();
        let arrived = self.start.elapsed();
        asked.push(Asked { host, path: path.to_owned(), arrived, ended: None });
        asked.len() - 1
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything so far, in order of arrival.
    pub fn asked(&self) -> Vec<Asked> {
        self.lock().clone()
    }

    /// Requests that came while another of the same host was open, and those that came sooner than `delay` after the one
    /// before.
    pub fn impolite(&self, delay: Duration) -> (usize, usize) {
        let mut last: HashMap<usize, Asked> = HashMap::new();
        let (mut overlapping, mut early) = (0, 0);
        for asked in self.asked() {
            if let Some(before) = last.insert(asked.host, asked.clone()) {
                match before.ended.filter(|ended| *ended <= asked.arrived) {
                    None => overlapping += 1,
                    Some(ended) => early += usize::from(asked.arrived - ended < delay),
                }
            }
        }
        (overlapping, early)
    }
}
