//! Moves work from one channel to another. While more work is waiting, several results go into one message, because
//! waking up the other side for each result would cost both sides more than the work.

use crossbeam_channel::{Receiver, Sender};

/// Results in one message.
const MOST: usize = 8;

/// Does `work` on each of `items`, until one of the channels is closed. A result never waits for an item that
/// `is_large`, nor for an item that has not come yet.
pub fn each<T, R>(
    items: &Receiver<T>,
    results: &Sender<Vec<R>>,
    is_large: impl Fn(&T) -> bool,
    mut work: impl FnMut(T) -> R,
) {
    let mut done = Vec::new();
    loop {
        let waiting = if done.len() < MOST { items.try_recv().ok() } else { None };
        let send = !done.is_empty() && waiting.as_ref().is_none_or(&is_large);
        if send && results.send(std::mem::take(&mut done)).is_err() {
            return;
        }
        let Some(item) = waiting.or_else(|| items.recv().ok()) else { return };
        done.push(work(item));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crossbeam_channel::{bounded, unbounded};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn every_result_comes_without_more_work() {
        let ((items, work), (done, results)) = (bounded(64), bounded(64));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (work, done) = (work.clone(), done.clone());
                scope.spawn(move || {
                    each(&work, &done, |_| false, |n: u64| std::hint::black_box((0..n % 500).sum::<u64>()))
                });
            }
            for round in 0..5_000 {
                let sent = 1 + round % 40;
                (0..sent).for_each(|n| items.send(n * round).unwrap());
                let mut come = 0;
                while come < sent {
                    come += results.recv_timeout(LONG).expect("no result is kept back").len() as u64;
                }
                assert_eq!(come, sent);
            }
            drop(items);
        });
    }

    #[test]
    fn results_come_together_unless_the_next_item_is_large() {
        let ((items, work), (done, results)) = (unbounded(), unbounded());
        (0..20).for_each(|n| items.send(n).unwrap());
        drop(items);
        each(&work, &done, |n| *n == 5, |n| n);
        drop(done);
        let messages: Vec<Vec<u32>> = results.iter().collect();
        assert_eq!(messages.iter().map(Vec::len).collect::<Vec<_>>(), [5, 8, 7]);
        assert!(messages.into_iter().flatten().eq(0..20));
    }
}
