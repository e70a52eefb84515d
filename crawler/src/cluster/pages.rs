//! The stream of pages: it brings the pages of all workers to all judges, in one order.

use async_nats::jetstream::stream::Config;
use async_nats::{HeaderMap, header};
use dedup_stage::store::codec;
use serde::{Deserialize, Serialize};

use super::connect::BrokerConnection;
use super::trouble::in_words;
use super::{ClusterError, Result, broker, pack};
use crate::engine::Proposed;

/// Pages that one worker has proposed together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group<P = Vec<Proposed>> {
    /// The process that proposed them ([`super::Lease::life`]).
    pub life: String,
    /// Its number among the groups of the process.
    pub number: u64,
    /// The pages.
    pub pages: P,
}

/// The name of the stream of pages.
pub fn stream_of(cluster: &BrokerConnection) -> String {
    cluster.stream("pages")
}

/// The subject of the stream.
pub fn subject_of(cluster: &BrokerConnection) -> String {
    cluster.subject("pages")
}

/// Makes the stream of a new crawl.
pub async fn create(cluster: &BrokerConnection, replicas: usize, say: &mut dyn FnMut(String)) -> Result<()> {
    let subjects = vec![subject_of(cluster)];
    let config = Config { name: stream_of(cluster), subjects, ..cluster.config(replicas) };
    cluster.make_stream(config, say).await
}

impl<P: Serialize> Group<P> {
    /// The bytes of the message, before compression.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
}

impl Group {
    /// Decodes a group from a message.
    pub fn decode(message: &[u8]) -> Result<Self> {
        let damaged = || ClusterError::Damaged("a message of pages".into());
        let bytes = pack::unpack(message).map_err(|_| damaged())?;
        codec::decode(&bytes, "pages").map_err(|_| damaged())
    }
}

/// A group that is to be published.
#[derive(Debug)]
pub struct Encoded {
    /// The process that proposes it, and its number there.
    pub name: String,
    /// The bytes of the message, before compression.
    pub bytes: Vec<u8>,
}

impl Encoded {
    /// Publishes the group until it is acknowledged. A group that is published twice is kept once.
    pub async fn publish(&self, cluster: &BrokerConnection, is_over: impl Fn() -> bool) -> Result<()> {
        let payload: bytes::Bytes = pack::pack(&self.bytes)?.into();
        let mut pause = std::time::Duration::from_millis(20);
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(header::NATS_MESSAGE_ID, format!("pages.{}", self.name).as_str());
            let acked = match cluster.context.publish_with_headers(subject_of(cluster), headers, payload.clone()).await
            {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match acked {
                Ok(_) => {
                    cluster.traffic.pages.add(payload.len() as u64);
                    return Ok(());
                }
                Err(error) if is_over() => return Err(broker("proposing pages")(error)),
                Err(error) => {
                    tracing::warn!("pages were not acknowledged: {}; sending them again", in_words(&error.to_string()))
                }
            }
            cluster.traffic.retries.add(1);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(std::time::Duration::from_secs(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::judge::{Case, OutLink, Proposal};
    use dedup_stage::page::Page;
    use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId};
    use url::Url;

    use super::*;

    /// A page with `links` links. The URL of each has `length` random bytes.
    fn page(random: &mut fastrand::Rng, links: usize, length: usize) -> Proposed {
        let canonicalizer = Canonicalizer::new(&config::Settings::default().urls);
        let keys = Keys { canonicalizer, hasher: KeyHasher::new([7; KeyHasher::SECRET]) };
        let mut url = |length: usize| {
            let path: String = (0..length).map(|_| random.alphanumeric()).collect();
            Url::parse(&format!("http://a.test/{path}")).unwrap()
        };
        let (own, links) = (url(40), (0..links).map(|_| OutLink::new(url(length), true, &keys)).collect::<Vec<_>>());
        let read = Page { is_text: true, media: (0..500).collect(), ..Page::default() };
        let id = PageId { url: keys.id(&own), visit: 1 };
        let case =
            Case { order: 0, id, url: &own, before: None, judgeable: true, page: &read, links: &links, ahead: None };
        Proposed { page: Proposal::of(&case, 1_700_000_000_000).unwrap() }
    }

    #[test]
    fn a_group_that_is_full_is_a_message_that_brokers_take() {
        let mut random = fastrand::Rng::with_seed(3);
        for (links, length) in [(8_000, 50), (300, 2_000), (100, 60), (0, 0), (6_000, 1)] {
            let page = page(&mut random, links, length);
            let bytes = page.bytes();
            assert!(bytes <= Proposed::MOST_BYTES, "{links} links of {length}: {bytes}");
            let count = (Proposed::MOST_BYTES / bytes).min(Proposed::MOST);
            let group = Group { life: "0123456789abcdef-1".into(), number: 1, pages: vec![page; count] };
            // The message must fit even if compression does not make it smaller.
            let raw = group.encode().len();
            assert!(
                raw < 1_000_000,
                "{count} pages with {links} links of {length}: {raw} bytes, counted as {}",
                bytes * count
            );
            assert_eq!(Group::decode(&pack::pack(&group.encode()).unwrap()).unwrap(), group);
        }
        assert!(page(&mut random, 10_000, 100).bytes() > Proposed::MOST_BYTES, "the longest pages do not fit");
    }
}
