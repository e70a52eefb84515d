//! Pages on their way to all judges: the stream of pages, in one order.

use async_nats::jetstream::stream::Config;
use async_nats::{HeaderMap, header};
use dedup_stage::store::codec;
use serde::{Deserialize, Serialize};

use super::connect::Cluster;
use super::{ClusterError, Result, broker};
use crate::engine::Proposed;

/// Pages that one worker has proposed together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The process that proposed them ([`super::Lease::life`]).
    pub life: String,
    /// Its number among the groups of the process.
    pub number: u64,
    /// The pages.
    pub pages: Vec<Proposed>,
}

/// The name of the stream of pages.
pub fn stream_of(cluster: &Cluster) -> String {
    cluster.stream("pages")
}

/// Its subject.
pub fn subject_of(cluster: &Cluster) -> String {
    cluster.subject("pages")
}

/// Makes the stream of a new crawl.
pub async fn create(cluster: &Cluster, replicas: usize) -> Result<()> {
    let subjects = vec![subject_of(cluster)];
    let config = Config { name: stream_of(cluster), subjects, ..cluster.config(replicas) };
    cluster.context.create_stream(config).await.map_err(broker("making the stream of pages"))?;
    Ok(())
}

impl Group {
    /// The message.
    pub fn encode(&self) -> std::io::Result<Vec<u8>> {
        zstd::encode_all(&codec::encode(self)[..], 1)
    }

    /// From a message.
    pub fn decode(message: &[u8]) -> Result<Self> {
        let damaged = || ClusterError::Damaged("a message of pages".into());
        let bytes = zstd::decode_all(message).map_err(|_| damaged())?;
        codec::decode(&bytes, "pages").map_err(|_| damaged())
    }

    /// Publishes it until it is acknowledged. Published twice, it is kept once.
    pub async fn publish(&self, cluster: &Cluster, is_over: impl Fn() -> bool) -> Result<()> {
        let payload: bytes::Bytes = self.encode()?.into();
        let name = format!("pages.{}.{}", self.life, self.number);
        let mut pause = std::time::Duration::from_millis(20);
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(header::NATS_MESSAGE_ID, name.as_str());
            let acked = match cluster.context.publish_with_headers(subject_of(cluster), headers, payload.clone()).await
            {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match acked {
                Ok(_) => return Ok(()),
                Err(error) if is_over() => return Err(broker("proposing pages")(error)),
                Err(error) => tracing::warn!("pages were not acknowledged: {error}"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(std::time::Duration::from_secs(2));
        }
    }
}
