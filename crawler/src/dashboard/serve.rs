//! The connections of the live page, within bounds. So clients that open connections and send nothing keep no one else
//! out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The most connections that have sent no request yet. If there is one more, the oldest of them is closed.
const SILENT: usize = 64;
/// The most connections in all. One more has to wait.
const MOST: usize = 512;
/// The longest time for the head of a request.
const HEAD: Duration = Duration::from_secs(5);

/// The connections that have sent no request yet, the oldest first.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<VecDeque<(u64, CancellationToken)>>>);

impl Silent {
    /// Adds a connection. If there are too many, closes the oldest.
    fn add(&self, number: u64) -> CancellationToken {
        let mut silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if silent.len() >= SILENT
            && let Some((_, oldest)) = silent.pop_front()
        {
            oldest.cancel();
        }
        let end = CancellationToken::new();
        silent.push_back((number, end.clone()));
        end
    }

    /// Removes a connection that has sent a request, or that is closed.
    fn remove(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != number);
    }
}

/// Serves connections until `end` is cancelled.
pub async fn serve(listener: TcpListener, router: Router, end: CancellationToken) {
    let (silent, room) = (Silent::default(), Arc::new(tokio::sync::Semaphore::new(MOST)));
    let (tasks, mut number) = (TaskTracker::new(), 0u64);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = end.cancelled() => break,
        };
        let Ok((stream, _)) = accepted else {
            // The usual reason is that no file descriptors are left. Connections must end first.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        number += 1;
        let (number, silent, router, end) = (number, silent.clone(), router.clone(), end.clone());
        let close = silent.add(number);
        tasks.spawn(async move {
            let _permit = permit;
            let asked = silent.clone();
            let inner = TowerToHyperService::new(router);
            let service = service_fn(move |request: Request<Incoming>| {
                asked.remove(number);
                let answer = hyper::service::Service::call(&inner, request.map(Body::new));
                async move { Ok::<Response<Body>, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            let mut connection = std::pin::pin!(connection);
            tokio::select! {
                // It does not matter how a connection ends.
                _ = &mut connection => {}
                () = close.cancelled() => {}
                () = end.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
            silent.remove(number);
        });
    }
    tasks.close();
    tasks.wait().await;
}
