//! The stream of links: links on their way from one worker to another. Each share has a subject.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::Config;
use async_nats::{HeaderMap, header};
use dedup_stage::store::codec;
use dedup_stage::url::Keys;
use futures_util::StreamExt;
use tokio::time::sleep;
use url::Url;

use super::board::Board;
use super::connect::BrokerConnection;
use super::known_shares::KnownShares;
use super::lease::Deadline;
use super::shares::Assignment;
use super::trouble::in_words;
use super::{ClusterError, Result, broker, pack};
use crate::outbound::{Outbound, Wish};

/// The most links in one message.
const MOST: usize = 2_000;
/// The most bytes of one message (approximately), before compression.
const BYTES: usize = 512 << 10;

/// The name of the stream of links.
pub fn stream_of(cluster: &BrokerConnection) -> String {
    cluster.stream("links")
}

/// The subject of the links to a share.
pub fn subject_of(cluster: &BrokerConnection, share: usize) -> String {
    cluster.subject(&format!("links.{share}"))
}

/// Makes the stream of a new crawl.
pub async fn create(cluster: &BrokerConnection, replicas: usize, say: &mut dyn FnMut(String)) -> Result<()> {
    let subjects = vec![cluster.subject("links.*")];
    let config = Config { name: stream_of(cluster), subjects, ..cluster.config(replicas) };
    cluster.make_stream(config, say).await
}

/// Encodes links as a message.
pub fn encode(links: &[&Outbound]) -> std::io::Result<Vec<u8>> {
    pack::pack(&codec::encode(links))
}

/// Decodes the links of a message.
pub fn decode(message: &[u8]) -> Result<Vec<Outbound>> {
    let damaged = || ClusterError::Damaged("a message of links".into());
    let bytes = pack::unpack(message).map_err(|_| damaged())?;
    codec::decode(&bytes, "links").map_err(|_| damaged())
}

/// Sends links to the shares that have their hosts. `known_shares` says which shares these are. After the links were
/// sent, the board is asked whether that is still true. When this returns, the links cannot be lost: a share that
/// leaves takes all links that were sent to it before it left, and sends them on.
///
/// # Errors
///
/// The same as [`publish`].
pub async fn send(
    cluster: &BrokerConnection,
    (board, known_shares): (&Board, &KnownShares),
    (keys, partitions): (&Keys, u32),
    links: &[Outbound],
    (life, sent): (&str, &AtomicU64),
    deadline: &Deadline,
) -> Result<()> {
    // A link that is no URL leads nowhere.
    let partition = |link: &Outbound| Some(keys.site(&Url::parse(&link.url).ok()?).part(partitions));
    let links: Vec<(u32, &Outbound)> = links.iter().filter_map(|link| Some((partition(link)?, link))).collect();
    let mut before: Option<Arc<Assignment>> = None;
    loop {
        let now = known_shares.get();
        let mut by_share: BTreeMap<usize, Vec<&Outbound>> = BTreeMap::new();
        for (partition, link) in &links {
            let share = now.share_of(*partition).ok_or_else(|| ClusterError::Damaged("the list of shares".into()))?;
            if before.as_ref().is_none_or(|before| before.share_of(*partition) != Some(share)) {
                by_share.entry(share).or_default().push(*link);
            }
        }
        let mut all = Vec::new();
        for (share, links) in by_share {
            for message in messages(&links) {
                all.push((subject_of(cluster, share), encode(&message)?));
            }
        }
        if !all.is_empty() {
            let name = format!("links.{life}.{}", sent.fetch_add(1, Ordering::Relaxed));
            publish(cluster, &name, all, deadline).await?;
        }
        // The board is asked after the links were sent: a share that has left by then may not have taken them.
        let after = loop {
            match known_shares.refresh(board).await {
                Ok(after) => break after,
                Err(error) if deadline.is_over() => return Err(error),
                Err(error) => tracing::warn!("{error}; asking again"),
            }
            sleep(Duration::from_millis(250)).await;
        };
        if Arc::ptr_eq(&after, &now) {
            return Ok(());
        }
        before = Some(now);
    }
}

/// The links that were sent to a share in messages after the first place of `places`, up to the last.
pub async fn between(cluster: &BrokerConnection, share: usize, places: Range<u64>) -> Result<Vec<Outbound>> {
    let (mut after, mut links) = (places.start, Vec::new());
    let what = "reading the links";
    let stream = cluster.context.get_stream_no_info(stream_of(cluster)).await.map_err(broker(what))?;
    while after < places.end {
        let from = OrderedConfig {
            filter_subject: subject_of(cluster, share),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            ..OrderedConfig::default()
        };
        let consumer = stream.create_consumer(from).await.map_err(broker(what))?;
        let mut messages = consumer.messages().await.map_err(broker(what))?;
        while after < places.end {
            let Some(message) = messages.next().await else { break };
            let message = message.map_err(broker(what))?;
            after = message.info().map_err(broker(what))?.stream_sequence;
            links.extend(decode(&message.payload)?);
        }
    }
    Ok(links)
}

/// Cuts links into messages.
pub fn messages<'a>(links: &[&'a Outbound]) -> Vec<Vec<&'a Outbound>> {
    let (mut messages, mut bytes) = (vec![Vec::new()], 0);
    for link in links {
        let size = size(link);
        bytes += size;
        let last = messages.last_mut().expect("there is one from the beginning");
        if last.len() < MOST && (bytes < BYTES || last.is_empty()) {
            last.push(*link);
        } else {
            messages.push(vec![*link]);
            bytes = size;
        }
    }
    messages.retain(|message| !message.is_empty());
    messages
}

/// The approximate number of bytes of a link in a message.
fn size(link: &Outbound) -> usize {
    let more = match &link.wish {
        Wish::Robots(askers) => askers.iter().map(|asker| asker.of.as_str().len() + 64).sum(),
        Wish::Rules(_, rules) => rules.len(),
        _ => 0,
    };
    link.url.len() + 64 + more
}

/// Publishes messages all at once, and publishes each again until it is acknowledged. Each message is identified by
/// `name` and its number. So one that is published twice is kept once.
///
/// # Errors
///
/// [`ClusterError::Lost`] if the lease is over: another worker may have the share by then.
pub async fn publish(
    cluster: &BrokerConnection,
    name: &str,
    messages: Vec<(String, Vec<u8>)>,
    deadline: &Deadline,
) -> Result<()> {
    let mut left: Vec<(usize, (String, Vec<u8>))> = messages.into_iter().enumerate().collect();
    let mut pause = Duration::from_millis(50);
    loop {
        let mut acks = Vec::new();
        for (place, (subject, payload)) in &left {
            let mut headers = HeaderMap::new();
            headers.insert(header::NATS_MESSAGE_ID, format!("{name}.{place}").as_str());
            let payload = payload.clone().into();
            acks.push(cluster.context.publish_with_headers(subject.clone(), headers, payload).await);
        }
        let mut again = Vec::new();
        for (message, ack) in left.into_iter().zip(acks) {
            let acked = match ack {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match acked {
                Ok(_) => cluster.traffic.links.add(message.1.1.len() as u64),
                Err(error) => {
                    let why = in_words(&error.to_string());
                    tracing::warn!("links were not acknowledged: {why}; sending them again");
                    cluster.traffic.retries.add(1);
                    again.push(message);
                }
            }
        }
        if again.is_empty() {
            return Ok(());
        }
        if deadline.is_over() {
            return Err(ClusterError::Lost("the lease on this worker's hosts is somebody else's".into()));
        }
        left = again;
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

#[cfg(test)]
mod tests {
    use frontier::Via;

    use super::*;

    #[test]
    fn links_come_back_in_messages_of_bounded_size() {
        let link = |number: usize| Outbound {
            url: format!("http://a.test/{number}/{}", "x".repeat(number % 3_000)),
            depth: 1,
            priority: 0.5,
            merits: [0; 4],
            source: None,
            via: Via::Link,
            wish: Wish::Follow,
        };
        let links: Vec<Outbound> = (0..5_000).map(link).collect();
        let refs: Vec<&Outbound> = links.iter().collect();
        let messages = messages(&refs);
        assert!(messages.len() > 5);
        let mut back = Vec::new();
        for message in &messages {
            let bytes = encode(message).unwrap();
            assert!(bytes.len() < 1 << 20 && message.len() <= MOST);
            back.extend(decode(&bytes).unwrap());
        }
        assert_eq!(back, links);
        assert!(super::messages(&[]).is_empty());
        assert!(matches!(decode(b"no links"), Err(ClusterError::Damaged(_))));
    }
}
