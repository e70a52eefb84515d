//! A server that runs on a thread of its own while a test uses it.

use std::future::Future;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// A server on a loopback port. It ends when this is dropped.
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

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The value of `--connect-to` that leads every host to this server.
    pub fn connect_to(&self) -> String {
        format!("::{}", self.address)
    }
}
