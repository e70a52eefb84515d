//! An HTTP server on loopback for the demo and the tests: a loop that accepts connections, and a handler that makes the
//! answers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::record::Record;
use super::web::Web;

/// Answers connections until the future is dropped. Its connections end with it.
pub async fn serve<H, F>(listener: TcpListener, handler: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // The usual reason is that no file descriptors are left. Let connections end first.
            connections.join_next().await;
            continue;
        };
        // A failure only means longer delays.
        let _ = stream.set_nodelay(true);
        let handler = handler.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let answer = handler(request);
                async move { Ok::<_, std::convert::Infallible>(answer.await) }
            });
            // A client that breaks its connection is no error of the server.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// The host (without the port) and the target (path and query) of a request.
pub fn host_and_target(request: &Request<Incoming>) -> (&str, &str) {
    let host = request.headers().get(hyper::header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
    (host, request.uri().path_and_query().map_or("/", |target| target.as_str()))
}

/// Answers for all hosts of a synthetic web, and counts the requests.
pub async fn serve_web(listener: TcpListener, web: Arc<Web>, record: Arc<Record>) {
    serve(listener, move |request| {
        let (web, record) = (Arc::clone(&web), Arc::clone(&record));
        async move {
            let (host, target) = host_and_target(&request);
            let Some(answer) = web.answer(host, target) else {
                record.stranger();
                return status(hyper::StatusCode::MISDIRECTED_REQUEST);
            };
            record.add(&web, host, target, answer.body.len());
            if answer.delay > Duration::ZERO {
                tokio::time::sleep(answer.delay).await;
            }
            let mut response = Response::builder().status(answer.status).header("content-type", answer.content_type);
            if let Some(location) = &answer.location {
                response = response.header("location", location);
            }
            let response = response.body(Full::new(Bytes::from(answer.body)));
            response.unwrap_or_else(|_| status(hyper::StatusCode::INTERNAL_SERVER_ERROR))
        }
    })
    .await;
}

/// An empty answer with this status.
pub fn status(status: hyper::StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
