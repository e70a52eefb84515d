//! The names of schemes, as the user writes them and tables show them.

use std::fmt;
use std::str::FromStr;

use super::{Feature, Scheme, Weight, Weighted};
use crate::evaluate::schemes::document::Part;

const WEIGHTS: [(Weight, &str); 5] =
    [(Weight::One, "one"), (Weight::Count, "tf"), (Weight::Log, "log"), (Weight::Root, "sqrt"), (Weight::Idf, "idf")];

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::Words => f.write_str("words"),
            Feature::Shingles(width) => write!(f, "shingles{width}"),
            Feature::Characters(width) => write!(f, "chars{width}"),
            Feature::Phrases => f.write_str("phrases"),
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WEIGHTS.iter().find(|(weight, _)| weight == self).map_or("", |(_, name)| name))
    }
}

impl fmt::Display for Weighted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Weighted { feature, weight, bits, .. } = self;
        f.write_str(if *bits == 64 { "simhash" } else { "simhash32" })?;
        write!(f, "-{feature}-{weight}")?;
        let mut own = *self;
        options(&mut own).into_iter().filter(|(_, on)| **on).try_for_each(|(name, _)| write!(f, "+{name}"))
    }
}

/// The options of a recipe, by their names.
fn options(recipe: &mut Weighted) -> Vec<(&'static str, &mut bool)> {
    let prose = &mut recipe.prose;
    let mut options = vec![("stop", &mut prose.stop), ("stem", &mut prose.stem), ("digits", &mut prose.digits)];
    options.extend(Part::ALL.iter().map(|(_, name)| *name).zip(&mut recipe.parts));
    options
}

/// The recipe with this name.
fn recipe(name: &str) -> Option<Weighted> {
    let mut parts = name.split('+');
    let mut words = parts.next()?.split('-');
    let bits = match words.next()? {
        "simhash" => 64,
        "simhash32" => 32,
        _ => return None,
    };
    let (feature, weight) = (words.next()?, words.next()?);
    let width = |prefix| feature.strip_prefix(prefix)?.parse().ok().filter(|n: &usize| *n > 0);
    let feature = match feature {
        "words" => Feature::Words,
        "phrases" => Feature::Phrases,
        _ => width("shingles").map(Feature::Shingles).or_else(|| width("chars").map(Feature::Characters))?,
    };
    let (weight, _) = WEIGHTS.iter().find(|(_, name)| *name == weight)?;
    let mut recipe = Weighted { bits, ..Weighted::new(feature, *weight) };
    for option in parts {
        *options(&mut recipe).into_iter().find(|(name, _)| *name == option)?.1 = true;
    }
    words.next().is_none().then_some(recipe)
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Cascade => f.write_str("cascade"),
            Scheme::Simhash(recipe) => write!(f, "{recipe}"),
            Scheme::MultiSimhash(lexicons) => write!(f, "multisimhash{lexicons}"),
            Scheme::Resemblance(width) => write!(f, "resemblance{width}"),
            Scheme::Containment(width) => write!(f, "containment{width}"),
            Scheme::Cosine => f.write_str("cosine"),
            Scheme::Edit => f.write_str("edit"),
            Scheme::Minima(t) => write!(f, "minhash{t}"),
            Scheme::Bottom(t) => write!(f, "bottom{t}"),
            Scheme::Bits(t, bits) => write!(f, "minhash{t}-{bits}bit"),
            Scheme::Features => f.write_str("features"),
            Scheme::SuperFeatures => f.write_str("superfeatures"),
            Scheme::Combined => f.write_str("features-simhash"),
            Scheme::Modulo(p) => write!(f, "modulo{p}"),
            Scheme::Winnowing(window) => write!(f, "winnowing{window}"),
            Scheme::IMatch(0) => f.write_str("imatch"),
            Scheme::IMatch(lexicons) => write!(f, "imatch{lexicons}"),
            Scheme::Buckets(buckets) => write!(f, "buckets{buckets}"),
            Scheme::WordsAndRuns => f.write_str("words-and-runs"),
        }
    }
}

impl FromStr for Scheme {
    type Err = String;

    /// The scheme with this name. The numbers in the name need not be those of [`Scheme::all`].
    fn from_str(name: &str) -> Result<Self, String> {
        let number =
            |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok()).filter(|n| *n > 0);
        let wide = |n: u32| n as usize;
        let bits = |rest: &str| {
            let (t, bits) = rest.split_once('-')?;
            let bits = bits.strip_suffix("bit")?.parse().ok().filter(|bits| (1..=16).contains(bits))?;
            Some(Scheme::Bits(t.parse().ok().filter(|t| *t > 0)?, bits))
        };
        let found = match name {
            "cascade" => Some(Scheme::Cascade),
            "cosine" => Some(Scheme::Cosine),
            "edit" => Some(Scheme::Edit),
            "features" => Some(Scheme::Features),
            "superfeatures" => Some(Scheme::SuperFeatures),
            "features-simhash" => Some(Scheme::Combined),
            "imatch" => Some(Scheme::IMatch(0)),
            "words-and-runs" => Some(Scheme::WordsAndRuns),
            _ => (recipe(name).map(Scheme::Simhash))
                .or_else(|| number("multisimhash").map(|n| Scheme::MultiSimhash(n.into())))
                .or_else(|| number("resemblance").map(|n| Scheme::Resemblance(wide(n))))
                .or_else(|| number("containment").map(|n| Scheme::Containment(wide(n))))
                .or_else(|| number("minhash").map(|n| Scheme::Minima(wide(n))))
                .or_else(|| name.strip_prefix("minhash").and_then(bits))
                .or_else(|| number("bottom").map(|n| Scheme::Bottom(wide(n))))
                .or_else(|| number("modulo").map(|n| Scheme::Modulo(n.into())))
                .or_else(|| number("winnowing").map(|n| Scheme::Winnowing(wide(n))))
                .or_else(|| number("imatch").map(|n| Scheme::IMatch(n.into())))
                .or_else(|| number("buckets").map(|n| Scheme::Buckets(wide(n)))),
        };
        found.ok_or_else(|| {
            let names: Vec<String> = Scheme::all().iter().map(Scheme::to_string).collect();
            let options: Vec<&str> =
                options(&mut Weighted::new(Feature::Words, Weight::One)).iter().map(|o| o.0).collect();
            format!(
                "unknown scheme {name:?}; there are {}; simhashes take the options +{}",
                names.join(", "),
                options.join(", +")
            )
        })
    }
}
