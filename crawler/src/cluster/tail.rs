//! Reads a stream from a place on, for as long as the process lives. It passes on all messages in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, Message};
use crossbeam_channel::Sender;
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use super::board::is_nothing;
use super::traffic::Count;
use super::{Result, broker};
use crate::engine::Event;

/// The time without a message after which the reader asks whether there are any.
const SILENT: Duration = Duration::from_secs(2);
/// The number of events that may wait for the engine. Beyond it, no more messages are read.
const WAITING: usize = 64;

/// The engine that gets the messages.
#[derive(Clone, Debug)]
pub struct Listener {
    /// The channel to the engine.
    pub events: Sender<Event>,
    /// Set when the engine is gone.
    pub gone: Arc<AtomicBool>,
}

impl Listener {
    /// Gives an event to the engine, once it has taken enough of the earlier ones. Returns false if the engine is gone.
    async fn tell(&self, event: Event) -> bool {
        while self.events.len() >= WAITING {
            if self.gone.load(Ordering::Relaxed) {
                return false;
            }
            sleep(Duration::from_millis(2)).await;
        }
        self.events.send(event).is_ok()
    }
}

/// Gives the listener every message of a stream after the place `after`. `event` makes an event from a message and its
/// place. If the brokers do not answer, it asks again. `behind` gets the number of messages that were not read yet.
pub async fn follow(
    context: &jetstream::Context,
    stream: &str,
    subject: &str,
    mut after: u64,
    listener: &Listener,
    behind: &Count,
    event: impl Fn(u64, &Message) -> Event + Send + Sync,
) {
    loop {
        match read(context, stream, subject, &mut after, listener, behind, &event).await {
            Ok(()) => return,
            Err(error) => tracing::warn!("{error}; asking again"),
        }
        sleep(Duration::from_millis(250)).await;
    }
}

async fn read(
    context: &jetstream::Context,
    stream: &str,
    subject: &str,
    after: &mut u64,
    listener: &Listener,
    behind: &Count,
    event: &(impl Fn(u64, &Message) -> Event + Send + Sync),
) -> Result<()> {
    let what = format!("reading {stream}");
    let from = OrderedConfig {
        filter_subject: subject.to_owned(),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: *after + 1 },
        ..OrderedConfig::default()
    };
    let stream = context.get_stream_no_info(stream).await.map_err(broker(&what))?;
    let consumer = stream.create_consumer(from).await.map_err(broker(&what))?;
    let mut messages = consumer.messages().await.map_err(broker(&what))?;
    loop {
        let next = match timeout(SILENT, messages.next()).await {
            Ok(next) => next,
            // A consumer dies with its broker, and the client notices that late.
            Err(_) if last(&stream, subject, &what).await? > *after => None,
            Err(_) => continue,
        };
        let message = next.ok_or_else(|| broker(&what)("no messages come, though there are some"))?;
        let message = message.map_err(broker(&what))?;
        let info = message.info().map_err(broker(&what))?;
        behind.set(info.pending);
        let at = info.stream_sequence;
        if at <= *after {
            continue;
        }
        *after = at;
        if !listener.tell(event(at, &message)).await {
            return Ok(());
        }
    }
}

/// The place of the last message with a subject; 0 where there is none. `what` is for the error.
pub async fn last(stream: &Stream<()>, subject: &str, what: &str) -> Result<u64> {
    match stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(message.sequence),
        Err(error) if is_nothing(error.kind()) => Ok(0),
        Err(error) => Err(broker(what)(error)),
    }
}
