//! Trusts servers whose own certificate is in the file of `--ca-file`. Such a certificate mostly signs itself, and says
//! that it belongs to an authority, because the usual tools make it so. The TLS library refuses the certificate of an
//! authority as that of a server, even if it is trusted. Here it is accepted if it is a certificate of the file, valid
//! now, and for the requested name.

use std::sync::Arc;

use anyhow::Context;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::failure::is_authority;

/// Checks the certificates of servers.
#[derive(Debug)]
struct Trust {
    /// The certificates of the file.
    own: Vec<CertificateDer<'static>>,
    /// A verifier that trusts only these certificates.
    by_own: Arc<WebPkiServerVerifier>,
    /// A verifier that also trusts what the system trusts.
    by_all: Arc<dyn ServerCertVerifier>,
}

/// The TLS settings of a client. It trusts the certificates `own`, further `roots`, and, unless `only_roots` is set,
/// what the system trusts. `identity` is the certificate that the client shows, with its key (PEM). With `http1`, it
/// speaks nothing newer than HTTP/1.1.
///
/// # Errors
///
/// If a certificate or the key cannot be used, or if the system trusts no certificate.
pub(super) fn config(
    own: &[CertificateDer<'static>],
    roots: &[CertificateDer<'static>],
    only_roots: bool,
    identity: Option<&[u8]>,
    http1: bool,
) -> anyhow::Result<ClientConfig> {
    let provider = CryptoProvider::get_default().context("no provider of cryptography")?;
    let by_own = by(own.iter(), provider)?;
    let all = own.iter().chain(roots);
    let by_all: Arc<dyn ServerCertVerifier> = match only_roots {
        true => by(all, provider)?,
        false => Arc::new(Verifier::new_with_extra_roots(all.cloned(), Arc::clone(provider))?),
    };
    let trust = Trust { own: own.to_vec(), by_own, by_all };
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider)).with_safe_default_protocol_versions()?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(trust));
    let mut config = match identity {
        Some(pem) => {
            let shown = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>()?;
            builder.with_client_auth_cert(shown, PrivateKeyDer::from_pem_slice(pem)?)?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = if http1 { vec![b"http/1.1".to_vec()] } else { vec![b"h2".to_vec(), b"http/1.1".to_vec()] };
    Ok(config)
}

/// A verifier that trusts only these certificates.
fn by<'a>(
    roots: impl Iterator<Item = &'a CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> anyhow::Result<Arc<WebPkiServerVerifier>> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root.clone())?;
    }
    Ok(WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider)).build()?)
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.own.iter().any(|own| own == shown) {
            match self.by_own.verify_server_cert(shown, between, name, ocsp, now) {
                // webpki has checked before that the certificate is valid now (`check_issuer_independent_properties`).
                Err(Error::InvalidCertificate(CertificateError::Other(why))) if is_authority(&why) => {
                    verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                    return Ok(ServerCertVerified::assertion());
                }
                Ok(verified) => return Ok(verified),
                Err(_) => {}
            }
        }
        self.by_all.verify_server_cert(shown, between, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_all.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_all.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_all.supported_verify_schemes()
    }
}
