//! Hosts that stand out: those that held slots for nothing, and those under the automatic ceiling.

use frontier::HostNote;

use super::super::html::{Web, put};
use super::{Table, count};
use crate::units;

/// The sentence about the table of hosts that stand out.
pub const ABOUT_NOTES: &str = "A host loses its slot where it makes too little progress while others wait, or none until a \
     time-out; then others go first. A host whose pages bring little text of their own gets a longer delay (the automatic ceiling).";

/// At most `most` hosts that lost slots, or that are under the ceiling. Writes nothing if there are none.
pub fn notes(out: &mut String, notes: &[HostNote], most: usize) {
    if notes.is_empty() {
        return;
    }
    let mut rows = String::new();
    for note in notes.iter().take(most) {
        put!(rows, "<tr><th scope=\"row\">{}</th>{}", Web(&note.host), count(note.slots_lost.into()));
        let why = note.why.map(|why| why.to_string()).unwrap_or_default();
        put!(rows, "<td>{why}</td><td class=\"n\">{:.1} times</td></tr>\n", note.delay_factor());
    }
    let mut caption = units::counted(notes.len() as u64, "host that stands out");
    if notes.len() > 1 {
        caption = caption.replace("hosts that stands", "hosts that stand");
    }
    let heads = &["host", "#slots lost", "why, the last time", "#delay"];
    Table { id: None, caption: &caption, heads, rows }.put(out);
}
