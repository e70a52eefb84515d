//! PDF files through the built program: honest ones, broken ones, and ones that would end a process which read them
//! itself.

use std::time::{Duration, Instant};

use crawler::pdf::{Document, Limits, PdfError, Program, read};

fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_crawler"))
}

/// A file of numbered objects, with its table of places.
fn file(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", n + 1).into_bytes());
    }
    let start = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    bytes.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
    let size = objects.len() + 1;
    bytes
        .extend(format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
    bytes
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< /Length {} {dictionary} >>\nstream\n{content}\nendstream", content.len())
}

/// A file with one page for each text.
fn pages(texts: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..texts.len()).map(|n| format!("{} 0 R", 5 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), texts.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Title (A  title) >>".to_owned(),
    ];
    for (n, text) in texts.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> \
             /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI (http://a.test/{n}) >> >> \
             << /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A << /S /URI /URI (http://a.test/all) >> >>] >>",
            6 + 2 * n
        ));
        objects.push(stream("", &format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET")));
    }
    file(&objects, "/Info 4 0 R")
}

#[test]
fn text_title_and_links_are_read() {
    let document = read(&program(), &pages(&["Hello world", "second page"]), &Limits::default()).expect("a PDF");
    let expected = Document {
        title: "A title".into(),
        text: "Hello world\n\nsecond page".into(),
        links: ["http://a.test/0", "http://a.test/all", "http://a.test/1"].map(String::from).to_vec(),
        links_cut: 0,
        pages: 2,
        pages_cut: 0,
    };
    assert_eq!(document, expected);
}

#[test]
fn text_is_kept_up_to_the_limit() {
    let limits = Limits { text: 20, ..Limits::default() };
    let document = read(&program(), &pages(&["Hello world", "second page", "third page"]), &limits).expect("a PDF");
    assert_eq!((document.text.as_str(), document.pages_cut), ("Hello world\n\nsecond ", 1));
}

/// Catches an allocator that has reserved memory before the limit is set, so that the limit does not hold.
#[test]
fn the_limit_of_memory_holds() {
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"].map(str::to_owned);
    let large = [&objects[..], &[format!("({})", "x".repeat(48 << 20))]].concat();
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let read_it = read(&program(), &file(&large, ""), &limits);
    assert!(read_it.is_err(), "{:?}", read_it.map(|document| document.pages));
    assert_eq!(read(&program(), &file(&objects, ""), &limits).map(|document| document.pages), Ok(0), "the control");
    let more = Limits { memory: 1 << 30, ..limits };
    assert_eq!(read(&program(), &file(&large, ""), &more).map(|document| document.pages), Ok(0), "with more memory");
}

/// Catches a reply that grows with the file. Its parent holds it several times.
#[test]
fn title_links_and_characters_are_bounded() {
    let link = |n| format!("<< /Subtype /Link /A << /S /URI /URI (http://a.test/{n}/{}) >> >>", "l".repeat(2_000));
    let annotations: String = (0..2_000).map(link).collect();
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Annots [{annotations}] >>"),
        format!("<< /Title ({}) >>", "long \\001".repeat(1_000_000)),
    ];
    let document = read(&program(), &file(&objects, "/Info 4 0 R"), &Limits::default()).expect("a PDF");
    assert!((990..=1_000).contains(&document.title.len()) && document.title.starts_with("long long"));
    let bytes: usize = document.links.iter().map(String::len).sum();
    assert!(bytes <= config::bounds::LINK_BYTES && bytes > config::bounds::LINK_BYTES - 3_000, "{bytes}");
    assert_eq!(document.links.len() + document.links_cut, 2_000);
    assert!(document.bytes() < 2 << 20);
    let odd = read(&program(), &pages(&[&"a\\001b ".repeat(1_000)]), &Limits::default()).expect("a PDF");
    assert!(odd.text.len() >= 2_000 && !odd.text.contains(char::is_control), "{:?}", odd.text.get(..20));
}

#[test]
fn what_is_no_pdf_says_so() {
    for bytes in [&b""[..], b"hello", b"%PDF-1.7\n", &pages(&["x"])[..200]] {
        assert!(matches!(read(&program(), bytes, &Limits::default()), Err(PdfError::Unreadable(_))));
    }
    let absent = read(&Program::at("/no/such/program"), &pages(&["x"]), &Limits::default());
    assert!(matches!(absent, Err(PdfError::NoChild(_))));
}

/// Files that take a process with them, or a processor for good. Whatever comes of them comes soon.
#[test]
fn hostile_files_cost_their_slot_only() {
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();
    let page = |contents: &str| {
        let head = "/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >>";
        format!("<< {head} /Contents {contents} >>")
    };
    let list = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned();
    let with_content = |content: String| file(&[catalog.clone(), list.clone(), page("4 0 R"), content], "");
    let limits = Limits { memory: 256 << 20, seconds: 3, deadline: Duration::from_secs(6), ..Limits::default() };
    for (name, bytes) in [
        (
            "a list of pages that holds itself",
            file(&[catalog.clone(), "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>".into()], ""),
        ),
        ("content that is its own length", with_content("<< /Length 4 0 R >>\nstream\nx\nendstream".into())),
        ("a reference to itself", file(&[catalog.clone(), "2 0 R".into()], "")),
        (
            "nested without end",
            file(&[catalog.clone(), format!("{}{}", "[".repeat(2_000_000), "]".repeat(2_000_000))], ""),
        ),
        ("nested content", with_content(stream("", &"[".repeat(2_000_000)))),
        ("nested dictionaries", file(&[catalog.clone(), "<< /A ".repeat(500_000)], "")),
        ("a table of places that leads back to itself", {
            let mut bytes = pages(&["x"]);
            let start = String::from_utf8_lossy(&bytes).find("xref").expect("a table");
            let text = String::from_utf8_lossy(&bytes).replace("/Root 1 0 R", &format!("/Prev {start} /Root 1 0 R"));
            bytes = text.into_bytes();
            bytes
        }),
        ("white space that unpacks", with_content(bomb())),
        ("a form that draws itself", {
            let form = "/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 4 0 R >> >>";
            let head = "/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /XObject << /X 4 0 R >> >>";
            let objects = [
                catalog.clone(),
                list.clone(),
                format!("<< {head} /Contents 5 0 R >>"),
                stream(form, "/X Do /X Do"),
                stream("", "/X Do"),
            ];
            file(&objects, "")
        }),
    ] {
        let started = Instant::now();
        let outcome = read(&program(), &bytes, &limits);
        println!("{name}: {:?} after {:?}", outcome.as_ref().map(|document| document.text.len()), started.elapsed());
        assert!(started.elapsed() < Duration::from_secs(60), "{name}");
        assert!(outcome.is_err() || outcome.is_ok_and(|document| document.text.len() < 1_000), "{name}");
    }
    // The control: the limits let an honest file pass.
    assert_eq!(read(&program(), &pages(&["fine"]), &limits).expect("a PDF").text, "fine");
}

/// A content stream of as much white space as the child may have memory, packed twice.
fn bomb() -> String {
    use std::io::Write;
    // ASCIIHex keeps the file text.
    let pack = |bytes: &mut dyn std::io::Read| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::copy(bytes, &mut encoder).expect("memory");
        encoder.flush().expect("memory");
        encoder.finish().expect("memory")
    };
    let once = pack(&mut std::io::Read::take(std::io::repeat(b' '), 1 << 28));
    let twice = pack(&mut once.as_slice());
    let hex: String = twice.iter().map(|byte| format!("{byte:02x}")).collect();
    stream("/Filter [/ASCIIHexDecode /FlateDecode /FlateDecode]", &format!("{hex}>"))
}
