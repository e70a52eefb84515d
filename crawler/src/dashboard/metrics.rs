//! Metrics for Prometheus and similar programs, named by its conventions. They are in the format OpenMetrics if the
//! request asks for it, and otherwise in the older text format. The two differ in how counters are announced.

use std::fmt;

use frontier::Failure;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::beside::{Beside, Metric};
use super::shared::Now;
use crate::engine::{AGES, Freshness, Memory, Round};
use crate::report::Learned;

/// Media type of OpenMetrics.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Media type of the older format.
pub const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The counters of one tick, the learned notes, and the metrics beside the crawl.
#[derive(Debug)]
struct Metrics(Now, Learned, Vec<Metric>);

impl Collector for Metrics {
    fn encode(&self, mut out: DescriptorEncoder<'_>) -> fmt::Result {
        let Now { stats, counts, in_flight, rules, trouble, .. } = &self.0;
        let verdicts = [
            ("unique", stats.unique),
            ("near", stats.near),
            ("exact", stats.exact),
            ("unchanged", stats.unchanged),
            ("unjudged", stats.unjudged),
        ];
        counters(&mut out, "pages", "Answers to requests for pages, by verdict", "verdict", &verdicts)?;
        let failures: Vec<_> = stats.failures.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        counters(&mut out, "failures", "URLs given up without an answer, by why", "kind", &failures)?;
        let errands: Vec<_> = stats.errand_failures.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        let help = "Failed look-ups of addresses and requests for robots.txt, by why";
        counters(&mut out, "errand_failures", help, "kind", &errands)?;
        let redirects =
            [("out", stats.redirects_out), ("loop", stats.redirects_endless), ("nowhere", stats.redirects_nowhere)];
        let help = "Redirects out of the scope, endless ones, and those without a URL to go to";
        counters(&mut out, "redirects_failed", help, "kind", &redirects)?;
        let cut: Vec<_> = stats.cut.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        counters(&mut out, "bodies_cut", "Bodies that were cut, by why", "kind", &cut)?;
        let statuses: Vec<_> = stats.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect();
        let statuses: Vec<_> = statuses.iter().map(|(status, count)| (status.as_str(), *count)).collect();
        counters(&mut out, "answers", "Answers to requests for pages, by HTTP status", "status", &statuses)?;
        let refused: Vec<_> = stats.refused.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        let mut refusals = out.encode_descriptor("urls_refused", "URLs refused, by reason", None, MetricType::Gauge)?;
        for (reason, count) in refused {
            ConstGauge::new(count as f64).encode(refusals.encode_family(&[("reason", reason)])?)?;
        }
        let help = "URLs queued whose last attempt failed, by what came of it";
        let mut retries = out.encode_descriptor("urls_to_retry", help, None, MetricType::Gauge)?;
        for (kind, count) in &stats.retrying {
            ConstGauge::new(*count as f64).encode(retries.encode_family(&[("kind", kind.as_str())])?)?;
        }
        gauge(&mut out, "urls_held", "Links of duplicates that are held", stats.held as f64)?;
        gauge(
            &mut out,
            "local_trouble",
            "1 while trouble on this machine keeps the crawl from fetching",
            f64::from(u8::from(*trouble)),
        )?;
        let links = [("admitted", stats.links_admitted), ("dropped", stats.links_dropped)];
        counters(&mut out, "links", "New links, by what the gate did with them", "fate", &links)?;
        counter(&mut out, "links_found", "Links read, one per key and page", stats.links_found)?;
        gauge(&mut out, "urls_skipped", "URLs met that will not be fetched", stats.skipped() as f64)?;
        gauge(&mut out, "urls_stopped", "URLs stopped before their fetch by what was learned", stats.stopped as f64)?;
        if let Some(round) = &stats.round {
            visits(&mut out, round)?;
        }
        if let Some(found) = &stats.freshness {
            freshness(&mut out, found)?;
        }
        gauge(&mut out, "rules", "Learned rules in force", rules.proven as f64)?;
        counter(&mut out, "rules_withdrawn", "Learned rules withdrawn after trials", rules.withdrawn)?;
        counter(&mut out, "body_bytes", "Bytes of decoded bodies", stats.bytes)?;
        counter(&mut out, "received_bytes", "Bytes of bodies as received", stats.wire_bytes)?;
        counter(&mut out, "commits", "Commits to the state", stats.commits)?;
        gauge(&mut out, "urls_seen", "Distinct URLs met", counts.seen as f64)?;
        let help = "Memory that grows with the URLs and pages of the crawl";
        let mut family = out.encode_descriptor("memory_bytes", help, None, MetricType::Gauge)?;
        let Memory { seen_set, judge, state_index } = stats.memory;
        for (part, bytes) in [("seen_set", seen_set), ("judge", judge), ("state_index", state_index)] {
            ConstGauge::new(bytes as f64).encode(family.encode_family(&[("part", part)])?)?;
        }
        gauge(&mut out, "frontier_urls", "URLs queued", counts.queued as f64)?;
        gauge(&mut out, "jobs_in_flight", "Jobs open", *in_flight as f64)?;
        gauge(&mut out, "crawling_seconds", "Time spent crawling, over all runs", stats.elapsed_ms as f64 / 1000.0)?;
        gauge(&mut out, "hosts_known", "Hosts known", counts.hosts as f64)?;
        let mut hosts = out.encode_descriptor("hosts", "Hosts by what they do", None, MetricType::Gauge)?;
        for (state, count) in [
            ("fetching", counts.hosts_fetching),
            ("waiting", counts.hosts_waiting),
            ("backing_off", counts.hosts_backing_off),
        ] {
            ConstGauge::new(count as f64).encode(hosts.encode_family(&[("state", state)])?)?;
        }
        notes(&mut out, &self.1)?;
        beside(&mut out, &self.2)
    }
}

/// Writes the metrics beside the crawl.
fn beside(out: &mut DescriptorEncoder<'_>, metrics: &[Metric]) -> fmt::Result {
    let put = |metric: &Metric, encoder: MetricEncoder<'_>| match metric.is_counter {
        true => ConstCounter::new(metric.value).encode(encoder),
        false => ConstGauge::new(metric.value).encode(encoder),
    };
    for same in metrics.chunk_by(|a, b| a.name == b.name) {
        let Metric { name, help, label, is_counter, .. } = same[0];
        let kind = if is_counter { MetricType::Counter } else { MetricType::Gauge };
        let mut family = out.encode_descriptor(name, help, None, kind)?;
        if label.is_none() {
            put(&same[0], family)?;
            continue;
        }
        for metric in same {
            put(metric, family.encode_family(&[metric.label.unwrap_or_default()])?)?;
        }
    }
    Ok(())
}

/// The largest number of hosts that the metrics name.
const MOST_NAMED: usize = 1_000;

/// Writes the hosts that stand out.
fn notes(out: &mut DescriptorEncoder<'_>, learned: &Learned) -> fmt::Result {
    gauge(out, "hosts_slow", "Hosts that held slots for nothing", learned.slow_hosts().count() as f64)?;
    gauge(out, "hosts_held_down", "Hosts under the automatic ceiling", learned.held_down().count() as f64)?;
    let help = "Slots that a host held for nothing, and why the last time; at most 1,000 hosts";
    let mut family = out.encode_descriptor("host_slots_lost", help, None, MetricType::Gauge)?;
    for note in learned.slow_hosts().take(MOST_NAMED) {
        let labels = [("host", &*note.host), ("reason", note.why.map(Failure::name).unwrap_or_default())];
        ConstGauge::new(f64::from(note.slots_lost)).encode(family.encode_family(&labels)?)?;
    }
    let help = "How many times longer the delay of a host under the automatic ceiling is; at most 1,000 hosts";
    let mut family = out.encode_descriptor("host_delay_factor", help, None, MetricType::Gauge)?;
    for note in learned.held_down().take(MOST_NAMED) {
        ConstGauge::new(note.delay_factor()).encode(family.encode_family(&[("host", &*note.host)])?)?;
    }
    Ok(())
}

/// Writes the last round of visits.
fn visits(out: &mut DescriptorEncoder<'_>, round: &Round) -> fmt::Result {
    let Round { number, visits, changed, missing, gone, trusted, checked, diverged, freshness_before, saved, .. } =
        *round;
    counter(out, "rounds", "Rounds of visits to pages that were fetched before", u64::from(number))?;
    let help = "Visits of the last round, by what they showed; checks of copies are counted besides";
    let mut family = out.encode_descriptor("round_visits", help, None, MetricType::Gauge)?;
    let rest = visits.saturating_sub(changed + missing);
    for (showed, count) in [("change", changed), ("missing", missing), ("no_change", rest)] {
        ConstGauge::new(count as f64).encode(family.encode_family(&[("showed", showed)])?)?;
    }
    let mut family = out.encode_descriptor("round_copies", "Copies in the last round", None, MetricType::Gauge)?;
    for (fate, count) in [("trusted", trusted), ("held", checked.saturating_sub(diverged)), ("diverged", diverged)] {
        ConstGauge::new(count as f64).encode(family.encode_family(&[("fate", fate)])?)?;
    }
    let help = "Estimated share of pages that were still as seen last when the last round began";
    gauge(out, "freshness_before_round", help, freshness_before)?;
    let help = "Pages with 404 or 410 at their last two visits, as counted last";
    gauge(out, "pages_gone", help, gone as f64)?;
    let help = "Fetches that visits to trusted copies would have cost, in a continuous crawl";
    gauge(out, "visits_saved", help, saved as f64)
}

/// Writes the freshness of the pages of a continuous crawl.
fn freshness(out: &mut DescriptorEncoder<'_>, found: &Freshness) -> fmt::Result {
    gauge(out, "freshness", "Estimated share of pages that are on the web as they were seen last", found.fresh)?;
    let help = "Pages by the time since they were seen, in classes; a copy is as old as what it follows";
    let mut family = out.encode_descriptor("pages_by_age", help, None, MetricType::Gauge)?;
    let ends = AGES.iter().map(|end| (end / 1_000).to_string()).chain(["+Inf".to_owned()]);
    for (end, count) in ends.zip(found.ages) {
        ConstGauge::new(count as f64).encode(family.encode_family(&[("up_to_seconds", end.as_str())])?)?;
    }
    let help = "Changes of a page in a day, as estimated: the geometric mean over the pages of a host";
    let mut family = out.encode_descriptor("changes_a_day", help, None, MetricType::Gauge)?;
    for host in &found.hosts {
        ConstGauge::new(host.changes_a_day).encode(family.encode_family(&[("host", host.host.as_str())])?)?;
    }
    Ok(())
}

fn counter(out: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    ConstCounter::new(value).encode(out.encode_descriptor(name, help, None, MetricType::Counter)?)
}

fn counters(
    out: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    values: &[(&str, u64)],
) -> fmt::Result {
    let mut family = out.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (value, count) in values {
        ConstCounter::new(*count).encode(family.encode_family(&[(label, *value)])?)?;
    }
    Ok(())
}

fn gauge(out: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: f64) -> fmt::Result {
    ConstGauge::new(value).encode(out.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

/// The metrics as OpenMetrics.
pub fn open_metrics(now: Now, learned: Learned, beside: Option<&dyn Beside>) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("crawler");
    registry.register_collector(Box::new(Metrics(now, learned, beside.map(Beside::metrics).unwrap_or_default())));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

/// Converts metrics to the older text format. In this format, a counter is announced with its suffix.
pub fn classic(open_metrics: &str) -> String {
    let mut out = String::with_capacity(open_metrics.len() + 256);
    let mut help = None;
    for line in open_metrics.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT ")) {
        match (line.strip_prefix("# HELP "), line.strip_prefix("# TYPE ")) {
            (Some(text), _) => help = text.split_once(' '),
            (_, Some(text)) => {
                let (name, kind) = text.split_once(' ').unwrap_or((text, "untyped"));
                let suffix = if kind == "counter" { "_total" } else { "" };
                if let Some((_, help)) = help.take() {
                    out.extend(["# HELP ", name, suffix, " ", help, "\n"]);
                }
                out.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
            }
            _ => out.extend([line, "\n"]),
        }
    }
    out
}
