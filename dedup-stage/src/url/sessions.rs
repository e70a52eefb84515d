//! Session ids in URLs: parameters of query and path, and ASP.NET's path segments.

/// Names of parameters that have nothing but a session id, in lower case and in order.
const NAMES: [&str; 8] =
    ["asp.net_sessionid", "cfid", "cftoken", "jsessionid", "oscsid", "phpsessid", "xtsid", "zenid"];

/// Names of parameters that may also have something else, such as the number of a session of a conference. They count
/// as a session if their value looks like an id.
const AMBIGUOUS: [&str; 9] = ["s", "sess", "session", "sesskey", "sid", "ssid", "sessid", "sessionid", "session_id"];

/// Whether a parameter is a session id. Names are compared without case.
pub(super) fn is_session(name: &[u8], value: &[u8]) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
    match name.len() {
        // ASPSESSIONID is followed by eight letters of the server's choice.
        20 => name[..12].eq_ignore_ascii_case(b"aspsessionid"),
        1..=17 => NAMES.iter().any(is) || (AMBIGUOUS.iter().any(is) && is_id(value)),
        _ => false,
    }
}

/// Whether a parameter is a session id only because of its value. Its name may also stand for something else.
pub(super) fn is_doubtful(name: &str, value: &str) -> bool {
    AMBIGUOUS.iter().any(|known| name.eq_ignore_ascii_case(known)) && is_id(value.as_bytes())
}

/// Whether a value looks like an id: at least sixteen letters and digits, with so many digits that it is no word.
fn is_id(value: &[u8]) -> bool {
    let digits = value.iter().filter(|octet| octet.is_ascii_digit()).count();
    (16..=128).contains(&value.len())
        && value.iter().all(|octet| octet.is_ascii_alphanumeric() || b"-_,".contains(octet))
        && digits * 5 >= value.len()
}

/// Whether a path segment is ASP.NET's cookieless session: `(S(lit3py55t21z5v55vlm25s55))`, also with other letters.
pub(super) fn is_session_segment(segment: &[u8]) -> bool {
    let Some(mut rest) = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")) else { return false };
    let mut found = false;
    while let [letter, b'(', inner @ ..] = rest {
        let Some(end) = inner.iter().position(|octet| *octet == b')') else { return false };
        let token = &inner[..end];
        if !letter.is_ascii_uppercase()
            || !token.iter().all(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(octet))
        {
            return false;
        }
        found |= token.len() >= 20;
        rest = &inner[end + 1..];
    }
    found && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_sessions() {
        for name in ["PHPSESSID", "jsessionid", "CFTOKEN", "ASPSESSIONIDQQBBRCTD", "ASP.NET_SessionId", "osCsid"] {
            assert!(is_session(name.as_bytes(), b"1"), "{name}");
        }
        for name in ["", "id", "page", "sessions", "ASPSESSIONID", "ASPSESSIONIDQQBBRCTDX", "sidebar"] {
            assert!(!is_session(name.as_bytes(), b"0123456789abcdef0123456789abcdef"), "{name}");
        }
    }

    #[test]
    fn names_that_are_sessions_by_their_value() {
        for value in ["0123456789abcdef", "k3j4h5k3j4h5k3j4h5k3j4h5k3", "9a4c6b1f-22aa-4bb0-8f6e-0123456789ab"] {
            assert!(is_session(b"sid", value.as_bytes()) && is_session(b"SESSION", value.as_bytes()), "{value}");
        }
        for name in ["session_id", "sessionId", "sessid"] {
            assert!(is_session(name.as_bytes(), b"0123456789abcdef") && !is_session(name.as_bytes(), b"12"), "{name}");
        }
        for value in ["", "5", "123456789012345", "internationalization", "a b c d e f 1 2 3", "winter-collection-2024"]
        {
            assert!(!is_session(b"sid", value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn segments_that_are_sessions() {
        for segment in
            ["(S(lit3py55t21z5v55vlm25s55))", "(X(1)S(lit3py55t21z5v55vlm25s55))", "(F(abcdefghij_klmnopqr-stuv))"]
        {
            assert!(is_session_segment(segment.as_bytes()), "{segment}");
        }
        for segment in
            ["", "()", "(S())", "(S(short))", "(s(lit3py55t21z5v55vlm25s55))", "(S(lit3py55t21z5v55vlm25s55)", "S(x)"]
        {
            assert!(!is_session_segment(segment.as_bytes()), "{segment}");
        }
    }
}
