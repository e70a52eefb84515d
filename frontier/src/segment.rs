//! Tells path segments that are words from those that are identifiers.

/// Whether a path segment may be an identifier and not a word: it is long and has a digit.
pub fn is_id(segment: &str) -> bool {
    segment.len() >= 6
        && segment.bytes().any(|byte| byte.is_ascii_digit())
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~'))
}
