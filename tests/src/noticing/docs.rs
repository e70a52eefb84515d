//! Documentation and its next version, as one site over time. What changed is counted exactly: the runs of five words that
//! stand in one version of a page only, within the part that the documentation itself marks as its content. There all numbers
//! count as one word, because a chapter that gets another number says what it said.

use std::collections::HashSet;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::{Called, Site};
use crate::folder::{pages, words};

/// A paragraph of 30 words that is replaced changes this many runs of five words: 34 in either version.
pub const PARAGRAPH: usize = 68;

/// Visits by what changed on the page.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The same words in the same order.
    pub equal: Called,
    /// Less than a paragraph.
    pub less: Called,
    /// A paragraph of 30 words or more.
    pub more: Called,
    /// Of all visits, those to pages of which the versions resemble each other to less than .9, if each number counts as a word of
    /// its own.
    pub unlike: Called,
    /// Paths of pages that were told wrong.
    pub wrong: Vec<String>,
}

impl Found {
    /// The share of pages with any other words among those that are said to show another content.
    pub fn precision(&self) -> f64 {
        let right = self.less.content + self.more.content;
        f64::from(right) / f64::from((right + self.equal.content).max(1))
    }
}

/// Visits all pages of a folder, and then those of the next version.
pub fn visit(old: &Path, new: &Path) -> anyhow::Result<Found> {
    let (mut site, mut found) = (Site::new()?, Found::default());
    let (old, new) = (pages(old)?, pages(new)?);
    for (path, html) in &old {
        site.show(path, html)?;
    }
    for (path, html) in &new {
        let content = site.show(path, html)?.unwrap_or(false);
        let Some(before) = old.get(path) else { continue };
        let [before, after] = [before, html].map(|html| words(main_part(html)));
        let (changed, all) = differing(&runs(&before, true), &runs(&after, true));
        match changed {
            0 => found.equal.count(content),
            1..PARAGRAPH => found.less.count(content),
            _ => found.more.count(content),
        }
        if changed == 0 && content || changed >= PARAGRAPH && !content {
            found.wrong.push(format!("{path} ({changed} of {all} runs of words)"));
        }
        let (with_numbers, all) = differing(&runs(&before, false), &runs(&after, false));
        if (all - with_numbers) as f64 / (all as f64) < 0.9 {
            found.unlike.count(content);
        }
    }
    Ok(found)
}

/// What stands between navigation at the head and at the foot, as DocBook and Sphinx mark it.
pub fn main_part(html: &str) -> &str {
    let after = |text: &'static str, end: &'static str| {
        let at = html.find(text)?;
        Some(at + html[at..].find(end)? + end.len())
    };
    let start = after("role=\"main\"", ">").or_else(|| after("class=\"navheader\"", "</table>")).unwrap_or(0);
    let end = ["class=\"sphinxsidebar\"", "class=\"navfooter\""].into_iter().find_map(|text| html.rfind(text));
    html.get(start..end.unwrap_or(html.len())).unwrap_or(html)
}

/// How many runs of words one of two texts has, and the other has not; and how many both have together.
fn differing(one: &HashSet<u64>, other: &HashSet<u64>) -> (usize, usize) {
    (one.symmetric_difference(other).count(), one.union(other).count())
}

/// The runs of five words of a text; a shorter text is one run.
fn runs(words: &[String], folds_numbers: bool) -> HashSet<u64> {
    let is_folded = |word: &String| folds_numbers && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = words.iter().map(|word| if is_folded(word) { "0" } else { word.as_str() }).collect();
    words.windows(5.min(words.len().max(1))).map(|run| xxh3_64(run.join(" ").as_bytes())).collect()
}
