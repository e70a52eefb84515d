//! What robots.txt says, origin by origin (scheme, host and port; RFC 9309, section 2.3).

use std::sync::Arc;

use dedup_stage::store::{Error, Result, Session};
use url::Url;

use crate::job::Millis;
use crate::robots::Rules;
use crate::spaces;

/// What may be done with a URL of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Fetch it.
    Allowed,
    /// robots.txt forbids it.
    Forbidden,
    /// robots.txt must be asked for first.
    Ask,
    /// Not known: nothing is fetched before this time, when robots.txt is asked for again.
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
    /// Never asked for.
    Unknown,
    /// Was asked for; perhaps it expired.
    Known(Arc<Rules>),
    /// Was asked for, and lies elsewhere; who asks there will tell. Before it moved, this was known.
    Moved(Option<Arc<Rules>>),
}

impl Origin {
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
        // Rules are not asked for under somebody's name. A URL with a host takes both without error.
        let _ = robots.set_username("");
        let _ = robots.set_password(None);
        robots
    }

    /// Whether `url`, which is of this origin, may be fetched at `now`.
    pub fn access(&mut self, url: &Url, now: Millis, session: &Session) -> Result<Access> {
        if let Robots::Unread = self.robots {
            self.robots = match session.get(spaces::ROBOTS, key(url).as_bytes())? {
                Some(bytes) => Robots::Known(Arc::new(
                    Rules::from_bytes(&bytes)
                        .ok_or_else(|| Error::Damaged(format!("the robots rules of {} cannot be read", key(url))))?,
                )),
                None => Robots::Unknown,
            };
        }
        Ok(match &self.robots {
            Robots::Unread | Robots::Unknown => Access::Ask,
            Robots::Moved(_) => Access::Wait(Millis::MAX),
            Robots::Known(rules) if rules.expires_at() <= now => Access::Ask,
            Robots::Known(rules) if rules.is_undefined() => Access::Wait(rules.expires_at()),
            Robots::Known(rules) if rules.allowed(url) => Access::Allowed,
            Robots::Known(_) => Access::Forbidden,
        })
    }

    /// Whether the store may know more of its robots.txt.
    pub fn is_unread(&self) -> bool {
        matches!(self.robots, Robots::Unread)
    }

    /// Whether nothing may be fetched because its robots.txt cannot be had, or lies where it could not be had so far.
    pub fn withholds(&self) -> bool {
        match &self.robots {
            Robots::Known(rules) => rules.is_undefined(),
            Robots::Moved(_) => true,
            Robots::Unread | Robots::Unknown => false,
        }
    }

    /// robots.txt was answered, or could not be had; `url` is any URL of the origin.
    pub fn answered(&mut self, rules: Rules, url: &Url, session: &mut Session) {
        let rules = match self.rules() {
            Some(earlier) => rules.after(earlier),
            None => rules,
        };
        session.put(spaces::ROBOTS, key(url).as_bytes(), rules.to_bytes());
        self.robots = Robots::Known(Arc::new(rules));
    }

    /// robots.txt lies elsewhere.
    pub fn moved(&mut self) {
        self.robots = Robots::Moved(self.rules().cloned());
    }

    /// The rules last known.
    pub fn rules(&self) -> Option<&Arc<Rules>> {
        match &self.robots {
            Robots::Known(rules) | Robots::Moved(Some(rules)) => Some(rules),
            _ => None,
        }
    }
}

fn key(url: &Url) -> String {
    url.origin().ascii_serialization()
}
