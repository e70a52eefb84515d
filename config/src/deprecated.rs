//! Keys of earlier versions that still work. Each brings a message that says what took its place.

use toml::Value;

/// The deprecated keys, each with its flag.
pub const DEPRECATED: [(&str, &str); 2] = [("dedup.audits", "audits"), ("dedup.audits-from", "audits-from")];

/// The key and value that a deprecated key stands for today, and a message for the user. `None` if the key is not
/// deprecated. If the key has no effect any more, the message comes without a key and value.
pub(crate) fn today(key: &str, value: &Value) -> Option<(Option<(&'static str, Value)>, String)> {
    match key {
        "dedup.audits" => {
            let off = match value {
                Value::Boolean(on) => !on,
                other => other.as_str().is_some_and(|text| ["false", "0", "no", "off"].contains(&text.trim())),
            };
            let today = off.then(|| ("dedup.rescue", Value::String("0%".into())));
            Some((today, "`audits` is deprecated: use `rescue`, where 0% is `audits = false`".into()))
        }
        "dedup.audits-from" => Some((
            None,
            "`audits-from` is deprecated and has no effect: every sample of `rescue` gives an estimate".into(),
        )),
        _ => None,
    }
}
