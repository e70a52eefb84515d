//! Shares work among threads.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Lets threads work on `n` items, `piece` items at a time. Collects the results, in no order.
pub fn in_pieces<T: Send>(
    n: usize,
    piece: usize,
    threads: usize,
    done: &(dyn Fn(f64) + Sync),
    work: &(dyn Fn(Range<usize>, &mut Vec<T>) + Sync),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let pieces = n.div_ceil(piece);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, pieces.max(1)) {
            scope.spawn(|| {
                let mut found = Vec::new();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= pieces {
                        break;
                    }
                    work(i * piece..n.min((i + 1) * piece), &mut found);
                    done(1.0 / pieces as f64);
                }
                all.lock().expect("no thread panicked").append(&mut found);
            });
        }
    });
    all.into_inner().expect("no thread panicked")
}
