//! A server that runs on a thread of its own for as long as a test looks at it.

use std::future::Future;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// A server on a loopback port; it ends when this is dropped.
#[derive(Debug)]
pub struct Background {
    address: SocketAddr,
    // Dropped last: its tasks hold the listener.
    _runtime: Runtime,
}

impl Background {
    /// Starts `serve` on any free port of 127.0.0.1.
    pub fn start<F>(serve: impl FnOnce(TcpListener) -> F) -> anyhow::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener));
        Ok(Self { address, _runtime: runtime })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a crawl needs to reach it under any name: the value of `--connect-to`.
    pub fn connect_to(&self) -> String {
        format!("::{}", self.address)
    }
}
