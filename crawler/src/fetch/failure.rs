//! Finds the kind of a failure in a chain of library errors. Reports and retries use these kinds.

use std::error::Error;
use std::io;

use frontier::Failure;

use super::{FetchError, Truncation};

/// The failure of a request that brought no answer.
pub(super) fn of_request(error: &reqwest::Error) -> FetchError {
    let text = last(error).to_string();
    if causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).any(is_local) {
        return FetchError::Local(text);
    }
    if error.is_dns() {
        return FetchError::Dns(text);
    }
    for cause in causes(error) {
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return FetchError::Tls(tls_text(tls));
        }
        if let Some(http2) = cause.downcast_ref::<h2::Error>() {
            // Errors that this side has detected break the protocol. Errors that the server has sent end the connection
            // like any other end.
            let ours = http2.is_library() && !http2.is_io();
            let text = http2.to_string();
            return if ours { FetchError::Protocol(text) } else { FetchError::Reset(text) };
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_parse_too_large() {
                return FetchError::Protocol(text);
            }
            if hyper.is_incomplete_message() || hyper.is_closed() || hyper.is_canceled() {
                return FetchError::Reset(text);
            }
        }
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof};
            match io.kind() {
                TimedOut => return FetchError::Timeout(text),
                ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof => return FetchError::Reset(text),
                _ => {}
            }
        }
    }
    if error.is_timeout() {
        FetchError::Timeout(text)
    } else if error.is_connect() {
        FetchError::Connect(text)
    } else {
        FetchError::Protocol(text)
    }
}

/// A description of a failed handshake. If the user can do something about the cause, the text begins with it.
fn tls_text(error: &rustls::Error) -> String {
    use rustls::CertificateError as Bad;
    let rustls::Error::InvalidCertificate(bad) = error else { return error.to_string() };
    let cause = match bad {
        Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
            Failure::TlsTime
        }
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => Failure::TlsName,
        Bad::UnknownIssuer => Failure::TlsIssuer,
        Bad::Other(why) if is_authority(why) => Failure::TlsAuthority,
        _ => return error.to_string(),
    };
    format!("{}: {error}", cause_of_tls(cause))
}

/// Whether a certificate was refused because it belongs to an authority and was shown as that of a server.
pub(super) fn is_authority(why: &rustls::OtherError) -> bool {
    why.0.to_string() == "CaUsedAsEndEntity"
}

/// The cause alone, for example `the certificate is for another name`.
fn cause_of_tls(failure: Failure) -> String {
    let text = failure.to_string();
    let cause = text.split_once(": ").map_or(&*text, |(_, cause)| cause);
    cause.split(" (--").next().unwrap_or_default().to_owned()
}

/// The kind of a TLS failure, from the text of its error.
pub(super) fn of_tls(text: &str) -> Failure {
    let known = Failure::OF_TLS.into_iter().find(|failure| text.starts_with(&cause_of_tls(*failure)));
    known.unwrap_or(Failure::Tls)
}

/// Whether an error is about this machine and not about the host: no more files, no memory, no network.
pub(super) fn is_local(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, NetworkDown, OutOfMemory, QuotaExceeded, StorageFull};
    let exhausted = [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM];
    matches!(error.kind(), AddrNotAvailable | NetworkDown | OutOfMemory | QuotaExceeded | StorageFull)
        || error.raw_os_error().is_some_and(|code| exhausted.contains(&code))
}

/// The reason why a body was cut although its headers were good.
pub(super) fn of_body(error: &reqwest::Error) -> Truncation {
    for cause in causes(error) {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return match io.kind() {
                // rustls uses this kind, too, for a broken record.
                _ if io.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => Truncation::Disconnect,
                // The HTTP client decodes only chunks. The Content-Encoding is decoded here.
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Truncation::Chunks,
                io::ErrorKind::TimedOut => Truncation::Time,
                _ => Truncation::Disconnect,
            };
        }
    }
    Truncation::Disconnect
}

/// The error and its causes, from the outermost to the innermost. `source()` of an `io::Error` leaves out the error
/// that it wraps.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match wrapped {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// The innermost cause. It says what happened.
pub(super) fn last<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}
