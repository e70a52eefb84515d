//! Reads `pages.jsonl` while it grows.

use std::sync::Arc;
use std::time::Duration;

use super::shared::{Shared, lock};

/// The pause after a look at the file that found nothing new.
const INTERVAL: Duration = Duration::from_millis(500);

/// Reads until the crawl ends.
pub async fn follow(shared: Arc<Shared>) {
    loop {
        let more = lock(&shared.read).step();
        match more {
            Ok(true) => tokio::task::yield_now().await,
            Ok(false) if shared.is_finished() => return,
            Ok(false) => tokio::time::sleep(INTERVAL).await,
            Err(error) => {
                // The page keeps the counts of the lines that it has read.
                tracing::warn!("the live page cannot read the outputs: {error}");
                return;
            }
        }
    }
}
