//! Cost of a URL key and of its hash, by what there is to do.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dedup_stage::url::{Canonicalizer, KeyHasher};
use url::Url;

const URLS: [(&str, &str); 7] = [
    ("plain", "https://www.a.example/2024/05/some-article-about-something.html"),
    ("fragment", "https://www.a.example/docs/current/sql-select.html#SQL-WITH"),
    ("query", "https://www.a.example/index.php?page=3&id=1234"),
    ("unsorted", "https://www.a.example/search?q=some+words&page=3&lang=en&category=books"),
    ("tracking", "https://www.a.example/a?utm_source=b&utm_medium=c&utm_campaign=d&id=5&gclid=EAIaIQobChMI"),
    ("session", "https://www.a.example/shop/list.jsp;jsessionid=0123456789ABCDEF?sid=0123456789abcdef&page=2"),
    ("escapes", "https://www.a.example/wiki/%e3%83%84_%28letter%29?q=a%20b%2fc"),
];

fn keys(criterion: &mut Criterion) {
    let (canonicalizer, hasher) = (Canonicalizer::default(), KeyHasher::new([7; KeyHasher::SECRET]));
    let mut group = criterion.benchmark_group("url_key");
    for (name, url) in URLS {
        let url = Url::parse(url).unwrap();
        group.bench_function(format!("{name}/key"), |bencher| bencher.iter(|| canonicalizer.key(black_box(&url))));
        group.bench_function(format!("{name}/hash"), |bencher| {
            bencher.iter(|| canonicalizer.hash(black_box(&url), &hasher));
        });
    }
}

criterion_group!(benches, keys);
criterion_main!(benches);
