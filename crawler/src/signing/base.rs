//! The signature base: what exactly is signed (RFC 9421, sections 2 and 3).

use sfv::{Dictionary, Parser};
use url::{Position, Url};

/// A request, as far as signatures look at it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its target; its fragment is not sent and not signed.
    pub url: &'a Url,
    /// Its header fields, in any case; several of one name in the order in which they are sent.
    pub fields: &'a [(&'a str, &'a str)],
}

/// The identifier of a component: a header field in lower case, or a derived one (`@authority`), with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    name: String,
    parameters: Vec<(&'static str, String)>,
}

impl Component {
    /// One without parameters.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_ascii_lowercase(), parameters: Vec::new() }
    }

    /// The same with a parameter: `key` chooses a member of a dictionary, `name` a parameter of the query.
    pub fn with(mut self, parameter: &'static str, value: &str) -> Self {
        self.parameters.push((parameter, value.to_owned()));
        self
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    fn identifier(&self) -> String {
        let mut text = quoted(&self.name);
        for (name, value) in &self.parameters {
            text.push(';');
            text.push_str(name);
            text.push('=');
            text.push_str(&quoted(value));
        }
        text
    }

    /// The component's value in a message (sections 2.1 and 2.2); `None` where it is not there.
    fn value(&self, message: &Message<'_>) -> Option<String> {
        let url = message.url;
        Some(match self.name.as_str() {
            "@method" => message.method.to_owned(),
            "@target-uri" => url[..Position::AfterQuery].to_owned(),
            "@authority" => url[Position::BeforeHost..Position::AfterPort].to_owned(),
            "@scheme" => url.scheme().to_owned(),
            "@request-target" => url[Position::BeforePath..Position::AfterQuery].to_owned(),
            "@path" => url.path().to_owned(),
            "@query" => format!("?{}", url.query().unwrap_or_default()),
            "@query-param" => {
                let name = self.parameter("name")?;
                let mut values = url.query_pairs().filter(|(other, _)| encoded(other) == name);
                let value = values.next()?.1;
                // A parameter that stands there twice cannot be signed.
                values.next().is_none().then(|| encoded(&value))?
            }
            name if name.starts_with('@') => return None,
            name => {
                let lines = message.fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
                let lines: Vec<String> = lines.map(|(_, value)| folded(value)).collect();
                if lines.is_empty() {
                    return None;
                }
                let value = lines.join(", ");
                match self.parameter("key") {
                    Some(key) => member(&value, key)?,
                    None => value,
                }
            }
        })
    }
}

/// What is said of a signature (section 2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// When it was made, in seconds since the Unix epoch.
    pub created: Option<u64>,
    /// With which key.
    pub key_id: Option<String>,
    /// How.
    pub algorithm: Option<String>,
    /// Until when it holds, in seconds since the Unix epoch.
    pub expires: Option<u64>,
    /// What makes it unlike every other.
    pub nonce: Option<String>,
    /// What it is for.
    pub tag: Option<String>,
}

/// The value of `@signature-params`, which is also what `Signature-Input` says.
pub fn input(components: &[Component], parameters: &Parameters) -> String {
    let identifiers: Vec<String> = components.iter().map(Component::identifier).collect();
    let mut text = format!("({})", identifiers.join(" "));
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let string = |value: &Option<String>| value.as_deref().map(quoted);
    for (name, value) in [
        ("created", number(parameters.created)),
        ("keyid", string(&parameters.key_id)),
        ("alg", string(&parameters.algorithm)),
        ("expires", number(parameters.expires)),
        ("nonce", string(&parameters.nonce)),
        ("tag", string(&parameters.tag)),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(";{name}={value}"));
        }
    }
    text
}

/// What is signed (section 2.5), under `input` as [`input`] wrote it. `None` where a component is not in the message, or
/// stands there twice.
pub fn base(message: &Message<'_>, components: &[Component], input: &str) -> Option<String> {
    let mut text = String::new();
    for (n, component) in components.iter().enumerate() {
        if components[..n].contains(component) {
            return None;
        }
        let value = component.value(message).filter(|value| !value.contains(['\n', '\r']))?;
        text.push_str(&format!("{}: {value}\n", component.identifier()));
    }
    text.push_str(&format!("\"@signature-params\": {input}"));
    text.is_ascii().then_some(text)
}

/// A string of structured fields. What such a string cannot hold, no name, key or tag of ours has.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A field's line without white space around it and with obsolete folding replaced by a space.
fn folded(value: &str) -> String {
    value.trim().split("\r\n").map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The member `key` of a dictionary, as structured fields write it.
fn member(value: &str, key: &str) -> Option<String> {
    use sfv::{FieldType, ListEntry};
    let dictionary: Dictionary = Parser::new(value).parse().ok()?;
    match dictionary.get(key)? {
        ListEntry::Item(item) => Some(item.serialize()),
        ListEntry::InnerList(list) => vec![ListEntry::InnerList(list.clone())].serialize(),
    }
}

/// A part of the query, percent-encoded as section 2.2.8 wants: what the URL standard leaves alone stays, a space is `%20`.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
