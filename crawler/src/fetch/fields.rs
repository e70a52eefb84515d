//! The request as it is sent: its method, the header fields that every request has, and the fields of one request.

use anyhow::Context;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::Request;

/// The method of every request, except those that send a form.
pub const METHOD: &str = "GET";
/// The message for a request to `url`. `host` is the `Host` header if the URL does not name the host.
pub(super) fn message(request: &Request, url: Url, host: Option<HeaderValue>) -> reqwest::Request {
    let mut message = reqwest::Request::new(http::Method::GET, url);
    if let Some(form) = &request.form {
        *message.method_mut() = http::Method::POST;
        *message.body_mut() = Some(form.reveal().to_owned().into());
    }
    let headers = message.headers_mut();
    headers.extend(request.fields.clone());
    let mut put = |name: HeaderName, value: Option<HeaderValue>| value.map(|value| headers.insert(name, value));
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    put(header::CONTENT_TYPE, request.form.as_ref().map(|_| form));
    put(header::HOST, host);
    if let Some(validators) = &request.validators {
        let value = |value: &Option<String>| value.as_ref().and_then(|value| HeaderValue::from_str(value).ok());
        put(header::IF_NONE_MATCH, value(&validators.etag));
        put(header::IF_MODIFIED_SINCE, value(&validators.last_modified));
    }
    message
}

/// The header fields that every request has, except Host and validators.
pub fn request_headers(fetch: &config::Fetch) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, user_agent(fetch)?);
    let accept = "text/html,application/xhtml+xml;q=0.9,application/xml;q=0.8,text/*;q=0.7,*/*;q=0.1";
    headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate"));
    for line in &fetch.headers {
        let (name, value) = line.split_once(':').with_context(|| format!("header {line:?} is not 'NAME: VALUE'"))?;
        let name: HeaderName = name.trim().parse().with_context(|| format!("header {line:?}"))?;
        headers.insert(name, value.trim().parse().with_context(|| format!("header {line:?}"))?);
    }
    Ok(headers)
}

/// The user agent: `NAME/VERSION (+CONTACT)`.
fn user_agent(fetch: &config::Fetch) -> anyhow::Result<HeaderValue> {
    let mut text = format!("{}/{}", fetch.user_agent, env!("CARGO_PKG_VERSION"));
    if !fetch.contact.is_empty() {
        text.push_str(&format!(" (+{})", fetch.contact));
    }
    text.parse().with_context(|| format!("user agent {text:?}"))
}
