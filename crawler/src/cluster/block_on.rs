//! How a thread that does not belong to a runtime waits for a future.

use std::pin::{Pin, pin};

use tokio::runtime::{Handle, Runtime};

/// Waits for futures as tokio's `block_on` does, but in less code. The compiler makes a copy of `block_on` for each
/// type of future. The workers of a cluster wait for about forty types, whose copies were a twentieth of the code of
/// this crate before optimization. Here the future is behind a pointer, so that one copy is enough.
pub trait Wait {
    /// Runs a future without a result to its end.
    fn finish(&self, future: Pin<&mut dyn Future<Output = ()>>);

    /// Runs a future to its end.
    ///
    /// # Panics
    ///
    /// If the thread belongs to a runtime, or the future panics.
    fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let mut result = None;
        self.finish(pin!(async { result = Some(future.await) }));
        result.expect("the future has ended")
    }
}

impl Wait for Runtime {
    fn finish(&self, future: Pin<&mut dyn Future<Output = ()>>) {
        self.block_on(future);
    }
}

impl Wait for Handle {
    fn finish(&self, future: Pin<&mut dyn Future<Output = ()>>) {
        self.block_on(future);
    }
}
