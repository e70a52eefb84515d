//! The form of a login page: its fields, including hidden ones, and the URL to which it is sent.

mod controls;
#[cfg(test)]
mod tests;

use dedup_stage::url::drop_user;
use encoding_rs::Encoding;
use url::Url;

use self::controls::{Control, Kind, State};
use super::Secret;

/// A form of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The attributes by which the login file can name the form (`id`, `name`, `action`).
    pub names: Vec<String>,
    /// The attribute `action`, unresolved.
    pub action: String,
    /// Whether the fields are sent in the body. Otherwise they are sent in the query.
    pub is_post: bool,
    /// The attribute `href` of the page's `base`.
    pub base: Option<String>,
    /// The names and values of the fields that a browser would send if the user typed nothing. Buttons are not among
    /// them.
    pub fields: Vec<(String, String)>,
    /// The buttons that send the form.
    pub buttons: Vec<Button>,
    /// The name of the first password field.
    pub password: Option<String>,
    /// The name of the field for the user. It is the last text field before the password.
    pub user: Option<String>,
}

/// A button that sends a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// The attribute `name`.
    pub name: String,
    /// The attribute `value`.
    pub value: String,
    /// Whether it is a picture. A browser then sends the place of the click.
    pub is_image: bool,
    /// The attribute `formaction`, unresolved.
    pub action: Option<String>,
    /// Whether its `formmethod` is POST, if it has one.
    pub is_post: Option<bool>,
    /// The number of fields before it.
    pub at: usize,
}

/// A request that sends a form.
#[derive(Clone, PartialEq, Eq)]
pub struct Submission {
    /// The URL of the request.
    pub url: Url,
    /// The body (`application/x-www-form-urlencoded`); `None` for a form that is sent with GET. It is a secret.
    pub body: Option<Secret>,
}

impl std::fmt::Debug for Submission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        write!(f, "Submission({url})")
    }
}

/// The most forms of a page that are read.
const MAX_FORMS: usize = 64;
/// The most fields of a form that are read.
const MAX_FIELDS: usize = 512;

/// The most fields of a page that are read.
const MAX_CONTROLS: usize = 4096;

/// The forms of a page.
pub fn forms(html: &str) -> Vec<Form> {
    State::read(html).forms()
}

/// The form that the login file means: the form with this name. Without a name, it is the first form with a password
/// field, or else (for a login in two pages) the first form that is sent with POST.
pub fn choose<'a>(forms: &'a [Form], name: Option<&str>) -> Option<&'a Form> {
    match name {
        Some(name) => forms.iter().find(|form| form.names.iter().any(|other| other == name)),
        None => forms.iter().find(|form| form.password.is_some()).or_else(|| forms.iter().find(|form| form.is_post)),
    }
}

impl Form {
    /// The request that sends the form with these values. Other fields of the page keep their values. The names `user`
    /// and `password` mean the form's own fields of that kind, unless it has fields with these names. The form is sent
    /// with its first button, or with the button whose name is among the values. The fields are written in the encoding
    /// of the page. `None` if the form leads nowhere.
    pub fn submit(&self, page: &Url, encoding: &'static Encoding, values: &[(String, Secret)]) -> Option<Submission> {
        let mut fields = self.fields.clone();
        let is_meant = |button: &&Button| values.iter().any(|(name, _)| !name.is_empty() && *name == button.name);
        let button = self.buttons.iter().find(is_meant).or(self.buttons.first());
        if let Some(button) = button {
            let at = button.at.min(fields.len());
            fields.splice(at..at, button.fields());
        }
        for (name, value) in values {
            let is_there = |name: &str| self.fields.iter().any(|(other, _)| other == name);
            let meant = match name.as_str() {
                "user" if !is_there("user") => self.user.as_ref(),
                "password" if !is_there("password") => self.password.as_ref(),
                _ => None,
            };
            let name = meant.unwrap_or(name);
            match fields.iter_mut().find(|(other, _)| other == name) {
                Some((_, typed)) => value.reveal().clone_into(typed),
                None => fields.push((name.clone(), value.reveal().to_owned())),
            }
        }
        let action = button.and_then(|button| button.action.as_ref()).unwrap_or(&self.action);
        let base = self.base.as_ref().and_then(|href| page.join(href.trim()).ok());
        let mut url = if action.is_empty() { page.clone() } else { base.as_ref().unwrap_or(page).join(action).ok()? };
        url.set_fragment(None);
        drop_user(&mut url);
        let mut encoded = url::form_urlencoded::Serializer::new(String::new());
        let encoded = encoded.encoding_override(Some(&|text| encoding.encode(text).0)).extend_pairs(&fields).finish();
        if button.and_then(|button| button.is_post).unwrap_or(self.is_post) {
            return Some(Submission { url, body: Some(Secret::new(encoded)) });
        }
        url.set_query(Some(&encoded));
        Some(Submission { url, body: None })
    }

    /// Whether the form has a field or a button with this name, or the field that the name `user` or `password` means.
    pub fn has(&self, name: &str) -> bool {
        let is_meant = match name {
            "user" => self.user.is_some(),
            "password" => self.password.is_some(),
            _ => false,
        };
        is_meant
            || self.fields.iter().any(|(other, _)| other == name)
            || self.buttons.iter().any(|button| button.name == name)
    }

    /// Adds a field or a button.
    fn take(&mut self, control: Control, user: &mut Option<String>) {
        let Control { kind, name, value, is_disabled, .. } = control;
        match kind {
            Kind::Button(button) if !is_disabled && self.buttons.len() < MAX_FIELDS => {
                self.buttons.push(Button { name, value, at: self.fields.len(), ..button });
                return;
            }
            Kind::Button(_) => return,
            Kind::Password if self.password.is_none() => {
                (self.password, self.user) = (Some(name.clone()), user.clone());
            }
            Kind::Text => *user = Some(name.clone()),
            Kind::Password | Kind::Other => {}
        }
        if !is_disabled && !name.is_empty() && self.fields.len() < MAX_FIELDS {
            self.fields.push((name, value));
        }
    }
}

impl Button {
    /// What a browser sends of a button that was pressed.
    fn fields(&self) -> Vec<(String, String)> {
        let Self { name, value, is_image, .. } = self;
        if *is_image {
            let prefix = if name.is_empty() { String::new() } else { format!("{name}.") };
            return ["x", "y"].map(|axis| (format!("{prefix}{axis}"), "0".to_owned())).into();
        }
        if name.is_empty() { Vec::new() } else { vec![(name.clone(), value.clone())] }
    }
}
