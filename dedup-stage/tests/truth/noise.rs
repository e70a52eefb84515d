//! Real pages with injected noise are duplicates of their originals; different pages of one site are not.

use dedup_stage::page::Reader;
use dedup_stage::signature::DISTANCE;
use dedup_stage::stage::{Prepared, Preparer};

use crate::data;

/// A small generator of noise (xorshift64*).
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % below
    }

    fn word(&mut self) -> String {
        (0..2 + self.next(3)).map(|_| ["ba", "ko", "ri", "mu", "ten", "sal", "vo", "din"][self.next(8)]).collect()
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn advertisement(&mut self) -> String {
        let words = 6 + self.next(10);
        let text = self.words(words);
        let target = self.word();
        match self.next(4) {
            0 => format!("<div class=\"ad-box\"><b>{text}</b> now!</div>"),
            1 => format!("<p><a href=\"http://{target}.example/click\"><img src=x> {text}</a></p>"),
            2 => format!("<aside><p>{text}</p></aside>"),
            _ => format!("<iframe src=\"http://{target}.example/frame\"></iframe><div id=\"sponsored\">{text}</div>"),
        }
    }

    fn counter(&mut self) -> String {
        let count = self.next(1_000_000);
        match self.next(3) {
            0 => format!("<p>You are visitor number {count}.</p>"),
            1 => format!("<div>Seen {count} times</div>"),
            _ => format!("<p><small>Generated in 0.{count} seconds</small></p>"),
        }
    }

    fn date(&mut self) -> String {
        let (day, hour, minute) = (1 + self.next(28), self.next(24), self.next(60));
        format!("<p>Last visit: {day} May 2026, {hour:02}:{minute:02}</p>")
    }

    fn navigation(&mut self) -> String {
        let count = 5 + self.next(20);
        let items: String = (0..count)
            .map(|_| {
                let (path, text) = (self.word(), self.word());
                format!("<li><a href=\"/{path}\">{text}</a></li>")
            })
            .collect();
        match self.next(3) {
            0 => format!("<nav><ul>{items}</ul></nav>"),
            1 => format!("<div class=\"main-menu\"><ul>{items}</ul></div>"),
            _ => format!("<ul>{items}</ul>"),
        }
    }

    /// The page with navigation before it, noise between its paragraphs and after it, and session ids on its links.
    fn page(&mut self, html: &str) -> String {
        let mut noisy = String::with_capacity(html.len() * 2);
        let body = html.find("<body").and_then(|at| html[at..].find('>').map(|end| at + end + 1)).unwrap_or(0);
        noisy.push_str(&html[..body]);
        noisy.push_str(&self.navigation());
        let paragraphs = html[body..].matches("</p>").count().max(1);
        let (first, second) = (self.next(paragraphs), self.next(paragraphs));
        for (i, part) in html[body..].split_inclusive("</p>").enumerate() {
            noisy.push_str(part);
            if part.ends_with("</p>") && (i == first || i == second) {
                noisy.push_str(&self.advertisement());
            }
        }
        let end = noisy.rfind("</body").unwrap_or(noisy.len());
        let (counter, date) = (self.counter(), self.date());
        noisy.insert_str(end, &format!("{counter}{date}"));
        let session = format!("{:08x}", self.next(1 << 30));
        let mut with_sessions = String::with_capacity(noisy.len() * 2);
        let mut parts = noisy.split(".html\"");
        with_sessions.push_str(parts.next().unwrap_or_default());
        for part in parts {
            with_sessions.push_str(".html?sid=");
            with_sessions.push_str(&session);
            with_sessions.push('"');
            with_sessions.push_str(part);
        }
        with_sessions
    }
}

fn prepare(preparer: &mut Preparer, url: &str, html: &str) -> Prepared {
    data::prepare(preparer, url, "text/html; charset=utf-8", html.as_bytes())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn injected_noise_does_not_matter() {
    let mut judged = 0;
    let mut missed = Vec::new();
    let mut preparer = Preparer::new(data::keys());
    for (archive, ending, every) in [
        ("html/readability-pages.tar.xz", "source.html", 1),
        ("docs/postgresql.tar.xz", ".html", 6),
        ("docs/python.tar.xz", ".html", 4),
    ] {
        let folder = data::unpacked(archive);
        for (i, name) in data::files(&folder, ending).iter().enumerate().step_by(every) {
            let html = String::from_utf8_lossy(&std::fs::read(folder.join(name)).expect("readable")).into_owned();
            let original = prepare(&mut preparer, name, &html);
            if original.page.signature.is_none() {
                continue;
            }
            let mut noise = Noise(i as u64 * 7919 + 1);
            let copy = prepare(&mut preparer, &format!("//copy.example/{name}"), &noise.page(&html));
            let other = prepare(&mut preparer, &format!("//other.example/{name}"), &noise.page(&html));
            for pair in [(&original, &copy), (&copy, &other)] {
                judged += 1;
                if !data::duplicates(pair.0, pair.1, DISTANCE) {
                    let look = (data::distance(pair.0, pair.1), data::look(pair.0, pair.1));
                    missed.push(format!("{name}: {look:?}"));
                }
            }
        }
    }
    missed.iter().for_each(|miss| println!("  missed {miss}"));
    let share = 1.0 - missed.len() as f64 / judged as f64;
    println!("noise: {judged} pairs, {:.4} judged duplicates", share);
    assert!(share >= 0.99);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn equal_chrome_does_not_make_duplicates() {
    let folder = data::unpacked("html/readability-pages.tar.xz");
    let mut reader = Reader::default();
    let mut noise = Noise(42);
    // Paragraphs of real articles, distributed over many small pages that all have the same chrome.
    let mut paragraphs = Vec::new();
    for name in data::files(&folder, "expected.html") {
        let html = String::from_utf8_lossy(&std::fs::read(folder.join(&name)).expect("readable")).into_owned();
        data::read(&mut reader, &name, "text/html; charset=utf-8", html.as_bytes());
        paragraphs.extend(
            reader.text().lines().filter(|line| line.split_whitespace().count() >= 25).map(|line| line.to_owned()),
        );
    }
    paragraphs.sort();
    paragraphs.dedup();
    let mut preparer = Preparer::new(data::keys());
    let mut pairs = 0u32;
    let mut wrong = 0u32;
    for (labelled, sentences) in [(true, 60), (false, 0)] {
        let navigation: String =
            (0..60).map(|i| format!("<li><a href=\"/s{i}\">{}</a></li>", noise.words(2))).collect();
        let (footer, notice) = (noise.words(sentences.max(20)), noise.words(30));
        let navigation =
            if labelled { format!("<nav><ul>{navigation}</ul></nav>") } else { format!("<ul>{navigation}</ul>") };
        let pages: Vec<_> = paragraphs
            .chunks(2)
            .enumerate()
            .map(|(i, text)| {
                let html = format!(
                    "<html><body>{navigation}<h1>{}</h1><p>{}</p><div id=\"cookie-notice\">{notice}</div>\
                     <footer><p>{footer}</p></footer></body></html>",
                    noise.words(3),
                    text.join("</p><p>")
                );
                prepare(&mut preparer, &format!("article/{i}"), &html)
            })
            .collect();
        for a in 0..pages.len() {
            for b in a + 1..pages.len() {
                pairs += 1;
                wrong += u32::from(data::duplicates(&pages[a], &pages[b], DISTANCE));
            }
        }
    }
    println!("equal chrome: {pairs} pairs of different articles, {wrong} judged duplicates");
    assert!(f64::from(wrong) <= f64::from(pairs) * 0.005);
}
