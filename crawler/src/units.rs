//! Numbers as people read them: grouped digits, shares, sizes, durations. Terminal, live page and report use the same
//! words.

/// Digits in groups of three: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, which is in the plural unless the count is one: `1 page`, `2 pages`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `part` of `whole` in per cent, with one decimal below ten. A dash if the whole is 0.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".into();
    }
    let share = 100.0 * part as f64 / whole as f64;
    if share == 0.0 || share >= 10.0 { format!("{share:.0} %") } else { format!("{share:.1} %") }
}

/// Bytes: `812 B`, `4.2 KiB`, `17 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut size = n as f64;
    let mut unit = 0;
    // A size that would be rounded to 1024 is shown as 1 of the next unit.
    while size >= 1023.5 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 || size >= 9.95 { format!("{size:.0} {}", UNITS[unit]) } else { format!("{size:.1} {}", UNITS[unit]) }
}

/// A duration in its two largest units: `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 20 min`, `12 d 4 h`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// A moment without fractions of seconds: `2026-01-02 03:04:05` for `2026-01-02T03:04:05.678Z`. Any other text stays as
/// it is.
pub fn moment(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..19)) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time}"),
        _ => rfc3339.into(),
    }
}

/// A rate. Below a hundred it has one decimal.
pub fn rate(per_second: f64) -> String {
    if per_second >= 99.95 { count(per_second.round() as u64) } else { format!("{per_second:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2_000].map(|n| counted(n, "page")), ["0 pages", "1 page", "2,000 pages"]);
        assert_eq!(
            [(0, 0), (0, 5), (1, 3), (1, 40), (3, 3)].map(|(a, b)| share(a, b)),
            ["–", "0 %", "33 %", "2.5 %", "100 %"]
        );
        let sizes = [0, 1_023, 1_024, 9_999, 10_240, 1_048_575, 5 << 30, u64::MAX];
        assert_eq!(
            sizes.map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "9.8 KiB", "10 KiB", "1.0 MiB", "5.0 GiB", "16384 PiB"]
        );
        let times = [0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 90_000_000];
        assert_eq!(
            times.map(duration),
            ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 00 s", "59 min 59 s", "1 h 00 min", "23 h 59 min", "1 d 1 h"]
        );
        assert_eq!(moment("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05");
        assert_eq!(moment("soon"), "soon");
        assert_eq!([0.0, 9.96, 99.96, 12_345.6].map(rate), ["0.0", "10.0", "100", "12,346"]);
    }
}
