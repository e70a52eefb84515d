//! Cost of the questions that are asked of every link and every URL handed out, and of reading what sites send.

use std::fmt::Write;
use std::hint::black_box;

use config::{ScopeKind, Settings};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use frontier::robots::{Answer, RobotsRules};
use frontier::scope::Scope;
use frontier::sitemap::Sitemap;
use url::Url;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn scope(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scope");
    let seeds = [url("https://www.a.example/docs/"), url("https://b.example/")];
    for (name, kind) in [
        ("host", ScopeKind::Host),
        ("domain", ScopeKind::Domain),
        ("prefix", ScopeKind::Prefix),
        ("any", ScopeKind::Any),
    ] {
        let mut settings = Settings::default();
        settings.scope.scope = kind;
        let scope = Scope::new(&settings.scope, &settings.urls, &seeds).unwrap();
        for (which, link) in [
            ("same-host", url("https://www.a.example/docs/current/sql-select.html")),
            ("same-domain", url("https://img.a.example/docs/current/sql-select.html?page=3&id=5")),
            ("elsewhere", url("https://www.elsewhere.co.uk/docs/current/")),
        ] {
            group.bench_function(format!("{name}/{which}"), |bencher| {
                bencher.iter(|| scope.admits(black_box(&link), 3))
            });
        }
    }
}

fn robots(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("robots");
    let origin = url("https://a.example/robots.txt");
    let read = |body: &str| {
        RobotsRules::read(
            &Answer { url: &origin, status: 200, retry_after: None, body: body.as_bytes(), at: 0 },
            "once-crawler",
        )
    };
    let mut usual = "user-agent: *\n".to_owned();
    let mut hostile = usual.clone();
    for n in 0..40 {
        writeln!(usual, "disallow: /section-{n}/*/print\nallow: /section-{n}/").unwrap();
    }
    for n in 0.. {
        if hostile.len() >= RobotsRules::MAX_BYTES - 30 {
            break;
        }
        writeln!(hostile, "allow:/*a*a{n:x}").unwrap();
    }
    let long = url(&format!("https://a.example/{}", "a".repeat(2_000)));
    group.bench_function("read/80-rules", |bencher| bencher.iter(|| read(black_box(&usual))));
    group.bench_function("read/500-KiB-hostile", |bencher| bencher.iter(|| read(black_box(&hostile))));
    let (usual, hostile) = (read(&usual), read(&hostile));
    let link = url("https://a.example/section-39/2024/05/article.html");
    group.bench_function("allowed/80-rules", |bencher| bencher.iter(|| usual.allowed(black_box(&link))));
    group.bench_function("allowed/500-KiB-hostile", |bencher| bencher.iter(|| hostile.allowed(black_box(&long))));
}

fn sitemap(criterion: &mut Criterion) {
    let mut body = "<urlset>".to_owned();
    for n in 0..10_000 {
        writeln!(body, "<url><loc>https://a.example/2024/{n}</loc><lastmod>2024-05-06</lastmod></url>").unwrap();
    }
    let mut group = criterion.benchmark_group("sitemap");
    group.throughput(Throughput::Elements(10_000));
    let base = url("https://a.example/sitemap.xml");
    group.bench_function("urlset", |bencher| bencher.iter(|| Sitemap::open(black_box(body.as_bytes()), &base).count()));
}

criterion_group!(benches, scope, robots, sitemap);
criterion_main!(benches);
