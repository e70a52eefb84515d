//! The certificates that the settings name: `--ca-file`, `--client-cert`, `--insecure-host`, over TLS on loopback.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use config::Settings;
use crawler::fetch::budget::ByteBudget;
use crawler::fetch::http::HttpFetch;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::{Failure, JobKind};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, ServerConfig};
use tests::background::Background;
use tests::crawl::settings;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

/// A certificate authority that no system trusts.
fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a certificate")
}

/// A certificate for `*.own.test`, and its key.
fn certificate(issuer: &CertifiedIssuer<'static, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let params = CertificateParams::new(vec!["*.own.test".to_owned()]).expect("names");
    let key = KeyPair::generate().expect("a key");
    (params.signed_by(&key, issuer).expect("a certificate"), key)
}

/// A server that answers every request with a page. If `asks` is true, it serves only clients whose certificate
/// `issuer` has signed.
fn server(issuer: &CertifiedIssuer<'static, KeyPair>, asks: bool) -> anyhow::Result<Background> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = if asks {
        let mut roots = RootCertStore::empty();
        roots.add(issuer.der().clone())?;
        ServerConfig::builder().with_client_cert_verifier(WebPkiClientVerifier::builder(Arc::new(roots)).build()?)
    } else {
        ServerConfig::builder().with_no_client_auth()
    };
    let (certificate, key) = certificate(issuer);
    serve(&certificate, &key, builder)
}

/// A server with this certificate.
fn serve(
    certificate: &rcgen::Certificate,
    key: &KeyPair,
    builder: ConfigBuilder<ServerConfig, WantsServerCert>,
) -> anyhow::Result<Background> {
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
    let acceptor = TlsAcceptor::from(Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key)?));
    Background::start(|listener| async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await?;
                let mut request = [0; 4096];
                if stream.read(&mut request).await? > 0 {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await?;
                }
                stream.shutdown().await
            });
        }
    })
}

fn fetch(
    server: &Background,
    host: &str,
    change: impl FnOnce(&mut Settings),
) -> anyhow::Result<Result<Response, FetchError>> {
    let connect_to = server.connect_to();
    let mut settings = settings(&[("fetch.connect-to", &connect_to)])?;
    change(&mut settings);
    let local = [IpAddr::from([127, 0, 0, 1])];
    let request = Request::new(format!("https://{host}/").parse()?, JobKind::Page, local, ByteBudget::new(1 << 20));
    let fetch = HttpFetch::new(&settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(fetch.fetch(request)))
}

fn write(path: &Path, pem: &str) -> anyhow::Result<String> {
    std::fs::write(path, pem)?;
    Ok(path.to_string_lossy().into_owned())
}

#[test]
fn a_certificate_is_trusted_when_the_settings_name_its_authority() -> anyhow::Result<()> {
    let (issuer, dir) = (authority(), tempfile::tempdir()?);
    let server = server(&issuer, false)?;
    let file = write(&dir.path().join("ca.pem"), &issuer.pem())?;
    let stranger = write(&dir.path().join("stranger.pem"), &authority().pem())?;
    let named = fetch(&server, "a.own.test", |settings| settings.fetch.ca_file = file.clone())?;
    assert_eq!(named?.body, b"ok"[..]);
    for other in [String::new(), stranger] {
        let refused = fetch(&server, "a.own.test", |settings| settings.fetch.ca_file = other)?;
        assert!(matches!(refused, Err(FetchError::Tls(_))), "{refused:?}");
    }
    // The authority is trusted for the names that it signs, and for no others.
    let other_name = fetch(&server, "other.test", |settings| settings.fetch.ca_file = file)?;
    assert!(matches!(other_name, Err(FetchError::Tls(_))), "{other_name:?}");
    Ok(())
}

#[test]
fn only_the_named_host_goes_unchecked() -> anyhow::Result<()> {
    let server = server(&authority(), false)?;
    let insecure = |settings: &mut Settings| settings.fetch.insecure_hosts = vec!["Odd.Test".into()];
    assert_eq!(fetch(&server, "odd.test", insecure)??.body, b"ok"[..]);
    for other in ["a.odd.test", "own.test"] {
        let refused = fetch(&server, other, insecure)?;
        assert!(matches!(refused, Err(FetchError::Tls(_))), "{other}: {refused:?}");
    }
    Ok(())
}

#[test]
fn a_server_that_asks_for_a_certificate_is_shown_the_one_of_the_settings() -> anyhow::Result<()> {
    let (issuer, dir) = (authority(), tempfile::tempdir()?);
    let server = server(&issuer, true)?;
    let ca = write(&dir.path().join("ca.pem"), &issuer.pem())?;
    let (certificate, key) = certificate(&issuer);
    let own = write(&dir.path().join("own.pem"), &(certificate.pem() + &key.serialize_pem()))?;
    let shown = fetch(&server, "a.own.test", |settings| {
        settings.fetch.ca_file = ca.clone();
        settings.fetch.client_cert = own;
    })?;
    assert_eq!(shown?.body, b"ok"[..]);
    let without = fetch(&server, "a.own.test", |settings| settings.fetch.ca_file = ca)?;
    assert!(without.is_err(), "{without:?}");
    Ok(())
}

#[test]
fn files_without_certificates_are_named() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let empty = write(&dir.path().join("empty.pem"), "no certificate")?;
    let missing = dir.path().join("missing.pem").to_string_lossy().into_owned();
    for (key, flag) in [("fetch.ca-file", "--ca-file"), ("fetch.client-cert", "--client-cert")] {
        for file in [&empty, &missing] {
            let error =
                HttpFetch::new(&settings(&[(key, file)])?).err().map(|error| format!("{error:#}")).unwrap_or_default();
            assert!(error.contains(flag) && error.contains(file.as_str()), "{key}: {error:?}");
        }
    }
    Ok(())
}

/// Catches a self-signed certificate that is refused although `--ca-file` names it, one that is accepted for another
/// name or after its time, and a failure whose cause is not named.
#[test]
fn a_certificate_that_signs_itself_is_accepted_where_the_settings_name_it_and_causes_are_named() -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dir = tempfile::tempdir()?;
    let made = |is_ca: bool, ends: i32| -> anyhow::Result<_> {
        let mut params = CertificateParams::new(vec!["own.test".to_owned()])?;
        params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(ends, 1, 1);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        let server = serve(&certificate, &key, ServerConfig::builder().with_no_client_auth())?;
        let file = write(&dir.path().join(format!("{is_ca}-{ends}.pem")), &certificate.pem())?;
        Ok((server, file))
    };
    let kind = |server: &Background, host: &str, file: &str| -> anyhow::Result<_> {
        let answered = fetch(server, host, |settings| settings.fetch.ca_file = file.to_owned())?;
        Ok(answered.map(|response| response.status).map_err(|error| (error.kind(), error.to_string())))
    };
    for is_ca in [true, false] {
        let (server, file) = made(is_ca, 2_500)?;
        assert_eq!(kind(&server, "own.test", &file)?, Ok(200), "named, {is_ca}");
        let stranger = kind(&server, "own.test", "")?.expect_err("not named");
        let expected = if is_ca { Failure::TlsAuthority } else { Failure::TlsIssuer };
        assert_eq!(stranger.0, expected, "{stranger:?}");
        let other_name = kind(&server, "other.test", &file)?.expect_err("another name");
        assert_eq!(other_name.0, Failure::TlsName, "{other_name:?}");
        let (old, file) = made(is_ca, 2_001)?;
        let expired = kind(&old, "own.test", &file)?.expect_err("expired");
        assert_eq!(expired.0, Failure::TlsTime, "{expired:?}");
        assert!(expired.1.contains("has expired"), "{expired:?}");
    }
    Ok(())
}
