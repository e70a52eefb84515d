//! Parallel work with results in order and bounded memory. One thread reads inputs, several work on them, and the
//! caller takes the results in the order in which the inputs were read.
//!
//! An input is under way from the moment it is read until its result is taken. The inputs under way are bounded in
//! number and in bytes. So a caller that stops taking results stops the reading.

mod reorder;
mod room;

use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

pub use reorder::Reorder;
use room::Room;

/// An input with a weight.
pub trait Weigh {
    /// The bytes that the input holds until its result is taken.
    fn weight(&self) -> usize;
}

/// The number of threads, and the bounds of what may be under way.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of worker threads; 0 = one a core.
    pub threads: usize,
    /// The most inputs under way.
    pub inputs: usize,
    /// The most bytes of inputs under way. A single input may be larger if it is alone.
    pub bytes: usize,
}

impl Limits {
    /// The usual limits: few enough inputs to answer soon, enough to keep the workers busy. `threads` = 0 means one a
    /// core.
    pub fn new(threads: usize) -> Self {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        Self { threads, inputs: 64 * threads, bytes: 64 << 20 }
    }
}

/// The next item that the caller gets.
#[derive(Debug, PartialEq, Eq)]
pub enum NextItem<U> {
    /// The next result.
    Item(U),
    /// There are no more inputs, and all results are taken.
    End,
    /// The caller was asked to stop. Results may be lost.
    Stop,
}

enum Event<U> {
    Done { place: u64, weight: usize, result: U },
    End { total: u64 },
    Stop,
}

/// The results, in order.
pub struct Ordered<U> {
    events: Receiver<Event<U>>,
    waiting: Reorder<(usize, U)>,
    total: Option<u64>,
    stopped: bool,
    room: Arc<Room>,
}

/// Asks the caller that takes results to stop. It may be used on any thread.
pub struct Stopper<U>(Sender<Event<U>>);

impl<U> Stopper<U> {
    /// Asks the caller to stop.
    pub fn stop(&self) {
        // This fails only if the results were dropped.
        let _ = self.0.send(Event::Stop);
    }
}

/// Starts the threads. `source` is read on a thread of its own. `work` makes one worker for each worker thread. The
/// threads end with the source, or when the results are dropped (then the reading thread ends after its next input).
pub fn ordered<T, U, W>(
    limits: Limits,
    source: impl Iterator<Item = T> + Send + 'static,
    work: impl Fn() -> W + Send + Clone + 'static,
) -> (Ordered<U>, Stopper<U>)
where
    T: Weigh + Send + 'static,
    U: Send + 'static,
    W: FnMut(T) -> U,
{
    let room = Arc::new(Room::default());
    let (to_workers, inputs) = bounded::<(u64, usize, T)>(limits.inputs);
    let (to_taker, events) = unbounded();
    for _ in 0..limits.threads {
        let (inputs, to_taker, work) = (inputs.clone(), to_taker.clone(), work.clone());
        thread::spawn(move || {
            let mut work = work();
            for (place, weight, input) in inputs {
                if to_taker.send(Event::Done { place, weight, result: work(input) }).is_err() {
                    break;
                }
            }
        });
    }
    let stopper = Stopper(to_taker.clone());
    let reading = ReadingEnd { total: 0, to_taker };
    let room_to_read = Arc::clone(&room);
    thread::spawn(move || read(source, reading, &to_workers, &room_to_read, limits));
    (Ordered { events, waiting: Reorder::default(), total: None, stopped: false, room }, stopper)
}

/// Tells the caller how many inputs there were, when the reading ends without a panic.
struct ReadingEnd<U> {
    total: u64,
    to_taker: Sender<Event<U>>,
}

impl<U> Drop for ReadingEnd<U> {
    fn drop(&mut self) {
        // After a panic, nobody knows how many inputs there were.
        if !thread::panicking() {
            let _ = self.to_taker.send(Event::End { total: self.total });
        }
    }
}

fn read<T: Weigh, U>(
    source: impl Iterator<Item = T>,
    mut reading: ReadingEnd<U>,
    to_workers: &Sender<(u64, usize, T)>,
    room: &Room,
    limits: Limits,
) {
    for input in source {
        let weight = input.weight();
        if !room.take(weight, &limits) || to_workers.send((reading.total, weight, input)).is_err() {
            break;
        }
        reading.total += 1;
    }
}

impl<U> Ordered<U> {
    /// The next item if it is there already.
    pub fn poll(&mut self) -> Option<NextItem<U>> {
        loop {
            if let Some(next_item) = self.next_item() {
                return Some(next_item);
            }
            let event = self.events.try_recv().ok()?;
            self.note(event);
        }
    }

    /// Waits for the next item.
    ///
    /// # Panics
    ///
    /// If a thread has panicked and the next item will never come. Otherwise the caller would take what is there for
    /// everything.
    pub fn wait(&mut self) -> NextItem<U> {
        loop {
            if let Some(next_item) = self.next_item() {
                return next_item;
            }
            match self.events.recv() {
                Ok(event) => self.note(event),
                Err(_) => panic!("a thread that read or worked on the inputs panicked"),
            }
        }
    }

    fn next_item(&mut self) -> Option<NextItem<U>> {
        if self.stopped {
            return Some(NextItem::Stop);
        }
        if self.total == Some(self.waiting.next()) {
            return Some(NextItem::End);
        }
        let (weight, result) = self.waiting.pop()?;
        self.room.give(weight);
        Some(NextItem::Item(result))
    }

    fn note(&mut self, event: Event<U>) {
        match event {
            Event::Done { place, weight, result } => self.waiting.push(place, (weight, result)),
            Event::End { total } => self.total = Some(total),
            Event::Stop => self.stopped = true,
        }
    }
}

impl<U> Drop for Ordered<U> {
    fn drop(&mut self) {
        self.room.close();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl Weigh for usize {
        fn weight(&self) -> usize {
            *self
        }
    }

    fn limits(threads: usize, inputs: usize, bytes: usize) -> Limits {
        Limits { threads, inputs, bytes }
    }

    #[test]
    fn results_come_in_the_order_of_their_inputs() {
        for threads in [1, 2, 7] {
            let work = || {
                |n: usize| {
                    // Uneven work, so that workers overtake each other.
                    (0..(n * 7919) % 5000).fold(n, |sum, i| std::hint::black_box(sum ^ i) ^ i)
                }
            };
            let (mut results, _) = ordered(limits(threads, 16, usize::MAX), 0..3000usize, work);
            for n in 0..3000 {
                assert_eq!(results.wait(), NextItem::Item(n));
            }
            assert_eq!(results.wait(), NextItem::End);
            assert_eq!(results.poll(), Some(NextItem::End));
        }
    }

    #[test]
    fn no_more_is_read_than_there_is_room_for() {
        let read = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&read);
        let source = (0..1000usize).map(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            10
        });
        let (mut results, _) = ordered(limits(2, 50, 100), source, || |n: usize| n);
        for taken in 1..=1000 {
            assert_eq!(results.wait(), NextItem::Item(10));
            // Ten inputs fit by weight, and the reader has one more in its hand.
            assert!(read.load(Ordering::SeqCst) <= taken + 11);
        }
    }

    #[test]
    fn one_input_may_be_larger_than_the_room() {
        let (mut results, _) = ordered(limits(2, 50, 100), [1000usize, 1, 1000].into_iter(), || |n: usize| n);
        let taken: Vec<_> = (0..4).map(|_| results.wait()).collect();
        assert_eq!(taken, [NextItem::Item(1000), NextItem::Item(1), NextItem::Item(1000), NextItem::End]);
    }

    #[test]
    fn a_panic_is_no_end() {
        let (mut results, _) = ordered(limits(1, 4, 100), [1usize, 2, 3].into_iter(), || {
            |n: usize| {
                assert!(n != 3, "this input makes the worker panic");
                n
            }
        });
        assert_eq!([results.wait(), results.wait()], [NextItem::Item(1), NextItem::Item(2)]);
        assert!(catch_unwind(AssertUnwindSafe(|| results.wait())).is_err());
        let source = (1..=3usize).inspect(|n| assert!(*n != 3, "this input makes the reading panic"));
        let (mut results, _) = ordered(limits(2, 4, 100), source, || |n: usize| n);
        assert_eq!([results.wait(), results.wait()], [NextItem::Item(1), NextItem::Item(2)]);
        assert!(catch_unwind(AssertUnwindSafe(|| results.wait())).is_err());
    }

    #[test]
    fn a_stop_is_heard_while_waiting() {
        let (source, inputs) = unbounded::<usize>();
        let (mut results, stopper) = ordered(limits(1, 4, 100), inputs.into_iter(), || |n: usize| n);
        source.send(7).unwrap();
        assert_eq!(results.wait(), NextItem::Item(7));
        thread::spawn(move || stopper.stop());
        assert_eq!(results.wait(), NextItem::Stop);
        drop(source);
    }
}
