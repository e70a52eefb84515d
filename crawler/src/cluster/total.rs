//! The counters of all workers of a crawl together.

use std::cmp::Reverse;

use serde_json::{Map, Value};

use crate::engine::{Phase, Stats, StopReason};
use crate::estimate::Lost;

/// The counters of all workers, and how the crawl ended.
#[derive(Debug)]
pub struct Total {
    /// The counters. The elapsed time is that of the worker that has crawled longest. The worst hosts are those of all
    /// workers.
    pub stats: Stats,
    /// The reason why the crawl has ended; `None` if it goes on, or was interrupted.
    pub stop_reason: Option<StopReason>,
    /// The estimate of the unique pages among the URLs held back. It is the sum of the estimates of the workers, and
    /// the ends of its interval are the sums of theirs. The samples of the workers are independent, so this interval
    /// holds the true number with a probability of at least 95 %.
    pub lost: Option<Lost>,
}

impl<'a> FromIterator<(&'a Stats, Phase, Option<StopReason>, Option<Lost>)> for Total {
    fn from_iter<I>(workers: I) -> Self
    where
        I: IntoIterator<Item = (&'a Stats, Phase, Option<StopReason>, Option<Lost>)>,
    {
        let mut sum = Map::new();
        let (mut elapsed, mut worst, mut lost) = (0, Vec::new(), None::<Lost>);
        let mut reasons = Vec::new();
        for (stats, phase, reason, part) in workers {
            elapsed = elapsed.max(stats.elapsed_ms);
            worst.extend(stats.worst_hosts().cloned());
            if let Some(part) = part {
                let sum = lost.get_or_insert_default();
                (sum.estimate, sum.low, sum.high) =
                    (sum.estimate + part.estimate, sum.low + part.low, sum.high + part.high);
            }
            reasons.push(reason.filter(|_| matches!(phase, Phase::Ended | Phase::Stopped)));
            if let Ok(Value::Object(stats)) = serde_json::to_value(stats) {
                add(&mut sum, stats);
            }
        }
        let stats: Stats = serde_json::from_value(Value::Object(sum)).unwrap_or_default();
        // If one worker was stopped or came to a limit, so did the crawl.
        let stop_reason = reasons.into_iter().collect::<Option<Vec<_>>>().and_then(|reasons| {
            use StopReason::{Done, PageLimit, Stopped, TimeLimit, Waiting};
            [Stopped, TimeLimit, PageLimit, Waiting, Done].into_iter().find(|reason| reasons.contains(reason))
        });
        worst.sort_by_key(|host| Reverse(host.troubles));
        let mut worst = worst.into_iter();
        let (worst_host, further_hosts) = (worst.next(), worst.collect());
        Self { stats: Stats { elapsed_ms: elapsed, worst_host, further_hosts, ..stats }, stop_reason, lost }
    }
}

/// Adds numbers to the numbers of the same name.
fn add(total: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        let sum = match (total.remove(&name), value) {
            (Some(Value::Object(mut inner)), Value::Object(more)) => {
                add(&mut inner, more);
                Value::Object(inner)
            }
            (Some(Value::Number(a)), Value::Number(b)) => match (a.as_u64(), b.as_u64()) {
                (Some(a), Some(b)) => Value::from(a + b),
                _ => Value::from(a.as_f64().unwrap_or(0.0) + b.as_f64().unwrap_or(0.0)),
            },
            (Some(Value::Bool(a)), Value::Bool(b)) => Value::Bool(a && b),
            (_, value) => value,
        };
        total.insert(name, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::WorstHost;

    #[test]
    fn counters_add_up_and_the_rest_is_that_of_the_longest_and_worst() {
        let worst = |host: &str, troubles| {
            Some(WorstHost { host: host.into(), troubles, kind: "404".into(), ..WorstHost::default() })
        };
        let stats = |pages, elapsed_ms, worst_host| Stats {
            pages,
            elapsed_ms,
            worst_host,
            complete: true,
            statuses: [(200, pages), (404, 1)].into(),
            ..Stats::default()
        };
        let (a, b) = (stats(3, 50, worst("a.test", 7)), stats(4, 40, worst("b.test", 2)));
        let lost = |estimate| Some(Lost { estimate, low: 0.5, high: 9.0 });
        let total: Total = [
            (&a, Phase::Ended, Some(StopReason::Done), lost(1.0)),
            (&b, Phase::Ended, Some(StopReason::Waiting), lost(2.0)),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            total.stats,
            Stats {
                pages: 7,
                statuses: [(200, 7), (404, 2)].into(),
                further_hosts: b.worst_host.clone().into_iter().collect(),
                ..stats(0, 50, a.worst_host.clone())
            }
        );
        assert_eq!(total.lost, Some(Lost { estimate: 3.0, low: 1.0, high: 18.0 }));
        assert_eq!(total.stop_reason, Some(StopReason::Waiting));
        let running = [(&a, Phase::Ended, Some(StopReason::Done), None), (&b, Phase::Busy, None, None)];
        assert_eq!(running.into_iter().collect::<Total>().stop_reason, None);
        assert_eq!([].into_iter().collect::<Total>().stats, Stats::default());
    }
}
