//! Builds the settings from layers: profiles, files, environment variables and flags over the defaults.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::de::DeTable;
use toml::{Spanned, Table, Value};

use crate::check::check;
use crate::defaults::defaults;
use crate::deprecated;
use crate::error::{ConfigError, Origin};
use crate::flags::{flag, keys, variable};
use crate::profiles::PROFILES;
use crate::{Settings, nearest};

/// Settings that are being built. Each call applies a layer on top of the layers so far. So call from the weakest to
/// the strongest: profile, files, environment, flags. Each layer is checked at once, so an error names the place where
/// the mistake was written.
///
/// # Examples
///
/// ```
/// let settings = config::Layers::new()
///     .profile("focused")?
///     .env("CRAWLER_", [("CRAWLER_DELAY".into(), "2s".into())], &[])?
///     .set("dedup.distance", "4")?
///     .finish()?;
/// assert_eq!((settings.dedup.distance, settings.politeness.delay.0), (4, 2_000));
/// # Ok::<(), config::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layers {
    values: Table,
    settings: Settings,
    warnings: Vec<String>,
    /// The place where the value of a key was written, by key.
    origins: BTreeMap<String, Origin>,
    /// Environment variables that are no settings, each with the known variable that looks most like it.
    unknown: Vec<(String, Option<String>)>,
}

impl Default for Layers {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for Settings {
    fn default() -> Self {
        DEFAULTS.settings.clone()
    }
}

/// The defaults. They are read once, because `default.toml` is long.
static DEFAULTS: LazyLock<Layers> = LazyLock::new(|| {
    let values = defaults();
    let settings = read(&values).unwrap_or_else(|(key, reason)| panic!("default.toml: {key}: {reason}"));
    Layers { values, settings, warnings: Vec::new(), origins: BTreeMap::new(), unknown: Vec::new() }
});

impl Layers {
    /// Layers with the defaults only.
    pub fn new() -> Self {
        DEFAULTS.clone()
    }

    /// Messages about things that the user should know although nothing is wrong: deprecated keys, and environment
    /// variables that are no settings.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Applies a profile on top of the layers so far.
    pub fn profile(self, name: &str) -> Result<Self, ConfigError> {
        let Some((name, text)) = PROFILES.iter().find(|(known, _)| *known == name) else {
            return Err(ConfigError::UnknownProfile { name: name.into() });
        };
        self.toml(text, |_| Origin::Profile(name))
    }

    /// Applies the settings in a file on top of the layers so far.
    pub fn file(self, path: &Path) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(path) {
            Ok(text) => self.text(path, &text),
            Err(error) => Err(ConfigError::Unreadable { path: path.into(), error }),
        }
    }

    /// Applies the text of a file on top of the layers so far. `path` is only for error messages.
    pub fn text(self, path: &Path, text: &str) -> Result<Self, ConfigError> {
        self.toml(text, |at| {
            let line = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
            Origin::File { path: path.into(), line }
        })
    }

    /// Applies the stored settings of a directory, with which it was crawled before, on top of the layers so far.
    pub fn stored(self, text: &str) -> Result<Self, ConfigError> {
        self.toml(text, |_| Origin::Stored)
    }

    /// Applies environment variables on top of the layers so far. `CRAWLER_ON_DUPLICATE` sets the same key as the flag
    /// `--on-duplicate`. The value of a list is one item, or several as in TOML: `["a", "b"]`. An unknown variable with
    /// this prefix is an error, unless it is in `others`: the program reads these itself.
    pub fn env(
        self,
        prefix: &str,
        variables: impl IntoIterator<Item = (String, String)>,
        others: &[&str],
    ) -> Result<Self, ConfigError> {
        let mut layers = self.env_of_any(prefix, variables, others)?;
        match layers.unknown.pop() {
            Some((name, nearest)) => Err(ConfigError::UnknownVariable { name, nearest }),
            None => Ok(layers),
        }
    }

    /// Does the same as [`Layers::env`], but an unknown variable only brings a warning. Orchestrators make up names
    /// such as `CRAWLER_SERVICE_HOST`.
    pub fn env_of_any(
        mut self,
        prefix: &str,
        variables: impl IntoIterator<Item = (String, String)>,
        others: &[&str],
    ) -> Result<Self, ConfigError> {
        let deprecated = deprecated::DEPRECATED.iter().map(|(key, _)| (*key).to_owned());
        let known = keys(&self.values).chain(deprecated).map(|key| (variable(prefix, flag(&key)), key));
        let known: Vec<_> = known.collect();
        for (name, text) in variables {
            if !name.starts_with(prefix) || others.contains(&name.as_str()) {
                continue;
            }
            let Some((_, key)) = known.iter().find(|(variable, _)| *variable == name) else {
                let nearest = nearest_variable(&name, known.iter().map(|(variable, _)| variable.as_str()), others);
                let error = ConfigError::UnknownVariable { name: name.clone(), nearest: nearest.clone() };
                self.warnings.push(error.to_string());
                self.unknown.push((name, nearest));
                continue;
            };
            self.lay(key, Value::String(text), || Origin::Variable(name.clone()))?;
        }
        Ok(self)
    }

    /// Applies a flag on top of the layers so far. A text is converted to the type of the key. A list replaces the list
    /// of earlier layers.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Result<Self, ConfigError> {
        self.lay(key, value.into(), || Origin::Flag(flag(key).to_owned()))?;
        Ok(self)
    }

    /// The settings. It is an error if values of several keys do not fit together.
    pub fn finish(self) -> Result<Settings, ConfigError> {
        let Settings { fetch, .. } = &self.settings;
        if fetch.max_body > fetch.body_budget {
            let (body, budget) = (fetch.max_body, fetch.body_budget);
            let reason = format!("`fetch.max-body` ({body}) must not be more than `fetch.body-budget` ({budget})");
            return Err(ConfigError::Conflict { reason });
        }
        Ok(self.settings)
    }

    fn toml(mut self, text: &str, origin: impl Fn(usize) -> Origin) -> Result<Self, ConfigError> {
        let syntax = |error: toml::de::Error| ConfigError::Syntax {
            origin: origin(error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        };
        let places = DeTable::parse(text).map_err(syntax)?;
        let table: Table = text.parse().map_err(syntax)?;
        for (group, value) in table {
            let (place, inner) = place(places.get_ref(), &group);
            if !self.values.contains_key(&group) {
                let groups = self.values.keys().cloned().collect();
                let known = if value.is_table() { groups } else { keys(&self.values).collect() };
                return Err(unknown(group, origin(place), known));
            }
            let Value::Table(values) = value else {
                let reason = format!("is a group of keys: write [{group}] on a line of its own");
                return Err(ConfigError::BadValue { origin: origin(place), key: group, reason });
            };
            for (key, value) in values {
                let place =
                    inner.and_then(toml::de::DeValue::as_table).map_or(place, |inner| self::place(inner, &key).0);
                self.lay(&format!("{group}.{key}"), value, || origin(place))?;
            }
        }
        Ok(self)
    }

    fn lay(&mut self, key: &str, value: Value, origin: impl Fn() -> Origin) -> Result<(), ConfigError> {
        let (key, value) = match deprecated::today(key, &value) {
            Some((today, warning)) => {
                self.warnings.push(warning);
                let Some(today) = today else { return Ok(()) };
                today
            }
            None => (key, value),
        };
        let Some(slot) = key.split_once('.').and_then(|(group, key)| self.values.get_mut(group)?.get_mut(key)) else {
            return Err(unknown(key.to_owned(), origin(), keys(&self.values).collect()));
        };
        let bad = |reason| ConfigError::BadValue { origin: origin(), key: key.to_owned(), reason };
        *slot = as_type_of(slot, value).map_err(bad)?;
        self.settings = read(&self.values).map_err(|(at, reason)| bad(self.with_origin(key, at, reason)))?;
        self.origins.insert(key.to_owned(), origin());
        Ok(())
    }

    /// The reason why the value of `at` does not fit after `key` was set. If the value of another key is part of the
    /// reason, the text says where that value was written.
    fn with_origin(&self, key: &str, at: &str, reason: String) -> String {
        const AGES: [&str; 2] = ["refresh.min-age", "refresh.max-age"];
        let [least, most] = AGES;
        if at != most || !AGES.contains(&key) {
            return reason;
        }
        let other = if key == most { least } else { most };
        let from = self.origins.get(other).map(|origin| format!(" (from {origin})")).unwrap_or_default();
        if key == most { format!("{reason}{from}") } else { format!("{most}{from} {reason}") }
    }
}

fn unknown(key: String, origin: Origin, known: Vec<String>) -> ConfigError {
    let nearest = nearest(&key, known.iter().map(String::as_str)).map(str::to_owned);
    ConfigError::UnknownKey { origin, key, nearest }
}

/// Reads settings from a whole table. An error is the key at fault and the reason. (The key is empty if a type is
/// wrong.)
fn read(values: &Table) -> Result<Settings, (&'static str, String)> {
    let settings = Settings::deserialize(values.clone()).map_err(|error| ("", plain(error.message())))?;
    check(&settings)?;
    Ok(settings)
}

/// The reason why a value does not fit its key, in words without type names.
fn plain(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match &quoted[..] {
        [value, known @ ..] if message.starts_with("unknown variant") && !known.is_empty() => {
            format!("{value:?} is not one of {}", known.join(", "))
        }
        [value]
            if ["expected u32", "expected u64", "expected usize"]
                .iter()
                .any(|end| message.trim_end().ends_with(end)) =>
        {
            format!("{value} is not a whole number from 0")
        }
        _ => message.to_owned(),
    }
}

/// The place of a key in the text, as a byte offset, and its value. (0, `None`) if the key is not there.
fn place<'a>(table: &'a DeTable<'_>, key: &str) -> (usize, Option<&'a toml::de::DeValue<'a>>) {
    let entry = table.iter().find(|(name, _)| name.get_ref() == key);
    entry.map_or((0, None), |(name, value)| (name.span().start, Some(Spanned::get_ref(value))))
}

/// `value` with the type of `model`. Values from the environment and the command line are text.
fn as_type_of(model: &Value, value: Value) -> Result<Value, String> {
    Ok(match (model, value) {
        (Value::Float(_), Value::Integer(number)) => Value::Float(number as f64),
        (Value::String(_), Value::Integer(number)) => Value::String(number.to_string()),
        (Value::String(_), Value::Float(number)) => Value::String(number.to_string()),
        (Value::Array(_), Value::String(text)) => {
            let list = format!("list = {text}").parse::<Table>().ok().filter(|_| text.starts_with('['));
            list.and_then(|mut table| table.remove("list")).unwrap_or_else(|| Value::Array(vec![text.into()]))
        }
        (Value::Integer(_), Value::String(text)) => {
            Value::Integer(text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))?)
        }
        (Value::Float(_), Value::String(text)) => {
            Value::Float(text.trim().parse().map_err(|_| format!("{text:?} is not a number"))?)
        }
        (Value::Boolean(_), Value::String(text)) => Value::Boolean(match text.trim() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" | "" => false,
            other => return Err(format!("{other:?} is neither true nor false")),
        }),
        (_, value) => value,
    })
}

fn nearest_variable<'a>(name: &str, known: impl Iterator<Item = &'a str>, others: &[&'a str]) -> Option<String> {
    let lower: Vec<_> =
        known.chain(others.iter().copied()).map(|known| (known, known.to_lowercase().replace('_', "-"))).collect();
    let nearest = nearest(name, lower.iter().map(|(_, lower)| lower.as_str()))?;
    lower.iter().find(|(_, lower)| lower == nearest).map(|(known, _)| (*known).to_owned())
}
