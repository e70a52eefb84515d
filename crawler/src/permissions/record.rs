//! Permissions in the form in which the outputs have them.

use serde_json::{Map, Value, json};

use super::usage::Category;
use super::{Permissions, Source};

impl Permissions {
    /// One JSON object; `None` if there are no statements. It has for each category the statements by place
    /// (`{"train-ai":{"robots.txt":"n"}}`), the reservation and policy of TDMRep, the tags, and the licences.
    pub fn record(&self) -> Option<Value> {
        let mut record = Map::new();
        let labels = [("train-ai", Category::TrainAi), ("search", Category::Search), ("ai-input", Category::AiInput)];
        for (label, category) in labels {
            let mut stated = Map::new();
            for (source, _, preferences) in &self.statements {
                if let Some(allowed) = preferences.get(category) {
                    // If two lines of one file differ, the stricter one is shown, because it is the one that counts.
                    let strict = stated.get(source.name()) == Some(&json!("n"));
                    stated.insert(source.name().into(), json!(if allowed && !strict { "y" } else { "n" }));
                }
            }
            if !stated.is_empty() {
                record.insert(label.into(), Value::Object(stated));
            }
        }
        if let Some((source, reserved)) = self.tdm.reserved() {
            record.insert("tdm-reservation".into(), json!({source.name(): u8::from(reserved)}));
        }
        if let Some(policy) = self.tdm.policy() {
            record.insert("tdm-policy".into(), json!(policy));
        }
        for (source, tags) in &self.tags {
            let words = [
                ("noindex", tags.noindex),
                ("noarchive", tags.noarchive),
                ("noai", tags.noai),
                ("noimageai", tags.noimageai),
            ];
            let words: Vec<&str> = words.into_iter().filter(|(_, set)| *set).map(|(word, _)| word).collect();
            let name = if *source == Source::Meta { "robots-meta" } else { "x-robots-tag" };
            record.insert(name.into(), json!(words));
        }
        if !self.licences.is_empty() {
            let licences: Vec<&str> = self.licences.iter().map(|url| url.as_str()).collect();
            record.insert("licences".into(), json!(licences));
        }
        (!record.is_empty()).then_some(Value::Object(record))
    }
}
