//! The process that asks: a store whose entries another process has.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use dedup_stage::store::{Batch, Error, Result, Space, Store, Visitor};

use super::{Answer, Ask, at_socket, receive, send};

/// The state of a crawl that another process runs, as of the last commit before the first question.
#[derive(Debug)]
pub struct Remote {
    /// The connection. It carries one question at a time.
    socket: Mutex<UnixStream>,
}

impl Remote {
    /// Connects to the process that has the store in the directory `state` open.
    ///
    /// # Errors
    ///
    /// If no process answers there.
    pub fn connect(state: &Path) -> io::Result<Self> {
        Ok(Self { socket: Mutex::new(at_socket(state, |path| UnixStream::connect(path))?) })
    }

    fn ask(&self, ask: &Ask) -> Result<Answer> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = send(&mut *socket, ask).and_then(|()| receive(&mut *socket));
        match answer {
            Ok(Some(Answer::Failed(reason))) => Err(Error::Engine(reason)),
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(_) => {
                Err(Error::Engine("the crawl that runs here stopped answering; if it has ended, ask again".into()))
            }
        }
    }
}

/// The number of a space in a question.
fn number(space: Space) -> u8 {
    // Numbers are below `Space::MOST`, so they fit.
    space.number() as u8
}

fn unexpected() -> Error {
    Error::Engine("the crawl that runs here is of another version of the program".into())
}

impl Store for Remote {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.ask(&Ask::Get { space: number(space), key: key.to_vec() })? {
            Answer::Value(value) => Ok(value),
            _ => Err(unexpected()),
        }
    }

    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let mut from = from.to_vec();
        loop {
            let ask = Ask::Scan { space: number(space), from: from.clone(), to: to.to_vec() };
            let Answer::Entries { entries, more } = self.ask(&ask)? else { return Err(unexpected()) };
            if entries.iter().any(|(key, value)| visit(key, value).is_break()) || !more {
                return Ok(());
            }
            // The next possible key is this one with a zero byte after it.
            let Some((last, _)) = entries.last() else { return Err(unexpected()) };
            from = [last, &[0][..]].concat();
        }
    }

    /// Fails: the state belongs to the process that crawls.
    ///
    /// # Errors
    ///
    /// Always.
    fn commit(&mut self, _batch: &Batch) -> Result<()> {
        Err(Error::ReadOnly)
    }
}
