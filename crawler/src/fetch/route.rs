//! The route of a request. reqwest connects to the host of a URL. The code here makes it connect elsewhere
//! (`--connect-to`), and always to addresses that were checked before. The Host, the path and the TLS name stay the
//! same.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use config::Target;
use http::HeaderValue;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::{FetchError, Request};

tokio::task_local! {
    /// The sockets to which the request of this task connects. The connector resolves its host once, in the task of the
    /// request.
    pub(super) static SOCKETS: Arc<[SocketAddr]>;
}

/// The parts of a request that decide where it goes, as they are given to reqwest.
pub(super) struct Route {
    /// The URL. Its host may be a stand-in that names the connection in the pool.
    pub(super) url: Url,
    /// The `Host` header, if it differs from the URL.
    pub(super) host: Option<HeaderValue>,
    /// The sockets to connect to.
    pub(super) sockets: Arc<[SocketAddr]>,
    /// Whether the URL cannot tell this connection from others. Such a connection must not be kept in a pool.
    pub(super) single: bool,
}

/// The route of `request` to `addresses`. `target` and the address rules allow these addresses.
pub(super) fn route(request: &Request, target: &Target, addresses: &[IpAddr]) -> Result<Route, FetchError> {
    let sockets = addresses.iter().map(|address| SocketAddr::new(*address, target.port)).collect();
    let mut url = request.url.clone();
    // The resolver of the connector decides about address and port, but only if the URL has a name and no port.
    if !target.redirected || (matches!(url.host(), Some(Host::Domain(_))) && url.port().is_none()) {
        return Ok(Route { url, host: None, sockets, single: false });
    }
    let unroutable = || FetchError::Connect(format!("connect-to: no way to redirect {}", request.url));
    let host = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
    let header = HeaderValue::from_str(&host).map_err(|_| unroutable())?;
    if url.scheme() == "http" {
        // Plain HTTP sends the authority only in the Host header. So any name will do that belongs to this origin
        // alone.
        let name: String = host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        url.set_port(None).map_err(|()| unroutable())?;
        url.set_host(Some(&format!("{name}.origin.invalid"))).map_err(|_| unroutable())?;
        Ok(Route { url, host: Some(header), sockets, single: false })
    } else if matches!(url.host(), Some(Host::Domain(_))) {
        // TLS must see the name, so only the port can be removed. Without the port, two origins cannot be told apart.
        url.set_port(None).map_err(|()| unroutable())?;
        Ok(Route { url, host: Some(header), sockets, single: true })
    } else {
        Err(unroutable())
    }
}

/// The resolver for reqwest's connector. It returns the sockets of the request, and nothing else. So no name is looked
/// up twice, and none without the address rules.
pub(super) struct Pinned {
    /// The name of the proxy. It comes from the user, and is resolved by the system.
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
