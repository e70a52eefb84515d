//! The signature base: the text that is signed (RFC 9421, sections 2 and 3).

use sfv::{Dictionary, Parser};
use url::{Position, Url};

/// The parts of a request that signatures look at.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The method.
    pub method: &'a str,
    /// The target. Its fragment is neither sent nor signed.
    pub url: &'a Url,
    /// The header fields, in any case. Several fields with one name are in the order in which they are sent.
    pub fields: &'a [(&'a str, &'a str)],
}

/// The identifier of a component: a header field in lower case, or a derived one (`@authority`), with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    name: String,
    parameters: Vec<(&'static str, String)>,
}

impl Component {
    /// A component without parameters.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_ascii_lowercase(), parameters: Vec::new() }
    }

    /// Adds a parameter: `key` chooses a member of a dictionary, and `name` a parameter of the query.
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

    /// The value of the component in a message (sections 2.1 and 2.2); `None` if the message does not have it.
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
                // A parameter that occurs twice cannot be signed.
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

/// The parameters of a signature (section 2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The time at which it was made, in seconds since the Unix epoch.
    pub created: Option<u64>,
    /// The name of the key.
    pub key_id: Option<String>,
    /// The name of the algorithm.
    pub algorithm: Option<String>,
    /// The time until which it is valid, in seconds since the Unix epoch.
    pub expires: Option<u64>,
    /// A value that makes it different from every other signature.
    pub nonce: Option<String>,
    /// The purpose.
    pub tag: Option<String>,
}

/// The value of `@signature-params`, which `Signature-Input` has, too.
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

/// The text that is signed (section 2.5). `input` is the result of [`input`]. `None` if a component is not in the
/// message, or occurs twice.
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

/// A string of structured fields. The names, keys and tags used here contain no characters that such a string cannot
/// contain.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The line of a field without white space around it. Obsolete folding is replaced by a space.
fn folded(value: &str) -> String {
    value.trim().split("\r\n").map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The member `key` of a dictionary of structured fields, serialised.
fn member(value: &str, key: &str) -> Option<String> {
    use sfv::{FieldType, ListEntry};
    let dictionary: Dictionary = Parser::new(value).parse().ok()?;
    match dictionary.get(key)? {
        ListEntry::Item(item) => Some(item.serialize()),
        ListEntry::InnerList(list) => vec![ListEntry::InnerList(list.clone())].serialize(),
    }
}

/// A part of the query, percent-encoded as in section 2.2.8: as in the URL standard, but a space is `%20`.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
