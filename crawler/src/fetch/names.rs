//! Looks up the addresses of host names: by DNS as the system is configured, behind a cache. The cache lets one lookup
//! per name run at a time (single flight), and remembers failures, too. If no name server answers any more, this is
//! trouble of this machine, and no host is blamed for it.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RecordType};

use super::FetchError;
use servers::Servers;

/// The shortest time for which an answer is kept, whatever its time to live is: a host that is fetched once a second
/// need not be looked up once a second. Connections go to the answer that was checked, so keeping it longer does not
/// make rebinding possible.
const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The time for which a failure is remembered.
const FAILURE: Duration = Duration::from_secs(30);
/// The most names that are remembered. Beyond this, names whose answer has expired are forgotten.
const MOST_NAMES: usize = config::bounds::NAMES;

/// The lookup of addresses.
pub(super) struct Names {
    resolver: TokioResolver,
    cache: Cache,
    servers: Servers,
}

impl Names {
    /// Makes a lookup as the system is configured. Without a configuration, it uses a name server on this machine, as
    /// the C library does.
    pub(super) fn of_system() -> anyhow::Result<Self> {
        let local = || {
            let servers = vec![NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into())];
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        Self::with(TokioResolver::builder_tokio().unwrap_or_else(|_| local()))
    }

    fn with(mut builder: hickory_resolver::ResolverBuilder<TokioRuntimeProvider>) -> anyhow::Result<Self> {
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.use_hosts_file = ResolveHosts::Always;
        // The answers are kept here, for longer.
        options.cache_size = 0;
        Ok(Self { resolver: builder.build()?, cache: Cache::default(), servers: Servers::default() })
    }

    /// The addresses of `host`. They are not checked.
    pub(super) async fn lookup(&self, host: &str) -> Result<Arc<[IpAddr]>, FetchError> {
        // RFC 6761, section 6.3: no name server is asked.
        if host == "localhost" || host.ends_with(".localhost") {
            return Ok([IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].into());
        }
        self.cache.get(host, Instant::now(), || self.ask(host)).await
    }

    async fn ask(&self, host: &str) -> Answer {
        let now = Instant::now();
        if !self.servers.may_be_asked(now) {
            return (Err(silent()), now);
        }
        // A name with a dot is complete: the search list is for the short names of an intranet.
        let result = match host.contains('.') && !host.ends_with('.') {
            true => self.resolver.lookup_ip(format!("{host}.")).await,
            false => self.resolver.lookup_ip(host).await,
        };
        let now = Instant::now();
        match result {
            Ok(found) => {
                // What stands in the file of hosts is valid for a day, and tells nothing about name servers.
                if found.valid_until() < now + LONGEST - SHORTEST {
                    self.servers.answered();
                }
                let until = found.valid_until().clamp(now + SHORTEST, now + LONGEST);
                (Ok(found.iter().collect()), until)
            }
            Err(error) if self.are_silent(&error).await => match self.servers.have_answered() {
                true => (Err(silent()), now),
                false => (Err(FetchError::NoNameServer), now + Servers::PAUSE),
            },
            Err(error) => (Err(FetchError::Dns(told(host, &error.to_string()))), now + FAILURE),
        }
    }

    /// Whether the name servers do not answer. The servers of one name may fail to answer in time. So if a lookup brought
    /// no answer, the name servers are asked for the root, which they know.
    async fn are_silent(&self, error: &NetError) -> bool {
        let is_silence = |error: &NetError| {
            matches!(error, NetError::Timeout | NetError::NoConnections | NetError::Io(_) | NetError::Busy)
        };
        let servers_answer = !is_silence(error)
            || !self.resolver.lookup(Name::root(), RecordType::NS).await.is_err_and(|error| is_silence(&error));
        if servers_answer {
            self.servers.answered();
        } else {
            self.servers.are_silent(Instant::now());
        }
        !servers_answer
    }
}

fn silent() -> FetchError {
    FetchError::Local("no name server answers any more".into())
}

/// The error of the resolver, without its query, which is not written for users.
fn told(host: &str, error: &str) -> String {
    match error.split_once("Query {") {
        None => error.to_owned(),
        Some((what, _)) if what.contains("no record") => format!("{host} has no address"),
        Some((what, _)) => what.trim_end_matches([' ', ':']).trim_end_matches(" for").to_owned(),
    }
}

/// The result of a lookup, and the time until which it is valid.
type Answer = (Result<Arc<[IpAddr]>, FetchError>, Instant);
/// The answer for one name. The lock is held during a lookup, so others that want the same name wait, and read the
/// answer.
type Slot = Arc<tokio::sync::Mutex<Option<Answer>>>;

/// The answers by name.
#[derive(Default)]
struct Cache {
    slots: Mutex<HashMap<Box<str>, Slot>>,
}

impl Cache {
    /// The answer for `name` if it is valid at `now`, otherwise the result of `lookup`.
    async fn get<F: Future<Output = Answer>>(
        &self,
        name: &str,
        now: Instant,
        lookup: impl FnOnce() -> F,
    ) -> Result<Arc<[IpAddr]>, FetchError> {
        let slot = self.slot(name, now);
        let mut slot = slot.lock().await;
        if let Some((result, until)) = &*slot
            && now < *until
        {
            return result.clone();
        }
        let answer = lookup().await;
        slot.insert(answer).0.clone()
    }

    fn slot(&self, name: &str, now: Instant) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MOST_NAMES && !slots.contains_key(name) {
            let holds = |slot: &Slot| match slot.try_lock() {
                Ok(answer) => answer.as_ref().is_some_and(|(_, until)| now < *until),
                Err(_) => true,
            };
            slots.retain(|_, slot| holds(slot));
            if slots.len() >= MOST_NAMES {
                slots.clear();
            }
        }
        Arc::clone(slots.entry(name.into()).or_default())
    }
}

mod servers;
#[cfg(test)]
mod tests;
