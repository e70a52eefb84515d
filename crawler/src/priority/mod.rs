//! The priority of a URL, 0..1. It is the product of named parts, each to the power of its weight (`[priority]` in
//! `default.toml`). This module computes what is known when a URL is queued. What is learned later about its host, path
//! prefix and query pattern is a factor of the group. It is applied when a group is chosen ([`frontier::Expected`]).

mod in_links;

use config::Priority;
use frontier::Merits;

use crate::hints::Hints;

pub use in_links::InLinks;

/// The priority of seeds.
pub const SEED: f32 = 1.0;

/// Computes priorities.
#[derive(Clone, Debug)]
pub struct Scoring {
    weights: Priority,
    /// The part for each number of links seen, from 1.
    in_links: [f32; InLinks::MOST as usize],
}

/// The parts that are the same for all links of a page.
#[derive(Clone, Copy, Debug)]
pub struct OfPage {
    factor: f32,
    novelty: f32,
}

/// The data of one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfLink {
    /// The number of links to its target so far, including this one; 0 if they are not counted.
    pub in_links: u8,
    /// The hints about it from pages and sitemaps.
    pub hints: Hints,
    /// Its relevance, in a focused crawl.
    pub relevance: Option<f32>,
}

impl Scoring {
    /// Makes a scoring with these weights.
    pub fn new(weights: &Priority) -> Self {
        let in_links = std::array::from_fn(|n| in_links_part(n as u8 + 1).powf(weights.in_links_weight));
        Self { weights: weights.clone(), in_links }
    }

    /// The parts for the links of a page. `novelty` is the share of the page that is new, 0..1, and `depth` is the
    /// depth of the links.
    pub fn page(&self, novelty: f32, depth: u32) -> OfPage {
        let factor =
            novelty_part(novelty).powf(self.weights.novelty_weight) * depth_part(depth).powf(self.weights.depth_weight);
        OfPage { factor, novelty }
    }

    /// The priority of a link, and the merits from which it was made.
    pub fn link(&self, page: OfPage, link: OfLink) -> (f32, Merits) {
        let seen = link.in_links.clamp(1, InLinks::MOST);
        let relevance = link.relevance.map_or(1.0, |r| relevance_part(r).powf(self.weights.relevance_weight));
        let hints = link.hints.part().powf(self.weights.hint_weight);
        let priority = page.factor * self.in_links[usize::from(seen) - 1] * hints * relevance;
        let merits = Merits {
            novelty: Merits::step(page.novelty),
            in_links: link.in_links,
            hint: link.hints.bits(),
            relevance: link.relevance.map_or(0, Merits::step),
        };
        (priority.clamp(0.0, 1.0), merits)
    }

    /// The parts of a priority: name, value and weight. `focused`: whether relevance is one of them.
    pub fn explain(&self, merits: Merits, depth: u32, focused: bool) -> Vec<(String, f32, f32)> {
        let hints = Hints::from_bits(merits.hint);
        let said = hints.names();
        let hint = if said.is_empty() { "hints".to_owned() } else { format!("hints ({said})") };
        let novelty = novelty_part(f32::from(merits.novelty) / 255.0);
        let mut named = vec![
            ("novelty of its page".to_owned(), novelty, self.weights.novelty_weight),
            ("depth".to_owned(), depth_part(depth), self.weights.depth_weight),
            ("links to it".to_owned(), in_links_part(merits.in_links.max(1)), self.weights.in_links_weight),
            (hint, hints.part(), self.weights.hint_weight),
        ];
        if focused {
            let relevance = relevance_part(f32::from(merits.relevance) / 255.0);
            named.push(("relevance".to_owned(), relevance, self.weights.relevance_weight));
        }
        named
    }

    /// Whether the product of these parts is this priority. It is not for seeds and visits, whose priority is not made
    /// of parts.
    pub fn makes(parts: &[(String, f32, f32)], priority: f32) -> bool {
        /// The tolerance. It is needed because merits are stored in 255 steps.
        const STEPS: f32 = 0.05;
        let product: f32 = parts.iter().map(|(_, part, weight)| part.powf(*weight)).product();
        (product - priority).abs() <= STEPS * priority
    }
}

fn novelty_part(novelty: f32) -> f32 {
    0.05 + 0.95 * novelty
}

fn depth_part(depth: u32) -> f32 {
    1.0 / (1.0 + depth as f32 / 4.0)
}

fn in_links_part(seen: u8) -> f32 {
    (1.0 + f32::from(seen.clamp(1, InLinks::MOST)).log2()) / 5.0
}

fn relevance_part(relevance: f32) -> f32 {
    0.02 + 0.98 * relevance
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn defaults() -> Scoring {
        Scoring::new(&config::Settings::default().priority)
    }

    #[test]
    fn links_of_new_pages_share_one_priority_whatever_their_depth() {
        let scoring = defaults();
        let priority = |depth| scoring.link(scoring.page(1.0, depth), OfLink::default()).0;
        assert_eq!(priority(1), priority(9));
        assert!(priority(1) > 0.6, "{}", priority(1));
    }

    proptest! {
        #[test]
        fn no_part_lowers_a_priority_as_it_grows(
            novelty in 0f32..1.0, more in 0f32..1.0, links in 0u8..40, depth in 0u32..40, relevance in 0f32..1.0,
        ) {
            let scoring = Scoring::new(&Priority { depth_weight: 0.5, ..config::Settings::default().priority });
            let of = |novelty, depth, in_links, is_named, relevance| {
                let hints = if is_named { Hints::of_sitemap(None, 0) } else { Hints::default() };
                let link = OfLink { in_links, hints, relevance: Some(relevance) };
                scoring.link(scoring.page(novelty, depth), link).0
            };
            let base = of(novelty, depth, links, false, relevance);
            prop_assert!((0.0..=1.0).contains(&base));
            prop_assert!(of(novelty.max(more), depth, links, false, relevance) >= base);
            prop_assert!(of(novelty, depth, links + 1, false, relevance) >= base);
            prop_assert!(of(novelty, depth, links, true, relevance) >= base);
            prop_assert!(of(novelty, depth, links, false, relevance.max(more)) >= base);
            prop_assert!(of(novelty, depth + 1, links, false, relevance) <= base);
        }

        #[test]
        fn the_parts_that_are_told_make_the_priority(novelty in 0f32..1.0, links in 1u8..20, depth in 0u32..20) {
            let scoring = defaults();
            let (priority, merits) = scoring.link(scoring.page(novelty, depth), OfLink { in_links: links, ..OfLink::default() });
            let told: f32 = scoring.explain(merits, depth, false).iter().map(|(_, part, weight)| part.powf(*weight)).product();
            prop_assert!((told - priority).abs() < 0.01, "{told} {priority}");
        }
    }

    #[test]
    fn only_parts_that_make_the_priority_are_told() {
        let scoring = Scoring::new(&config::Settings::default().priority);
        let (novelty, depth) = (0.5, 2);
        let (priority, merits) = scoring.link(scoring.page(novelty, depth), Default::default());
        let parts = scoring.explain(merits, depth, false);
        assert!(Scoring::makes(&parts, priority), "{priority}: {parts:?}");
        let visit = scoring.explain(Merits::default(), depth, false);
        assert!(!Scoring::makes(&visit, 1.0) && !Scoring::makes(&visit, f32::NAN), "{visit:?}");
    }
}
