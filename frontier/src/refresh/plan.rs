//! When one page is due: where the next visit buys its price, or where it teaches enough.

use super::belief::Belief;
use super::cluster::Cluster;
use super::host::Host;
use super::settings::{JITTER, LESSON_DAYS, PILOT, Settings, TEST};
use super::time::{PageId, days, spread};

/// What is planned for a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Days from the last visit to the next; infinite where no visit pays.
    pub days: f32,
    /// The page deserves a lesson, which takes two visits.
    pub unknown: bool,
}

/// A missing page is looked for again after so many days.
const MISSING: f32 = 1.0;

/// The plan for a page of a host, under the prices of the host's last review. Depends on nothing else, so that a restart
/// leaves the schedule as it was.
pub(super) fn plan(host: &Host, page: PageId, cluster: &Cluster, belief: &Belief, settings: &Settings) -> Plan {
    if cluster.flags.urgent {
        return Plan { days: settings.min_age as f32 / super::time::DAY, unknown: false };
    }
    let u = spread(page, cluster.visited);
    let scale = scale(u, cluster);
    let (price, pressed) = (host.price * scale, host.pressed * scale);
    let age = days(cluster.visited, host.reviewed);

    let mut next = interval(host, cluster, belief, pressed);
    if next < age {
        // Overdue at the review: such pages are visited by the next one, not all at once. A page that is visited more often
        // than reviews come must not lose more than a turn by it.
        next = age + u * host.window.min(next);
    }
    let mut unknown = false;
    if settings.lessons {
        let test = TEST * price;
        let lesson = LESSON_DAYS * belief.lesson(price, test) + belief.gain(test) - price;
        let is_pilot = cluster.evidence.is_empty() && spread(page, 0) < PILOT && age < test;
        let at = test * (0.5 + u);
        if (lesson > 0.0 || is_pilot) && at >= age {
            next = next.min(at);
        } else if lesson > 0.0 && belief.gain(age) + lesson > price {
            // Too late: whatever the next visit shows, it teaches little. It is worth its price with the test after it.
            unknown = true;
            next = next.min(age + spread(page, host.reviewed) * host.lessons_take);
        }
    }
    if cluster.flags.missing {
        next = next.min(MISSING);
    }
    let bounds = (settings.min_age as f32 / super::time::DAY, settings.max_age as f32 / super::time::DAY);
    Plan { days: next.clamp(bounds.0, bounds.1), unknown }
}

/// A page's own price is this times its host's: the weight of the page, and a little chance.
pub(super) fn scale(u: f32, cluster: &Cluster) -> f32 {
    (JITTER * (u - 0.5)).exp() / cluster.weight
}

/// Days from a visit to the next one that buys the price, with what signals say.
pub(super) fn interval(host: &Host, cluster: &Cluster, belief: &Belief, price: f32) -> f32 {
    match cluster.flags.listed {
        Some(source) => host.learned.signals.interval(source, cluster.flags.told, belief, price),
        None => belief.interval(price),
    }
}
