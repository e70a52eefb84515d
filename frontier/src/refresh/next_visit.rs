//! When one page is due: as soon as a visit buys its price, or teaches enough about the change rate.

use super::belief::Belief;
use super::cluster::CopyCluster;
use super::host::Host;
use super::settings::{JITTER, LESSON_DAYS, PILOT, Settings, TEST};
use super::time::{UrlHash, days, spread};

/// What is planned for a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NextVisit {
    /// Days from the last visit to the next one. Infinite if no visit is worth its price.
    pub days: f32,
    /// The change rate is worth a lesson, which takes two visits.
    pub unknown: bool,
}

/// A missing page is looked for again after this many days.
const MISSING: f32 = 1.0;

/// The plan for a page of a host, at the prices of the host's last review. It depends on its arguments alone, so the
/// schedule is the same after a restart.
pub(super) fn plan(
    host: &Host,
    page: UrlHash,
    cluster: &CopyCluster,
    belief: &Belief,
    settings: &Settings,
) -> NextVisit {
    if cluster.flags.urgent {
        return NextVisit { days: settings.min_age as f32 / super::time::DAY, unknown: false };
    }
    let u = spread(page, cluster.visited);
    let scale = scale(u, cluster);
    let (price, pressed) = (host.price * scale, host.pressed * scale);
    let age = days(cluster.visited, host.reviewed);

    let mut next = interval(host, cluster, belief, pressed);
    if next < age {
        // The page was overdue at the review. Such pages are spread over the time to the next review, or over the time
        // that all pages take. A page whose visits come more often than that is delayed by one interval at most.
        next = age + u * host.window.min(host.catch_up).min(next);
    }
    let mut unknown = false;
    // Where a source tells of changes, the change rate matters little.
    let is_told = cluster.flags.listed.is_some_and(|source| host.learned.signals.believes(source));
    if settings.lessons && !is_told {
        let test = TEST * price;
        let lesson = LESSON_DAYS * belief.lesson(price, test) + belief.gain(test) - price;
        let is_untested = cluster.history.is_empty() && spread(page, 0) < PILOT;
        let is_pilot = is_untested && age < test;
        let at = test * (0.5 + u);
        if (lesson > 0.0 || is_pilot) && at >= age {
            next = next.min(at);
        } else if host.is_first_review && is_untested && age >= test {
            // The crawl was not running when its test was due.
            next = next.min(age + u * host.window.min(host.catch_up));
        } else if lesson > 0.0 && belief.gain(age) + lesson > price {
            // It is too late for a lesson by one visit. The next visit and a test after it are worth their price
            // together.
            unknown = true;
            next = next.min(age + spread(page, host.reviewed) * host.lessons_take);
        }
    }
    if cluster.flags.missing {
        next = next.min(MISSING);
    }
    let bounds = (settings.min_age as f32 / super::time::DAY, settings.max_age as f32 / super::time::DAY);
    NextVisit { days: next.clamp(bounds.0, bounds.1), unknown }
}

/// The price of a visit to a page is this factor times the price of its host. The factor depends on the weight of the
/// page, and a little on chance.
pub(super) fn scale(u: f32, cluster: &CopyCluster) -> f32 {
    (JITTER * (u - 0.5)).exp() / cluster.weight
}

/// Days from a visit to the next one that buys the price. What sitemaps and feeds tell is taken into account.
pub(super) fn interval(host: &Host, cluster: &CopyCluster, belief: &Belief, price: f32) -> f32 {
    match cluster.flags.listed {
        Some(source) => host.learned.signals.interval(source, cluster.told.is_some(), belief, price),
        None => belief.interval(price),
    }
}
