//! The connection to the brokers. Their version and settings are checked first.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::CreateStreamErrorKind;
use async_nats::jetstream::stream::Config;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, jetstream};
use dedup_stage::url::drop_user;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use url::Url;

use super::traffic::Traffic;
use super::trouble::{no_connection, no_monitor};
use super::{ANSWER, ClusterError, Result, broker};

/// The addresses of the brokers, and the credentials of this program.
#[derive(Clone, Debug, clap::Args)]
pub struct BrokerArgs {
    /// The brokers, as nats://A,B,C
    #[arg(long = "cluster", value_name = "NATS", env = "CRAWLER_CLUSTER")]
    servers: String,
    /// The crawl: letters, digits and hyphens
    #[arg(long, value_name = "CRAWL", default_value = BrokerArgs::NAME)]
    name: String,
    /// File of credentials, as `nsc` writes it
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// Certificates (PEM) that the brokers' certificates are checked with, beside the system's; asks for TLS
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Monitoring addresses of the brokers, as http://A:8222,http://B:8222. They show whether the brokers sync every
    /// write
    #[arg(long, value_name = "URL", value_delimiter = ',', env = "CRAWLER_MONITOR")]
    monitor: Vec<String>,
    /// Continue although the brokers do not sync every write, or although nobody can see whether they do. A power cut
    /// may lose the crawl
    #[arg(long)]
    unsafe_sync: bool,
}

/// A connection to the brokers of a crawl.
#[derive(Clone, Debug)]
pub struct BrokerConnection {
    /// The connection.
    pub client: Client,
    /// The streams of the crawl.
    pub context: jetstream::Context,
    /// The counters of the traffic over the connection.
    pub traffic: Arc<Traffic>,
    name: String,
    /// The addresses of the brokers, without user names and passwords.
    servers: String,
}

/// The longest wait for the monitoring address of a broker. A broker that is well answers sooner.
const SOON: Duration = Duration::from_secs(2);

/// The time in which brokers that have just begun must be able to make a stream.
const MAKING: Duration = Duration::from_secs(30);

/// The error of a broker without JetStream.
const NOT_STARTED: &str = "the broker has not started JetStream: put a `jetstream` block with `sync_interval: always` \
                           into its configuration. If it was started a moment ago, ask again";

/// The oldest version of the brokers that may be used: older versions have lost acknowledged messages.
const OLDEST: (u32, u32) = (2, 12);

/// A broker, as its monitoring address describes it.
#[derive(Clone, Debug, Serialize)]
pub struct Broker {
    /// The monitoring address.
    pub monitor: String,
    /// Whether the broker is well.
    pub is_well: bool,
}

impl BrokerArgs {
    /// The name of the crawl if none is given.
    pub const NAME: &str = "crawl";

    /// Arguments for brokers that need no credentials.
    pub fn new(servers: String, monitor: Vec<String>) -> Self {
        Self { servers, name: Self::NAME.into(), creds: None, tls_ca: None, monitor, unsafe_sync: false }
    }

    /// Connects, and checks the version and the settings of the brokers. Brokers that do not answer at their monitoring
    /// address are not checked, but at least one must answer.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Usage`] if the brokers may not be used.
    pub async fn connect(&self) -> Result<BrokerConnection> {
        let is_word = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !is_word(&self.name) {
            return Err(ClusterError::Usage(format!("--name {}: letters, digits and hyphens only", self.name)));
        }
        let mut options = ConnectOptions::new().name(format!("crawler {}", self.name)).request_timeout(Some(ANSWER));
        if let Some(file) = &self.creds {
            let wrong = |error| ClusterError::Usage(format!("--creds {}: {error}", file.display()));
            options = options.credentials_file(file).await.map_err(wrong)?;
        }
        let user = self.user()?;
        let has_user = user.is_some() || self.creds.is_some();
        if let Some((user, password)) = user {
            options = match password {
                Some(password) => options.user_and_password(user, password),
                None => options.token(user),
            };
        }
        if let Some(file) = &self.tls_ca {
            std::fs::File::open(file).map_err(|error| {
                let what = format!("--tls-ca {}", file.display());
                ClusterError::Refused { what, error: error.to_string() }
            })?;
            options = options.add_root_certificates(file.clone()).require_tls(true);
        }
        let client = options.connect(self.servers()).await.map_err(|error| {
            let what = format!("--cluster {}", self.shown());
            let told = no_connection(error.kind(), &error.to_string(), has_user);
            match error.kind() {
                ConnectErrorKind::TimedOut | ConnectErrorKind::Io | ConnectErrorKind::Dns => {
                    ClusterError::Broker { what, error: told }
                }
                _ => ClusterError::Refused { what, error: told },
            }
        })?;
        let version = client.server_info().version;
        if !is_new_enough(&version) {
            let (major, minor) = OLDEST;
            let what = format!("the broker is nats-server {version}; it must be {major}.{minor} or later");
            return Err(ClusterError::Usage(what));
        }
        self.check_sync().await?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(BrokerConnection {
            client,
            context,
            traffic: Arc::default(),
            name: self.name.clone(),
            servers: self.shown(),
        })
    }

    /// The addresses of the brokers in a form that messages may show: without user names and passwords.
    fn shown(&self) -> String {
        let shown = |server: String| match Url::parse(&server) {
            Ok(mut url) => {
                if drop_user(&mut url) {
                    url.to_string()
                } else {
                    server
                }
            }
            Err(_) => server,
        };
        self.servers().into_iter().map(shown).collect::<Vec<_>>().join(",")
    }

    /// The user and the password in the addresses of the brokers. A user without a password is a token.
    fn user(&self) -> Result<Option<(String, Option<String>)>> {
        let mut user = None;
        for server in self.servers() {
            let Ok(url) = Url::parse(&server) else { continue };
            let plain = |part: &str| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned();
            let of_server = (!url.username().is_empty()).then(|| (plain(url.username()), url.password().map(plain)));
            if of_server.is_some() && user.is_some() && user != of_server {
                let what = "--cluster: the brokers of one cluster have one user; two are named";
                return Err(ClusterError::Usage(what.into()));
            }
            user = user.or(of_server);
        }
        Ok(user)
    }

    /// The addresses of the brokers, one each: `nats://a,b,c` names three.
    fn servers(&self) -> Vec<String> {
        let (scheme, hosts) = self.servers.split_once("://").unwrap_or(("nats", &self.servers));
        let whole = |host: &str| if host.contains("://") { host.to_owned() } else { format!("{scheme}://{host}") };
        hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(whole).collect()
    }

    /// Refuses brokers that do not sync every write. Such a broker acknowledges messages that a power cut can take
    /// away.
    async fn check_sync(&self) -> Result<()> {
        if self.unsafe_sync {
            return Ok(());
        }
        if self.monitor.is_empty() {
            let what = "whether the brokers sync every write cannot be seen: give --monitor http://HOST:8222 (the monitoring \
                        address of each), or --unsafe-sync";
            return Err(ClusterError::Usage(what.into()));
        }
        let mut silent = None;
        let mut seen = 0;
        for monitor in &self.monitor {
            let wrong = |error: String| ClusterError::Usage(format!("--monitor {monitor}: {error}"));
            let told = match get(monitor, "jsz?config=true").await {
                Ok(told) => told,
                Err(error) => {
                    let what = format!("--monitor {monitor}");
                    silent = Some(ClusterError::Broker { what, error: no_monitor(&error) });
                    continue;
                }
            };
            let told: StreamInfo = serde_json::from_slice(&told)
                .map_err(|error| wrong(format!("this is no monitoring address of nats-server [{error}]")))?;
            if told.disabled {
                // A broker that starts answers here before it has read its settings of JetStream.
                silent = Some(broker(&format!("--monitor {monitor}"))(NOT_STARTED));
                continue;
            }
            if !told.config.sync_always {
                let what = "this broker does not sync every write, and loses acknowledged messages in a power cut: put \
                            `sync_interval: always` into its `jetstream` block, or give --unsafe-sync";
                return Err(wrong(what.into()));
            }
            seen += 1;
        }
        match silent {
            Some(error) if seen == 0 => Err(error),
            Some(error) => {
                tracing::warn!("{error}");
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The health of the brokers, by their monitoring addresses. The result is empty if no address was given.
    pub async fn brokers(&self) -> Vec<Broker> {
        let ask = self.monitor.iter().map(|monitor| async move {
            let is_well = get(monitor, "healthz").await.is_ok();
            Broker { monitor: monitor.clone(), is_well }
        });
        futures_util::future::join_all(ask).await
    }
}

/// The answer of the monitoring address of a broker.
async fn get(monitor: &str, what: &str) -> reqwest::Result<bytes::Bytes> {
    // This is an error if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(SOON).build()?;
    let url = format!("{}/{what}", monitor.trim_end_matches('/'));
    client.get(url).send().await?.error_for_status()?.bytes().await
}

/// The description of a broker's streams by its monitoring address.
#[derive(Deserialize)]
struct StreamInfo {
    /// Whether the broker keeps no streams (yet).
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    config: StreamSettings,
}

#[derive(Default, Deserialize)]
struct StreamSettings {
    #[serde(default)]
    sync_always: bool,
}

impl BrokerConnection {
    /// The name of the crawl.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What this program does, with the addresses of the brokers, for messages.
    pub(super) fn at(&self, what: &str) -> String {
        format!("{what} at {}", self.servers)
    }

    /// The name of the crawl and its brokers, for messages.
    pub(super) fn place(&self) -> String {
        format!("named {} at {}", self.name, self.servers)
    }

    /// The name of a stream of this crawl.
    pub(super) fn stream(&self, what: &str) -> String {
        format!("CRAWL-{}-{what}", self.name)
    }

    /// A subject of this crawl.
    pub(super) fn subject(&self, what: &str) -> String {
        format!("crawl.{}.{what}", self.name)
    }

    /// Makes a stream. A cluster of brokers that has just begun may answer late. If a request is repeated, and its
    /// stream has been made in the meantime, the brokers only say that it is there.
    /// `say` gets a line for the user if that takes long.
    pub(super) async fn make_stream(&self, config: Config, say: &mut dyn FnMut(String)) -> Result<()> {
        let (begin, mut has_told) = (Instant::now(), false);
        let what = self.at(&format!("making the stream {}", config.name));
        loop {
            let error = match self.context.create_stream(config.clone()).await {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            // A broker that keeps no streams passes the request on to those that do. If none does, that will stay.
            let is_off =
                error.kind() == CreateStreamErrorKind::JetStreamUnavailable && !self.client.server_info().jetstream;
            let passes = may_pass(error.kind()) && !is_off;
            let error = broker(&what)(error);
            if !passes || begin.elapsed() >= MAKING {
                return Err(error);
            }
            if !std::mem::replace(&mut has_told, true) {
                say(format!("{error}; asking again for {} s at most", MAKING.as_secs()));
            }
            sleep(Duration::from_millis(250)).await;
        }
    }
}

/// Whether a stream may be made later: the brokers answer late, or choose a leader.
fn may_pass(kind: CreateStreamErrorKind) -> bool {
    match kind {
        CreateStreamErrorKind::TimedOut | CreateStreamErrorKind::JetStreamUnavailable => true,
        CreateStreamErrorKind::JetStream(error) => error.error_code() == ErrorCode::CLUSTER_NOT_AVAILABLE,
        _ => false,
    }
}

/// Whether brokers of this version may be used.
pub fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    matches!((numbers.next(), numbers.next()), (Some(Some(major)), Some(Some(minor))) if (major, minor) >= OLDEST)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        access: BrokerArgs,
    }

    #[test]
    fn brokers_are_named_in_one_word() {
        for (text, servers) in [
            ("nats://a,b:4223,c", &["nats://a", "nats://b:4223", "nats://c"][..]),
            ("tls://a,nats://b", &["tls://a", "nats://b"]),
            ("a:1, b:2", &["nats://a:1", "nats://b:2"]),
        ] {
            let line = Line::try_parse_from(["crawler", "--cluster", text]).unwrap();
            assert_eq!(line.access.servers(), servers, "{text}");
        }
    }

    #[test]
    fn a_user_or_a_token_may_stand_in_the_address_and_is_not_shown() {
        let line = |text| Line::try_parse_from(["crawler", "--cluster", text]).unwrap().access;
        let of = |text| line(text).user().unwrap();
        assert_eq!(of("nats://a,b"), None);
        assert_eq!(of("nats://me:s%40cret@a,b"), Some(("me".into(), Some("s@cret".into()))));
        assert_eq!(of("nats://a,nats://token@b"), Some(("token".into(), None)));
        assert!(matches!(line("nats://me:1@a,nats://me:2@b").user(), Err(ClusterError::Usage(_))));
        assert!(!line("nats://me:secret@a,b").shown().contains("secret"));
    }

    #[test]
    fn old_brokers_are_not_used() {
        for (version, is_new) in
            [("2.12.0", true), ("2.15.1", true), ("3.0.0", true), ("2.9.10", false), ("1.4.1", false), ("", false)]
        {
            assert_eq!(is_new_enough(version), is_new, "{version}");
        }
    }
}
