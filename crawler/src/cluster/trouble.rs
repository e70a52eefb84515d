//! Errors of the brokers in plain English. Operators see the text of the client and of the brokers only in brackets: it
//! speaks of responders, peers and streams, and does not say what to do.

use async_nats::ConnectErrorKind;
use async_nats::jetstream::ErrorCode;

/// An error of the client or of a broker: what is wrong, what to do, and the text itself in brackets. A text that is
/// not known is returned as it is.
pub fn in_words(raw: &str) -> String {
    let plain = code(raw).and_then(of_code).or_else(|| of_text(&raw.to_lowercase()));
    plain.map_or_else(|| raw.to_owned(), |plain| format!("{plain} [{raw}]"))
}

/// The code that a broker has given to its error.
fn code(raw: &str) -> Option<ErrorCode> {
    let (_, rest) = raw.rsplit_once("error code ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok().map(ErrorCode)
}

const NOT_ENOUGH: &str = "the brokers cannot answer now: too few of them run, or they choose a leader. More than half \
                          of them must run: start those that are down, and ask again";
const NO_JETSTREAM: &str = "no broker there keeps streams: JetStream is off, or the brokers are only about to start \
                            it. Put a `jetstream` block into their configuration, start them again, and ask again";
const NO_STREAM: &str = "no broker has the stream for this message now: the crawl was removed, the brokers choose a \
                         leader, or too few of them run. If this lasts, start the brokers that are down";
const FULL: &str = "the brokers have no more room for the crawl: their disk or the limit of their store is full. Make \
                    room on their disks, or raise `max_file_store` (or the limits of the account or the stream)";
const TOO_LARGE: &str =
    "the message is larger than the brokers accept: set their `max_payload` to 1MB, the usual value, or more";
const TOO_FEW: &str = "the brokers cannot keep as many copies of each message as --replicas wants (3 unless given). \
                       Start as many brokers in one cluster, or give a lower --replicas";

fn of_code(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::CLUSTER_NOT_AVAILABLE
        | ErrorCode::CLUSTER_NOT_LEADER
        | ErrorCode::CLUSTER_NOT_ACTIVE
        | ErrorCode::STREAM_OFFLINE
        | ErrorCode::CONSUMER_OFFLINE => NOT_ENOUGH,
        ErrorCode::CLUSTER_NO_PEERS | ErrorCode::CLUSTER_INCOMPLETE | ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED => {
            TOO_FEW
        }
        ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT | ErrorCode::NO_ACCOUNT => {
            NO_JETSTREAM
        }
        ErrorCode::ACCOUNT_RESOURCES_EXCEEDED
        | ErrorCode::INSUFFICIENT_RESOURCES
        | ErrorCode::STORAGE_RESOURCES_EXCEEDED
        | ErrorCode::MEMORY_RESOURCES_EXCEEDED => FULL,
        ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM => TOO_LARGE,
        ErrorCode::STREAM_NOT_FOUND => {
            "the brokers do not have this stream. If no broker was started a moment ago, the crawl was removed, or its \
             making broke off: make it again under another --name"
        }
        ErrorCode::STREAM_NAME_EXIST => {
            "the brokers have a stream with this name and other settings, from a crawl whose making broke off: give \
             another --name"
        }
        ErrorCode::MAXIMUM_STREAMS_LIMIT => {
            "the account may not have more streams (a crawl needs four): raise its limit, or remove streams of old \
             crawls"
        }
        _ => return None,
    })
}

fn of_text(raw: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| raw.contains(word));
    if has(&["connection refused"]) {
        return Some("no broker answers (connection refused). Is nats-server running there?");
    }
    if has(&["permissions violation"]) {
        return Some("the brokers do not allow this user to do this: see `permissions` in their configuration");
    }
    if has(&["requested jetstream resource does not exist", "no responders", "jetstream unavailable"]) {
        return Some(NO_JETSTREAM);
    }
    if has(&["no stream found for given subject"]) {
        return Some(NO_STREAM);
    }
    if has(&["payload size"]) {
        return Some(TOO_LARGE);
    }
    if has(&["maximum bytes exceeded", "no space left on device"]) {
        return Some(FULL);
    }
    has(&["timed out"]).then_some(
        "no answer within 5 s: too few brokers run (more than half must), they have too much to do, or they do not \
         allow this user to do this. Their logs tell which",
    )
}

/// Why there is no connection to the brokers. `has_user` says whether this program has named a user.
pub fn no_connection(kind: ConnectErrorKind, raw: &str, has_user: bool) -> String {
    let lower = raw.to_lowercase();
    let plain = match kind {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication if has_user => {
            "the brokers do not know this user: check the user and password (or the token) in --cluster, or the file \
             of --creds"
        }
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            "the brokers let only users in: give nats://USER:PASSWORD@HOST, or --creds FILE"
        }
        _ if lower.contains("certificate") => {
            "the certificate of the broker is not trusted: name the certificates of its issuer with --tls-ca FILE"
        }
        _ if lower.contains("corrupt message") => {
            "no TLS is spoken at this port: turn it on in the broker's configuration, or give nats:// without --tls-ca"
        }
        ConnectErrorKind::Tls => "no connection with TLS: check the file of --tls-ca and the broker's `tls` block",
        ConnectErrorKind::ServerParse => "this is no address of brokers: give nats://HOST:PORT,HOST:PORT,HOST:PORT",
        ConnectErrorKind::Dns => "no machine with this name is known: check the name, and the name server",
        ConnectErrorKind::TimedOut => {
            "nothing that speaks NATS answers there within 5 s. The port must be the one for clients (mostly 4222), \
             and no firewall may be in between"
        }
        ConnectErrorKind::Io | ConnectErrorKind::MaxReconnects => return in_words(raw),
    };
    format!("{plain} [{raw}]")
}

/// Why a monitoring address has not answered.
pub fn no_monitor(error: &reqwest::Error) -> String {
    let plain = match error.is_status() {
        true => "this is no monitoring address of nats-server (`http` in its configuration, port 8222 most often)",
        false => {
            "no broker answers at this monitoring address. Does it run, and is this the `http` address of its \
             configuration (port 8222 most often)?"
        }
    };
    format!("{plain} [{error}]")
}

#[cfg(test)]
mod tests {
    use async_nats::jetstream::context::{CreateStreamErrorKind, PublishErrorKind, RequestErrorKind};
    use async_nats::jetstream::stream::LastRawMessageErrorKind;

    use super::*;

    /// Catches a client that has other words for its errors.
    #[test]
    fn what_the_client_says_is_said_in_words() {
        for (raw, words) in [
            (RequestErrorKind::NoResponders.to_string(), "JetStream is off"),
            (CreateStreamErrorKind::JetStreamUnavailable.to_string(), "JetStream is off"),
            (RequestErrorKind::TimedOut.to_string(), "no answer within 5 s"),
            (CreateStreamErrorKind::TimedOut.to_string(), "no answer within 5 s"),
            (PublishErrorKind::TimedOut.to_string(), "no answer within 5 s"),
            (PublishErrorKind::StreamNotFound.to_string(), "no broker has the stream"),
            (PublishErrorKind::MaxPayloadExceeded.to_string(), "`max_payload`"),
            (async_nats::PublishErrorKind::MaxPayloadExceeded.to_string(), "`max_payload`"),
        ] {
            let told = in_words(&raw);
            assert!(told.contains(words) && told.ends_with(&format!("[{raw}]")), "{raw}: {told}");
        }
        let other = LastRawMessageErrorKind::InvalidSubject.to_string();
        assert_eq!(in_words(&other), other);
    }

    #[test]
    fn what_a_broker_says_is_said_in_words() {
        let told = |code: u64, description: &str| {
            let json = format!(r#"{{"code":500,"err_code":{code},"description":"{description}"}}"#);
            let error: async_nats::jetstream::Error = serde_json::from_str(&json).unwrap();
            in_words(&LastRawMessageErrorKind::JetStream(error).to_string())
        };
        for (code, description, words) in [
            (10008, "JetStream system temporarily unavailable", "More than half of them must run"),
            (10059, "stream not found", "do not have this stream"),
            (10005, "no suitable peers for placement", "lower --replicas"),
            (10074, "replicas > 1 not supported in non-clustered mode", "lower --replicas"),
            (10023, "insufficient resources", "no more room"),
            (10047, "insufficient storage resources available", "no more room"),
            (10077, "maximum bytes exceeded", "no more room"),
            (10039, "JetStream not enabled for account", "JetStream is off"),
            (10027, "maximum number of streams reached", "a crawl needs four"),
        ] {
            let told = told(code, description);
            assert!(told.contains(words) && told.contains(&format!("error code {code}")), "{code}: {told}");
        }
    }
}
