//! Parts that all readers of JSON Lines share: they skip a mark at the start of the input, and tell an array from a
//! line that is merely wrong.

/// The mark that some editors put before a text to say that it is UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The message for an array, in place of the parser's message.
pub const NO_ARRAY: &str =
    "JSON Lines are wanted, one object a line, and not an array (jq -c '.[]' turns one into lines)";

/// The first line of an input without its mark.
pub fn unmarked(first: &[u8]) -> &[u8] {
    first.strip_prefix(MARK).unwrap_or(first)
}

/// Whether a line begins an array.
pub fn begins_array(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"[")
}

/// The message about a line that is wrong.
pub fn mistake(line: &[u8], error: &serde_json::Error) -> String {
    if begins_array(line) { NO_ARRAY.into() } else { error.to_string() }
}
