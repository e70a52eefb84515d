//! The documentation sites of the shared data, as four hosts on loopback. They are held in memory, so that the server
//! uses little time compared with the crawler that is measured.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use crawler::demo::server::{host_and_target, serve, status};
use http::{Response, StatusCode, header};
use http_body_util::Full;
use serde::Serialize;
use tokio::net::TcpListener;
use xxhash_rust::xxh3::xxh3_64;

use crate::site::content_type;

/// The sites, in the order of their addresses: 127.0.0.1, 127.0.0.2 …
const SITES: [&str; 4] = ["postgresql-15", "postgresql-17", "python-3.11", "python-3.13"];

/// Four sites in memory, and the counts of the requests.
#[derive(Debug, Default)]
pub struct Manuals {
    /// The files by path, for each host.
    sites: HashMap<String, HashMap<String, File>>,
    tally: Mutex<(Tally, HashSet<u64>)>,
}

#[derive(Debug)]
struct File {
    content_type: &'static str,
    body: Bytes,
    hash: u64,
}

/// The counts of the requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// The number of HTML pages that were answered with 200.
    pub pages: u64,
    /// The number of different contents among them, compared by their bytes.
    pub contents: u64,
    /// The number of all other answers with 200.
    pub files: u64,
    /// The number of answers with 404.
    pub missing: u64,
}

impl Manuals {
    /// Reads the sites; `None` if the shared data is absent.
    pub fn load() -> anyhow::Result<Option<Self>> {
        let mut manuals = Self::default();
        for (number, name) in SITES.iter().enumerate() {
            let Some(folder) = crate::data::docs(name)? else { return Ok(None) };
            let mut files = HashMap::new();
            read(&folder, "/", &mut files)?;
            manuals.sites.insert(format!("127.0.0.{}", number + 1), files);
        }
        Ok(Some(manuals))
    }

    /// The addresses of the sites.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.sites.keys().map(String::as_str)
    }

    /// The URLs of all HTML pages.
    pub fn urls(&self, port: u16) -> Vec<String> {
        let pages = |files: &HashMap<String, File>| {
            let html = files.iter().filter(|(path, file)| file.content_type == "text/html" && !path.ends_with('/'));
            html.map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        let of_site = |(host, files)| pages(files).into_iter().map(move |path| format!("http://{host}:{port}{path}"));
        let mut urls: Vec<_> = self.sites.iter().flat_map(of_site).collect();
        urls.sort();
        urls
    }

    /// The counts so far. If `again` is true, counting starts again from zero.
    pub fn tally(&self, again: bool) -> Tally {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if again { std::mem::take(&mut *tally).0 } else { tally.0.clone() }
    }

    /// Serves connections until the future is dropped.
    pub async fn run(self: Arc<Self>, listener: TcpListener) {
        serve(listener, move |request| {
            let (host, target) = host_and_target(&request);
            let answer = self.answer(host, target);
            async move { answer }
        })
        .await;
    }

    fn answer(&self, host: &str, target: &str) -> Response<Full<Bytes>> {
        let path = target.split('?').next().unwrap_or_default();
        let file = self.sites.get(host).and_then(|files| files.get(path));
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (tally, seen) = &mut *tally;
        let Some(file) = file else {
            tally.missing += 1;
            return status(StatusCode::NOT_FOUND);
        };
        if file.content_type == "text/html" {
            tally.pages += 1;
            tally.contents += u64::from(seen.insert(file.hash));
        } else {
            tally.files += 1;
        }
        let answer = Response::builder().header(header::CONTENT_TYPE, file.content_type);
        answer.body(Full::new(file.body.clone())).expect("headers of our own")
    }
}

/// Reads a folder. Its index page is also stored under the path of the folder.
fn read(folder: &Path, prefix: &str, files: &mut HashMap<String, File>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &format!("{name}/"), files)?;
            continue;
        }
        let body = Bytes::from(std::fs::read(entry.path())?);
        let file = || File { content_type: content_type(&entry.path()), hash: xxh3_64(&body), body: body.clone() };
        if name.ends_with("/index.html") {
            files.insert(prefix.to_owned(), file());
        }
        files.insert(name, file());
    }
    Ok(())
}
