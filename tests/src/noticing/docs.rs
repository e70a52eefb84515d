//! Documentation and its next version, as one site over time. Changes are counted exactly, as the number of runs of
//! five words that are in one version of a page only. Only the part that the documentation itself marks as its content
//! counts. All numbers count as the same word there, because a chapter whose number changes has the same content.

use std::collections::HashSet;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::{Called, Site};
use crate::folder::{pages, words};

/// The number of runs of five words that differ if a paragraph of 30 words is replaced: 34 in each version.
pub const PARAGRAPH: usize = 68;

/// Counts of visits, by the size of the change of the page.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Visits to pages with the same words in the same order.
    pub equal: Called,
    /// Visits to pages that changed by less than a paragraph.
    pub less: Called,
    /// A paragraph of 30 words or more.
    pub more: Called,
    /// Among all visits, those to pages whose versions have a similarity below 0.9, if each number counts as a word of
    /// its own.
    pub unlike: Called,
    /// The paths of pages for which the judge was wrong.
    pub wrong: Vec<String>,
}

impl Found {
    /// Among the pages that are said to show new content, the share of those whose words have changed.
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

/// The part between the navigation at the top and at the bottom, as DocBook and Sphinx mark it.
pub fn main_part(html: &str) -> &str {
    let after = |text: &'static str, end: &'static str| {
        let at = html.find(text)?;
        Some(at + html[at..].find(end)? + end.len())
    };
    let start = after("role=\"main\"", ">").or_else(|| after("class=\"navheader\"", "</table>")).unwrap_or(0);
    let end = ["class=\"sphinxsidebar\"", "class=\"navfooter\""].into_iter().find_map(|text| html.rfind(text));
    html.get(start..end.unwrap_or(html.len())).unwrap_or(html)
}

/// The number of runs of words that only one of two texts has, and the number of runs that they have together.
fn differing(one: &HashSet<u64>, other: &HashSet<u64>) -> (usize, usize) {
    (one.symmetric_difference(other).count(), one.union(other).count())
}

/// The runs of five words in a text. A shorter text is one run.
fn runs(words: &[String], folds_numbers: bool) -> HashSet<u64> {
    let is_folded = |word: &String| folds_numbers && word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = words.iter().map(|word| if is_folded(word) { "0" } else { word.as_str() }).collect();
    words.windows(5.min(words.len().max(1))).map(|run| xxh3_64(run.join(" ").as_bytes())).collect()
}
