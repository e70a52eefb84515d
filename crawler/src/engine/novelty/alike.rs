//! Decides whether a page is like other pages of its host: its sketch resembles the sketch of one of the last pages
//! there, but not enough to make it a duplicate. A site that varies one text without end has many such pages. `page`
//! tells the frontier, which gives such a host a falling share of the fetches (`Frontier::brought`).

use std::collections::{HashMap, VecDeque};

use dedup_stage::judge::Judge;
use dedup_stage::signature::Sketch;

/// How much a page is like one of the last pages of its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engine) struct Likeness {
    /// It varies the text of that page.
    pub is_alike: bool,
    /// It says the same as that page, except for a few words.
    pub is_same: bool,
}

/// The sketches of the last pages of each host.
#[derive(Debug, Default)]
pub(in crate::engine) struct Alike {
    last: HashMap<u64, VecDeque<Sketch>>,
}

impl Alike {
    /// At most this many hosts are remembered. When there are more, all are forgotten.
    const HOSTS: usize = config::bounds::HOSTS_COMPARED;
    /// At most this many pages of a host are remembered.
    const PAGES: usize = 16;
    /// From this resemblance on, pages are alike. Estimates for unlike pages are 0 ± 0.053 (352 bins of one bit).
    const LEAST: f32 = 0.3;

    /// How much a page of the host with this hash is like one of the last pages of the host.
    pub(in crate::engine) fn page(&mut self, host: u64, sketch: &Sketch) -> Likeness {
        if self.last.len() >= Self::HOSTS && !self.last.contains_key(&host) {
            self.last.clear();
        }
        let last = self.last.entry(host).or_default();
        let most = last.iter().map(|other| sketch.compare(other).resemblance).fold(0.0, f32::max);
        if last.len() == Self::PAGES {
            last.pop_front();
        }
        last.push_back(*sketch);
        Likeness { is_alike: most >= Self::LEAST, is_same: most >= Judge::EQUAL_TEXT }
    }
}

#[cfg(test)]
mod tests {
    use dedup_stage::page::{Input, Reader};

    use super::*;

    #[test]
    fn pages_that_vary_one_text_are_alike_and_articles_are_not() {
        let (mut alike, mut rng) = (Alike::default(), fastrand::Rng::with_seed(7));
        let mut words = |count: usize| -> String {
            (0..count).map(|_| (0..rng.usize(4..9)).map(|_| rng.lowercase()).chain([' ']).collect::<String>()).collect()
        };
        let apology = words(60);
        let mut page = |host: u64, text: &str| {
            let url = "http://a.test/x".parse().unwrap();
            let body = format!("<title>t</title><p>{text}</p>");
            let input = Input { url: &url, status: 200, content_type: Some("text/html"), body: body.as_bytes() };
            let signature = Reader::default().read(&input).signature.expect("enough text");
            alike.page(host, &signature.sketch)
        };
        let vary = |(number, likeness): (usize, Likeness)| (likeness.is_alike, likeness.is_same) == (number > 0, false);
        assert!((0..10).map(|_| page(1, &(apology.clone() + &words(40)))).enumerate().all(vary));
        let month = words(300);
        let months: Vec<bool> = (0..10).map(|_| page(4, &(month.clone() + &words(2))).is_same).collect();
        assert_eq!(months, [vec![false], vec![true; 9]].concat());
        assert!((0..50).all(|_| !page(2, &words(100)).is_alike));
        assert!(!page(3, &apology).is_alike, "another host");
    }
}
