//! Files that are no HTML, and that are larger, or more work, than a crawl can afford.

use std::fmt::Write;

use fastrand::Rng;

/// The size of a file that is nearly as large as a body may be.
const LARGE: usize = 8_300_000;

/// A PDF file of one page, with a title of seven megabytes, and with a megabyte of addresses.
pub(super) fn pdf(rng: &mut Rng) -> Vec<u8> {
    let title: String = (0..1_750_000).map(|_| if rng.bool() { "abc " } else { "xyz " }).collect();
    let link = |n| format!("<< /Subtype /Link /A << /S /URI /URI (http://a.test/{n}/{:x}) >> >>", rng.u64(..));
    let links: String = (0..10_000).map(link).collect();
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Annots [{links}] >>"),
        format!("<< /Title ({title}) >>"),
    ];
    let (mut file, mut places) = (String::from("%PDF-1.4\n"), String::new());
    for (n, object) in objects.iter().enumerate() {
        let _ = writeln!(places, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 5\n0000000000 65535 f \n{places}");
    let _ = write!(file, "trailer\n<< /Size 5 /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

/// A JSON feed of one item, with a URL of eight megabytes.
pub(super) fn json(host: &str, rng: &mut Rng) -> String {
    let head = format!("{{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"{:x}\",", rng.u64(..));
    format!("{head}\"items\":[{{\"url\":\"http://{host}/{}\"}}]}}", "l".repeat(8_000_000))
}

/// A `tdmrep.json` of this many bytes.
pub(super) fn rights(bytes: usize) -> String {
    let mut file = String::from("[");
    for n in 0.. {
        let _ = write!(file, "{{\"location\":\"/{n}/*\",\"tdm-reservation\":1}}");
        if file.len() > bytes {
            break;
        }
        file.push(',');
    }
    file + "]"
}

/// Markdown with links of each form that do not end.
pub(super) fn markdown(rng: &mut Rng) -> String {
    let mut text = format!("# {:x}\n\n", rng.u64(..));
    for open in ["<http://", "[a](<", "[a](", "](()"] {
        text += &open.repeat(LARGE / 4 / open.len());
        text.push('\n');
    }
    text
}
