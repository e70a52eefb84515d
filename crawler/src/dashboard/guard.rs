//! Decides which requests to the live page are answered. The page is for the people at this machine. A web page
//! elsewhere gets nothing, even if an attacker lets its name point to this machine (DNS rebinding), or if it sends
//! forms here (CSRF).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::shared::Shared;

/// Lets a request through if its `Host` names this server, and its `Origin` too, if there is one. Adds the headers that
/// confine the answer.
pub async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let is_told_to_others = matches!(request.uri().path(), "/metrics" | "/healthz");
    let may_ask = is_ours(request.headers(), shared.address)
        || is_told_to_others && is_named(request.headers(), &shared.reach.hosts);
    let mut response = if may_ask {
        next.run(request).await
    } else {
        let said = "refused: ask by address or as localhost, and from no other page\n";
        (StatusCode::FORBIDDEN, said).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    let confined = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(confined);
    response
}

fn is_ours(headers: &HeaderMap, address: SocketAddr) -> bool {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Some(value.to_str().unwrap_or_default()),
            (None, _) => None,
            (Some(_), Some(_)) => Some(""),
        }
    };
    let Some(host) = one(header::HOST.as_str()) else { return false };
    let origin_is_ours = match one(header::ORIGIN.as_str()) {
        None => true,
        Some(origin) => origin.strip_prefix("http://") == Some(host),
    };
    let site_is_ours = matches!(one("sec-fetch-site"), None | Some("same-origin" | "none"));
    names_us(host, address) && origin_is_ours && site_is_ours
}

/// Whether a request has one of these names as its `Host`, and comes from no web page.
fn is_named(headers: &HeaderMap, names: &[String]) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let authority = host.to_str().ok().and_then(|host| host.parse::<axum::http::uri::Authority>().ok());
    let is_one = |host: &str| names.iter().any(|name| name.eq_ignore_ascii_case(host));
    authority.is_some_and(|authority| is_one(authority.host())) && !headers.contains_key(header::ORIGIN)
}

/// Whether a `Host` is an address or `localhost`, with the port of this server. Any other name may belong to another
/// person.
fn names_us(host: &str, address: SocketAddr) -> bool {
    let Ok(authority) = host.parse::<axum::http::uri::Authority>() else { return false };
    if authority.port_u16().unwrap_or(80) != address.port() || host.contains('@') {
        return false;
    }
    let name = authority.host();
    let loopback_only = address.ip().is_loopback();
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(ip) => !loopback_only || ip.is_loopback(),
        Err(_) => false,
    }
}

/// Whether the request has the token. The digests are compared, so the time that this takes says nothing about the
/// token.
pub fn knows_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    given.is_some_and(|given| Sha256::digest(given) == Sha256::digest(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_with_our_port_are_us() {
        let loopback = "127.0.0.1:8080".parse().unwrap();
        let everywhere = "0.0.0.0:8080".parse().unwrap();
        for (host, here, anywhere) in [
            ("127.0.0.1:8080", true, true),
            ("localhost:8080", true, true),
            ("LOCALHOST:8080", true, true),
            ("[::1]:8080", true, true),
            ("192.168.1.2:8080", false, true),
            ("127.0.0.1", false, false),
            ("127.0.0.1:8081", false, false),
            ("evil.example:8080", false, false),
            ("localhost.evil.example:8080", false, false),
            ("user@localhost:8080", false, false),
            ("", false, false),
            ("127.0.0.1:8080, evil.example", false, false),
        ] {
            assert_eq!((names_us(host, loopback), names_us(host, everywhere)), (here, anywhere), "{host}");
        }
    }

    #[test]
    fn another_page_is_not_us() {
        let address = "127.0.0.1:8080".parse().unwrap();
        let ask = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, HeaderValue::from_static(value));
            }
            is_ours(&headers, address)
        };
        let host = ("host", "127.0.0.1:8080");
        assert!(ask(&[host]));
        assert!(ask(&[host, ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-origin")]));
        assert!(!ask(&[]));
        assert!(!ask(&[host, host]));
        assert!(!ask(&[host, ("origin", "null")]));
        assert!(!ask(&[host, ("origin", "https://127.0.0.1:8080")]));
        assert!(!ask(&[host, ("origin", "http://evil.example")]));
        assert!(!ask(&[host, ("sec-fetch-site", "cross-site")]));
    }
}
