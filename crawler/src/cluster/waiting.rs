//! Waiting for a future on a thread that is not one of a runtime's.

use std::pin::{Pin, pin};

use tokio::runtime::{Handle, Runtime};

/// Waits for futures, as tokio's `block_on` does. That is compiled again for each kind of future. The threads that talk
/// with the brokers of a cluster wait for more than forty kinds, whose copies of the runtime took a twentieth of the
/// time that this crate takes to build. Here the future is behind a pointer, so that there is one copy.
pub trait Wait {
    /// Runs a future without a result to its end.
    fn finish(&self, future: Pin<&mut dyn Future<Output = ()>>);

    /// Runs a future to its end.
    ///
    /// # Panics
    ///
    /// On a thread of a runtime's, or if the future panics.
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
