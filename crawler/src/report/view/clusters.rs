//! The largest clusters of duplicates. For some near-duplicates, the words in which they differ from their twins.

use std::io;

use super::super::clusters::{ClusterTotals, Clusters};
use super::super::html::{Web, WebLink, put};
use super::super::line::{PageLine, Word};
use super::super::source::Lines;
use super::super::words::Difference;
use super::{Table, bytes, count, verdict};
use crate::units;

/// The largest clusters as a table. The URL of the repeated page comes first.
pub fn clusters(out: &mut String, id: Option<&str>, clusters: &Clusters, pages: &Lines, most: usize) -> io::Result<()> {
    let largest = clusters.largest(most);
    let roots = pages.at(largest.iter().filter_map(|cluster| cluster.root))?;
    let mut roots = roots.iter();
    let mut rows = String::new();
    for cluster in &largest {
        let root = cluster.root.and_then(|_| roots.next()).and_then(|line| PageLine::parse(line)).unwrap_or_default();
        put!(rows, "<tr><td>{}", WebLink(&root.url));
        if let Some(title) = root.title.as_deref() {
            put!(rows, "<br><span class=\"note\">{}</span>", Web(title));
        }
        members(&mut rows, cluster, pages)?;
        put!(rows, "</td>{}{}{}", count(cluster.pages()), count(cluster.near), count(cluster.exact));
        put!(
            rows,
            "{}{}{}</tr>\n",
            count(u64::from(cluster.widest)),
            count(cluster.links_dropped),
            bytes(cluster.bytes)
        );
    }
    let known = clusters.count();
    let caption = if known > most {
        format!("The {most} largest of {}", units::counted(known as u64, "cluster"))
    } else {
        format!("All {}", units::counted(known as u64, "cluster"))
    };
    Table {
        id,
        caption: &caption,
        heads: &[
            "repeated page",
            "#pages",
            "#near",
            "#exact",
            "#widest distance, bits",
            "#links kept out",
            "#bytes spent",
        ],
        rows,
    }
    .put(out);
    Ok(())
}

/// Names some duplicates of a cluster.
fn members(rows: &mut String, cluster: &ClusterTotals, pages: &Lines) -> io::Result<()> {
    let all = cluster.near + cluster.exact;
    put!(rows, "<details><summary>{}</summary><ul>", units::counted(all, "duplicate"));
    for line in pages.at(cluster.members.iter().copied())? {
        let Some(page) = PageLine::parse(&line) else { continue };
        put!(rows, "<li>{} {}", verdict(page.verdict, false), WebLink(&page.url));
        if let (Word::Near, Some(distance), Some(resemblance)) = (page.verdict, page.distance, page.resemblance) {
            put!(rows, " <span class=\"note\">distance {distance}, resemblance {resemblance:.2}</span>");
        }
        rows.push_str("</li>");
    }
    let unnamed = all - cluster.members.len() as u64;
    if unnamed > 0 {
        put!(rows, "<li class=\"note\">and {} more</li>", units::count(unnamed));
    }
    rows.push_str("</ul></details>");
    Ok(())
}

/// A near-duplicate beside its twin.
pub fn twins(out: &mut String, page: &PageLine<'_>, twin: &PageLine<'_>, difference: Option<&Difference>) {
    put!(out, "<article><h3>{}</h3><p>{}", WebLink(&page.url), verdict(page.verdict, page.status.is_none()));
    put!(out, " of {}", WebLink(&twin.url));
    if let (Some(distance), Some(resemblance)) = (page.distance, page.resemblance) {
        put!(out, ": Hamming distance {distance} of 64 bits, resemblance {resemblance:.2}");
    }
    put!(out, ". {} here, {} there.</p>", units::counted(page.words, "word"), units::count(twin.words));
    let title = |page: &PageLine<'_>| page.title.as_deref().unwrap_or_default().to_owned();
    let (here, there) = (title(page), title(twin));
    if here == there {
        put!(out, "<p class=\"note\">Both have the title {}</p>", Web(&here));
    } else {
        put!(out, "<p class=\"note\">Titles: <ins>{}</ins> here, <del>{}</del> there</p>", Web(&here), Web(&there));
    }
    match difference {
        Some(difference) => {
            put!(out, "<p class=\"note\">{}</p>", difference.summary());
            if !difference.is_none() {
                put!(out, "<p class=\"words\">{}</p>", difference.html());
            }
        }
        None if page.verdict == Word::Exact => out.push_str("<p class=\"note\">Their bytes are the same.</p>"),
        None => out.push_str(
            "<p class=\"note\">Bodies are not kept, so their words cannot be compared here: crawl with <code>--warc</code> to \
             see the difference.</p>",
        ),
    }
    out.push_str("</article>\n");
}
