//! What robots.txt says, origin by origin (scheme, host, port; RFC 9309, section 2.3).

use std::sync::Arc;

use dedup_stage::store::{Result, Session, Space};
use url::Url;

use crate::codec::{self, Reader};
use crate::job::Millis;
use crate::robots::Rules;

/// What may be done with a URL of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Fetch it.
    Allowed,
    /// robots.txt forbids it.
    Forbidden,
    /// robots.txt must be asked for first.
    Ask,
    /// robots.txt could not be had; nothing is fetched, and it is asked for again at this time.
    Wait(Millis),
}

/// One origin of a host.
#[derive(Debug)]
pub struct Origin {
    https: bool,
    port: u16,
    robots: Robots,
}

#[derive(Debug)]
enum Robots {
    /// Not looked for in the store yet.
    Unread,
    /// Must be asked for.
    Unknown,
    /// Good until the time given.
    Known { rules: Arc<Rules>, until: Millis },
    /// Could not be had so many times.
    Unavailable { again: Millis, failures: u32 },
}

impl Origin {
    /// Longest time that rules are used (RFC 9309, section 2.4).
    const LIFE: Millis = 24 * 3_600_000;
    /// First and longest time until an unavailable robots.txt is asked for again.
    const AGAIN: (Millis, Millis) = (5_000, 3_600_000);

    /// The origin with this scheme and port.
    pub fn new(https: bool, port: u16) -> Self {
        Self { https, port, robots: Robots::Unread }
    }

    /// The origin of `url`.
    pub fn of(url: &Url) -> Self {
        Self::new(url.scheme() == "https", url.port_or_known_default().unwrap_or(0))
    }

    /// Whether its scheme is https (else http).
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether both are one origin of a host.
    pub fn is(&self, other: &Origin) -> bool {
        (self.https, self.port) == (other.https, other.port)
    }

    /// Where its robots.txt is; `url` is any URL of the origin.
    pub fn robots_url(url: &Url) -> Url {
        let mut robots = url.clone();
        robots.set_path("/robots.txt");
        robots.set_query(None);
        robots.set_fragment(None);
        // Who is logged in is not asked for rules; a URL with a host takes both without error.
        let _ = robots.set_username("");
        let _ = robots.set_password(None);
        robots
    }

    /// Whether `url`, which is of this origin, may be fetched at `now`.
    pub fn access(&mut self, url: &Url, now: Millis, session: &Session) -> Result<Access> {
        if let Robots::Unread = self.robots {
            self.robots = match session.get(Space::Robots, key(url).as_bytes())? {
                Some(record) => read(&record)?,
                None => Robots::Unknown,
            };
        }
        Ok(match &self.robots {
            Robots::Known { rules, until } if now < *until => {
                if allowed(rules, url) {
                    Access::Allowed
                } else {
                    Access::Forbidden
                }
            }
            Robots::Unavailable { again, .. } if now < *again => Access::Wait(*again),
            _ => Access::Ask,
        })
    }

    /// robots.txt was answered at `at`; `url` is any URL of the origin.
    pub fn answered(&mut self, rules: Rules, url: &Url, at: Millis, session: &mut Session) {
        let until = at + Self::LIFE;
        session.put(Space::Robots, key(url).as_bytes(), write(&rules, until));
        self.robots = Robots::Known { rules: Arc::new(rules), until };
    }

    /// robots.txt could not be had at `at`.
    pub fn unavailable(&mut self, at: Millis) {
        let failures = match self.robots {
            Robots::Unavailable { failures, .. } => failures + 1,
            _ => 1,
        };
        let wait = (Self::AGAIN.0 << (failures - 1).min(16)).min(Self::AGAIN.1);
        self.robots = Robots::Unavailable { again: at + wait, failures };
    }
}

fn key(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn write(_rules: &Rules, until: Millis) -> Vec<u8> {
    let mut value = Vec::new();
    codec::write(&mut value, until);
    value
}

fn read(record: &[u8]) -> Result<Robots> {
    let mut reader = Reader::new(record, "robots rules");
    let until = reader.number()?;
    Ok(Robots::Known { rules: Arc::new(Rules {}), until })
}

/// The seam to the rules.
fn allowed(_rules: &Rules, _url: &Url) -> bool {
    true
}
