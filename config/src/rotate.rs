//! The setting that says when outputs begin new files: `auto`, `off`, a size (`1GiB`) or a time (`1d`).

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{Duration, Size};

/// The rule when outputs begin new files, as people write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotate {
    /// A continuous crawl begins new files at [`Rotation::AUTO`] bytes, any other crawl never.
    #[default]
    Auto,
    /// Outputs never begin new files.
    Off,
    /// Outputs begin a new file when a file has this size.
    At(Size),
    /// Outputs begin new files after this time.
    Every(Duration),
}

/// The rule when outputs begin new files, after `auto` is resolved. Without size and period they never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Size in bytes at which a file is closed.
    pub size: Option<u64>,
    /// Time in milliseconds after which files are closed.
    pub period: Option<u64>,
}

impl Rotation {
    /// Size in bytes at which a continuous crawl closes files by default.
    pub const AUTO: u64 = 1 << 30;
}

impl Rotate {
    /// The rule for a crawl that is continuous or not.
    pub(crate) fn resolved(self, continuous: bool) -> Rotation {
        match self {
            Self::Auto => Rotation { size: continuous.then_some(Rotation::AUTO), period: None },
            Self::Off => Rotation::default(),
            Self::At(size) => Rotation { size: Some(size.0), period: None },
            Self::Every(time) => Rotation { size: None, period: Some(time.0) },
        }
    }
}

impl FromStr for Rotate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rotate = match text.trim() {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            text => text.parse().map(Self::At).or_else(|_| text.parse().map(Self::Every)),
        };
        match rotate {
            Ok(Self::At(Size(0)) | Self::Every(Duration(0))) => Err("files of no size: \"off\" ends rotation".into()),
            Ok(rotate) => Ok(rotate),
            Err(_) => {
                Err(format!("{text:?} is not a size such as 1GiB, not a time such as 1d, and not \"auto\" or \"off\""))
            }
        }
    }
}

impl fmt::Display for Rotate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::At(size) => size.fmt(f),
            Self::Every(time) => time.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Rotate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Rotate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layers;

    #[test]
    fn sizes_and_times_are_told_apart_by_their_units() {
        let cases = [
            ("auto", Rotate::Auto),
            ("off", Rotate::Off),
            ("1GiB", Rotate::At(Size(1 << 30))),
            ("20 MB", Rotate::At(Size(20_000_000))),
            ("1d", Rotate::Every(Duration(86_400_000))),
            ("30m", Rotate::Every(Duration(1_800_000))),
        ];
        for (text, rotate) in cases {
            assert_eq!(text.parse(), Ok(rotate), "{text}");
            assert_eq!(rotate.to_string().parse(), Ok(rotate), "{text}");
        }
        for text in ["", "0", "0s", "1", "daily", "1 fortnight", "-1GiB"] {
            assert!(text.parse::<Rotate>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_crawl_without_end_rotates_by_itself() -> Result<(), Box<dyn std::error::Error>> {
        let rotation = |continuous, rotate| -> Result<_, Box<dyn std::error::Error>> {
            let layers = Layers::new().set("refresh.continuous", continuous)?.set("output.rotate", rotate)?;
            Ok(layers.finish()?.rotation())
        };
        let (never, auto) = (Rotation::default(), Rotation { size: Some(Rotation::AUTO), period: None });
        assert_eq!([rotation("false", "auto")?, rotation("true", "off")?], [never; 2]);
        assert_eq!(rotation("true", "auto")?, auto);
        assert_eq!(rotation("false", "1h")?, Rotation { size: None, period: Some(3_600_000) });
        Ok(())
    }
}
