//! The child process: it sets its own limits, and then reads the file.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use pdf_extract::{Document as Pdf, Object, PlainTextOutput, decode_text_string, output_doc_page};
use rlimit::Resource;

use crate::extract::head;

use super::{ARGUMENT, Document, MAX_LINK_BYTES, MAX_LINKS, MAX_TITLE, Reply};

/// Runs as the child if the arguments of this process say so. Returns the exit code then.
pub fn child_main() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let [_, argument, memory, seconds, text] = arguments.as_slice() else { return None };
    if argument != ARGUMENT {
        return None;
    }
    let (Ok(memory), Ok(seconds), Ok(text)) = (memory.parse(), seconds.parse(), text.parse()) else {
        return Some(ExitCode::from(2));
    };
    Some(match confine(memory, seconds).map(|()| run(text)) {
        Ok(reply) => answer(&reply),
        Err(_) => ExitCode::FAILURE,
    })
}

/// Sets limits of this process that no code in it can lift.
fn confine(memory: u64, seconds: u64) -> std::io::Result<()> {
    Resource::CORE.set(0, 0)?;
    Resource::FSIZE.set(0, 0)?;
    Resource::NOFILE.set(16, 16)?;
    Resource::CPU.set(seconds, seconds)?;
    Resource::AS.set(memory, memory)
}

fn answer(reply: &Reply) -> ExitCode {
    let mut line = b"\n".to_vec();
    let written = serde_json::to_writer(&mut line, reply).map_err(std::io::Error::from);
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    match written.and_then(|()| out.write_all(&line)).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(most_text: usize) -> Reply {
    // The parent gets the reason of the panic. A backtrace on stderr would be of no use.
    std::panic::set_hook(Box::new(|_| {}));
    let mut file = Vec::new();
    if let Err(error) = std::io::stdin().lock().read_to_end(&mut file) {
        return Reply::Unreadable(error.to_string());
    }
    match catch_unwind(|| open(&file)) {
        Ok(Ok(pdf)) => Reply::Read(document(&pdf, most_text)),
        Ok(Err(why)) => Reply::Unreadable(why),
        Err(_) => Reply::Unreadable("the reader panicked".into()),
    }
}

/// Opens a file. Files that are encrypted with an empty password are read like others, because PDF viewers do this,
/// too.
fn open(file: &[u8]) -> Result<Pdf, String> {
    let mut pdf = Pdf::load_mem(file).map_err(|error| error.to_string())?;
    if pdf.is_encrypted() {
        pdf.decrypt("").map_err(|_| "it needs a password".to_owned())?;
    }
    Ok(pdf)
}

fn document(pdf: &Pdf, most_text: usize) -> Document {
    let numbers: Vec<u32> =
        catch_unwind(AssertUnwindSafe(|| pdf.get_pages())).unwrap_or_default().into_keys().collect();
    let mut found = Document { pages: numbers.len(), ..Document::default() };
    found.title = catch_unwind(AssertUnwindSafe(|| title(pdf))).ok().flatten().unwrap_or_default();
    for number in numbers {
        if found.text.len() >= most_text {
            found.pages_cut += 1;
            continue;
        }
        let mut text = String::new();
        let read = catch_unwind(AssertUnwindSafe(|| {
            output_doc_page(pdf, &mut PlainTextOutput::new(&mut text), number).is_ok()
        }));
        found.pages_cut += usize::from(!read.unwrap_or(false));
        if !found.text.is_empty() {
            found.text.push_str("\n\n");
        }
        // Control characters say nothing, and would take six bytes each on the way to the parent.
        found.text.extend(text.trim().chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }));
    }
    found.text.truncate(head(&found.text, most_text).len());
    (found.links, found.links_cut) = catch_unwind(AssertUnwindSafe(|| links(pdf))).unwrap_or_default();
    found
}

/// At most this much of a title is looked at, in bytes.
const MAX_TITLE_READ: usize = 64 << 10;

fn title(pdf: &Pdf) -> Option<String> {
    let info = resolve(pdf, pdf.trailer.get(b"Info").ok()?)?.as_dict().ok()?;
    let title = decode_text_string(info.get(b"Title").ok()?).ok()?;
    let words = |title: &str| title.replace(char::is_control, " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let title = words(head(&title, MAX_TITLE_READ));
    Some(head(&title, MAX_TITLE).trim_end().to_owned())
}

/// The addresses of link annotations, in the order of the pages, and the number of those that are left out.
fn links(pdf: &Pdf) -> (Vec<String>, usize) {
    let (mut found, mut seen, mut cut, mut bytes) = (Vec::new(), HashSet::new(), 0, 0);
    for page in pdf.get_pages().into_values() {
        let annotations = pdf.get_dictionary(page).and_then(|page| page.get(b"Annots"));
        let Some(annotations) = annotations.ok().and_then(|list| resolve(pdf, list)?.as_array().ok()) else { continue };
        for address in annotations.iter().filter_map(|annotation| address(pdf, annotation)) {
            if seen.contains(&address) {
                continue;
            }
            if found.len() >= MAX_LINKS || bytes + address.len() > MAX_LINK_BYTES {
                cut += 1;
                continue;
            }
            bytes += address.len();
            seen.insert(address.clone());
            found.push(address);
        }
    }
    (found, cut)
}

fn address(pdf: &Pdf, annotation: &Object) -> Option<String> {
    let action = resolve(pdf, resolve(pdf, annotation)?.as_dict().ok()?.get(b"A").ok()?)?;
    match resolve(pdf, action.as_dict().ok()?.get(b"URI").ok()?)? {
        Object::String(bytes, _) => Some(String::from_utf8_lossy(bytes).trim().replace(char::is_control, "")),
        _ => None,
    }
}

/// The object to which a reference leads. Any other object is returned itself.
fn resolve<'a>(pdf: &'a Pdf, object: &'a Object) -> Option<&'a Object> {
    pdf.dereference(object).ok().map(|(_, object)| object)
}
