//! TLS certificates that must not be trusted, and handshakes that go wrong.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::Acceptor;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;

use super::{DOMAIN, Site, http2, wire};

pub(super) const CASES: &[(&str, &str)] = &[
    ("tls-wrong-name", "a certificate for another name"),
    ("tls-expired", "a certificate that has expired"),
    ("tls-unknown", "a certificate of an unknown authority"),
    ("tls-not", "plain text where TLS is expected"),
    ("tls-cut", "a reset within the handshake"),
    ("tls-silent", "a handshake that never ends"),
    ("tls-not-yet", "a certificate of the future"),
    ("tls-many-names", "a certificate with 1,000 names"),
    ("tls-long-chain", "a chain of 500 certificates"),
    ("tls-noise", "random bytes instead of a handshake"),
];

/// One server configuration for each kind of certificate.
pub(super) struct Certificates {
    /// The authority that signed all certificates but one.
    pub(super) authority: rcgen::Certificate,
    good: Arc<ServerConfig>,
    wrong_name: Arc<ServerConfig>,
    expired: Arc<ServerConfig>,
    unknown: Arc<ServerConfig>,
    not_yet: Arc<ServerConfig>,
    many_names: Arc<ServerConfig>,
    long_chain: Arc<ServerConfig>,
}

impl Certificates {
    pub(super) fn new() -> Self {
        // An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (authority, issuer) = authority();
        let (_, stranger) = authority_named("a stranger");
        let any = format!("*.{DOMAIN}");
        let many: Vec<String> = (0..1_000).map(|n| format!("name-{n}.{DOMAIN}")).collect();
        Self {
            authority,
            good: server(&[&any], 2000..2096, 1, &issuer),
            wrong_name: server(&["other.test"], 2000..2096, 1, &issuer),
            expired: server(&[&any], 2000..2001, 1, &issuer),
            unknown: server(&[&any], 2000..2096, 1, &stranger),
            not_yet: server(&[&any], 2095..2096, 1, &issuer),
            many_names: server(
                &many.iter().chain([&any]).map(String::as_str).collect::<Vec<_>>(),
                2000..2096,
                1,
                &issuer,
            ),
            long_chain: server(&[&any], 2000..2096, 500, &issuer),
        }
    }
}

fn authority() -> (rcgen::Certificate, Issuer<'static, KeyPair>) {
    authority_named("the authority")
}

fn authority_named(name: &str) -> (rcgen::Certificate, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    (certificate, Issuer::new(params, key))
}

/// A server with a certificate for these names that is valid in these years, and that is sent this many times.
fn server(names: &[&str], years: Range<i32>, times: usize, issuer: &Issuer<'static, KeyPair>) -> Arc<ServerConfig> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("names");
    params.not_before = date_time_ymd(years.start, 1, 1);
    params.not_after = date_time_ymd(years.end, 1, 1);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, issuer).expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone(); times], key)
        .expect("a matching key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Answers the TLS side of a connection, according to the server name in the handshake.
pub(super) async fn shake_hands(site: &Site, mut stream: TcpStream) -> io::Result<()> {
    let mut first = [0; 16 << 10];
    let seen = stream.peek(&mut first).await?;
    let asks_for = |case: &str| {
        let name = format!("{case}.{DOMAIN}");
        first[..seen].windows(name.len()).any(|window| window == name.as_bytes())
    };
    if asks_for("tls-not") {
        stream.read_exact(&mut first[..seen]).await?;
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    }
    if asks_for("tls-cut") {
        stream.read_exact(&mut first[..seen]).await?;
        return stream.set_zero_linger();
    }
    if asks_for("tls-noise") {
        stream.read_exact(&mut first[..seen]).await?;
        let noise: Vec<u8> = (0..8_192u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        return stream.write_all(&noise).await;
    }
    if asks_for("tls-silent") {
        wire::stall().await?;
    }
    let start = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let name = start.client_hello().server_name().unwrap_or_default().to_owned();
    let case = name.split('.').next().unwrap_or_default();
    let certificates = &site.certificates;
    let config = match case {
        "tls-wrong-name" => &certificates.wrong_name,
        "tls-expired" => &certificates.expired,
        "tls-unknown" => &certificates.unknown,
        "tls-not-yet" => &certificates.not_yet,
        "tls-many-names" => &certificates.many_names,
        "tls-long-chain" => &certificates.long_chain,
        _ => &certificates.good,
    };
    let stream = start.into_stream(Arc::clone(config)).await?;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        http2::answer(case, stream).await
    } else {
        site.converse(BufReader::new(stream)).await
    }
}
