//! Durations (`500ms`, `2s`, `1h`), sizes (`10MiB`) and shares (`5%`, `10%..90%`) as people write them.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A share of something, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// The smallest and the largest value of a share: `10%..90%`. One share alone is both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The smallest value.
    pub least: Share,
    /// The largest value.
    pub most: Share,
}

const TIMES: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: [(&str, u64); 8] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

impl Duration {
    /// The same time as a duration of the standard library.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

fn parse(text: &str, units: &[(&str, u64)], example: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| format!("{text:?} is not a number with a unit, such as {example}"))?;
    let unit = unit.trim();
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, factor)| *factor);
    match factor {
        Some(factor) => Ok((number * factor as f64).round() as u64),
        None if number == 0.0 && unit.is_empty() => Ok(0),
        None => {
            let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
            Err(format!("{text:?} needs a unit ({}), such as {example}", names.join(", ")))
        }
    }
}

fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let largest =
        units.iter().rev().filter(|(_, factor)| value > 0 && value.is_multiple_of(*factor)).max_by_key(|(_, f)| *f);
    let (name, factor) = largest.unwrap_or(&units[0]);
    write!(f, "{}{name}", value / factor)
}

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text, &TIMES, "500ms, 2s or 1h").map(Self)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text, &SIZES, "10MiB").map(Self)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim(), 100.0),
            None => (text.trim(), 1.0),
        };
        let share = number.parse::<f64>().ok().map(|number| number / unit).filter(|share| (0.0..=1.0).contains(share));
        share.map(Self).ok_or_else(|| format!("{text:?} is not a share from 0% to 100%, such as 5% or 0.05"))
    }
}

impl FromStr for Shares {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let share = |part: &str| {
            let wrong = |_| format!("{text:?} is not a share such as 30%, and not a range such as 10%..90%");
            part.parse().map_err(wrong)
        };
        let shares = Self { least: share(least)?, most: share(most)? };
        if shares.least > shares.most {
            return Err(format!("{text:?}: the first share is above the second"));
        }
        Ok(shares)
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most { self.least.fmt(f) } else { write!(f, "{}..{}", self.least, self.most) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to a hundred-thousandth of a per cent: 0.07 is 7%, not 7.000000000000001%.
        write!(f, "{}%", (self.0 * 1e7).round() / 1e5)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &TIMES)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &SIZES[..5])
    }
}

impl<'de> Deserialize<'de> for Shares {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Shares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Share, Shares, Size};

    #[test]
    fn reads_what_people_write() {
        for (text, milliseconds) in [("500ms", 500), ("2s", 2_000), ("1.5 m", 90_000), ("1h", 3_600_000), ("0", 0)] {
            assert_eq!(text.parse(), Ok(Duration(milliseconds)), "{text}");
        }
        for (text, bytes) in [("10MiB", 10 << 20), ("1kb", 1_000), ("7B", 7), ("0", 0)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for (text, share) in [("5%", 0.05), (" 5 % ", 0.05), ("0.05", 0.05), ("0", 0.0), ("100%", 1.0), ("0.1%", 0.001)]
        {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
        for text in ["", "%", "-1%", "101%", "2", "NaN", "5 percent"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
        for (text, least, most) in [("30%", 0.3, 0.3), ("10%..90%", 0.1, 0.9), ("0..1", 0.0, 1.0)] {
            assert_eq!(text.parse(), Ok(Shares { least: Share(least), most: Share(most) }), "{text}");
        }
        assert!("10".parse::<Shares>().is_err_and(|error| error.contains("a range such as 10%..90%")));
        for text in ["", "..", "10%..", "90%..10%", "0..2"] {
            assert!(text.parse::<Shares>().is_err(), "{text}");
        }
        for text in ["", "s", "10", "-1s", "1 fortnight", "1.2.3s"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        for value in [0, 1, 999, 1_000, 1_024, 60_000, 86_400_000, 90_061_001, 8 << 20, u32::MAX.into()] {
            assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
            assert_eq!(Size(value).to_string().parse(), Ok(Size(value)));
        }
        for share in [0.0, 0.05, 0.07, 0.001, 1.0] {
            assert_eq!(Share(share).to_string().parse(), Ok(Share(share)));
        }
        for shares in ["5%", "10%..90%"] {
            assert_eq!(shares.parse::<Shares>().map(|shares| shares.to_string()), Ok(shares.into()));
        }
        assert_eq!((Duration(600_000).to_string(), Size(8 << 20).to_string()), ("10m".into(), "8MiB".into()));
    }
}
