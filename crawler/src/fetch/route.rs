//! Where a request goes. reqwest connects to what its URL says; these are the few ways to have it connect elsewhere
//! (`--connect-to`) or to addresses that were checked before (always), without touching Host, path or TLS name.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use config::Target;
use http::HeaderValue;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::{FetchError, Request};

tokio::task_local! {
    /// What the request of this task connects to. The connector resolves its host once, in the task of the request.
    pub(super) static SOCKETS: Arc<[SocketAddr]>;
}

/// A request as it is put to reqwest.
pub(super) struct Route {
    /// Its host may be a stand-in that names the connection in the pool.
    pub(super) url: Url,
    /// The `Host` header, where it is not what the URL says.
    pub(super) host: Option<HeaderValue>,
    /// To be connected to.
    pub(super) sockets: Arc<[SocketAddr]>,
    /// The URL cannot name this connection apart from others: it must not be kept in a pool.
    pub(super) single: bool,
}

/// The route of `request` to `addresses`, which `target` and the address rules let through.
pub(super) fn route(request: &Request, target: &Target, addresses: &[IpAddr]) -> Result<Route, FetchError> {
    let sockets = addresses.iter().map(|address| SocketAddr::new(*address, target.port)).collect();
    let mut url = request.url.clone();
    // The connector's resolver decides about address and port, but only for a name, and without a port in the URL.
    if !target.redirected || (matches!(url.host(), Some(Host::Domain(_))) && url.port().is_none()) {
        return Ok(Route { url, host: None, sockets, single: false });
    }
    let unroutable = || FetchError::Connect(format!("connect-to: no way to redirect {}", request.url));
    let host = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
    let header = HeaderValue::from_str(&host).map_err(|_| unroutable())?;
    if url.scheme() == "http" {
        // Plain HTTP sends no more of the authority than the Host header: any name will do that is the origin's own.
        let name: String = host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        url.set_port(None).map_err(|()| unroutable())?;
        url.set_host(Some(&format!("{name}.origin.invalid"))).map_err(|_| unroutable())?;
        Ok(Route { url, host: Some(header), sockets, single: false })
    } else if matches!(url.host(), Some(Host::Domain(_))) {
        // TLS must see the name, so only the port can go, and with it what tells two origins apart.
        url.set_port(None).map_err(|()| unroutable())?;
        Ok(Route { url, host: Some(header), sockets, single: true })
    } else {
        Err(unroutable())
    }
}

/// Answers reqwest's connector with the sockets of the request, and nothing else: no name is asked for twice, or
/// behind the address rules.
pub(super) struct Pinned {
    /// The proxy's name is the user's own, and resolved as the system does.
    pub(super) proxy: Option<String>,
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        if self.proxy.as_deref() == Some(name.as_str()) {
            let name = name.as_str().to_owned();
            return Box::pin(async move {
                let found = tokio::net::lookup_host((name, 0)).await?;
                Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as Addrs)
            });
        }
        let sockets = SOCKETS.try_with(Arc::clone);
        Box::pin(async move {
            let sockets = sockets.map_err(|_| "no address was handed over")?;
            Ok(Box::new(Vec::from(&*sockets).into_iter()) as Addrs)
        })
    }
}
