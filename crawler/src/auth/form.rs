//! The form of a login page: its fields, including hidden ones, and the URL to which it is sent.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use url::Url;

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
    /// The names and values of the fields that a browser would send if the user typed nothing.
    pub fields: Vec<(String, String)>,
    /// The name of the first password field.
    pub password: Option<String>,
    /// The name of the field for the user. It is the last text field before the password.
    pub user: Option<String>,
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

/// The forms of a page.
pub fn forms(html: &str) -> Vec<Form> {
    let tokenizer = Tokenizer::new(Sink::default(), Default::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.state.into_inner().forms
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
    /// and `password` mean the form's own fields of that kind, unless it has fields with these names.
    pub fn submit(&self, page: &Url, values: &[(String, Secret)]) -> Option<Submission> {
        let mut fields = self.fields.clone();
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
        let mut url = if self.action.is_empty() { page.clone() } else { page.join(&self.action).ok()? };
        url.set_fragment(None);
        let encoded = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
        if self.is_post {
            return Some(Submission { url, body: Some(Secret::new(encoded)) });
        }
        url.set_query(Some(&encoded));
        Some(Submission { url, body: None })
    }
}

#[derive(Default)]
struct State {
    forms: Vec<Form>,
    is_open: bool,
    /// The name of the last text field.
    text: Option<String>,
    /// The name of the open `select`, and whether it has a value already.
    select: Option<(String, bool)>,
    /// The name of the open `textarea`.
    textarea: Option<String>,
}

#[derive(Default)]
struct Sink {
    state: RefCell<State>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.state.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => state.open(&tag),
            Token::TagToken(tag) => {
                state.close(&tag.name);
                TokenSinkResult::Continue
            }
            Token::CharacterTokens(text) => {
                if let Some(name) = state.textarea.clone() {
                    state.append(name, &text);
                }
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

impl State {
    fn form(&mut self) -> Option<&mut Form> {
        if self.is_open { self.forms.last_mut() } else { None }
    }

    fn open(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = attribute(tag, "name").unwrap_or_default();
        match &*tag.name {
            "form" if !self.is_open && self.forms.len() < MAX_FORMS => {
                let names = ["id", "name", "action"].iter().filter_map(|name| attribute(tag, name)).collect();
                let is_post = attribute(tag, "method").is_some_and(|method| method.trim().eq_ignore_ascii_case("post"));
                let action = attribute(tag, "action").unwrap_or_default().trim().to_owned();
                self.forms.push(Form { names, action, is_post, ..Form::default() });
                (self.is_open, self.text) = (true, None);
            }
            "input" => self.input(tag, name),
            "select" => self.select = Some((name, false)),
            "option" => {
                let value = attribute(tag, "value").unwrap_or_default();
                let selected = attribute(tag, "selected").is_some();
                if let Some((name, has_value)) = self.select.clone()
                    && (selected || !has_value)
                {
                    self.select = Some((name.clone(), true));
                    if let Some(form) = self.form() {
                        form.fields.retain(|(other, _)| *other != name);
                    }
                    self.push(name, value);
                }
            }
            "textarea" => {
                self.textarea = Some(name.clone());
                self.push(name, String::new());
                return TokenSinkResult::RawData(RawKind::Rcdata);
            }
            "title" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => return TokenSinkResult::RawData(RawKind::Rawtext),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn input(&mut self, tag: &Tag, name: String) {
        let value = attribute(tag, "value").unwrap_or_default();
        match attribute(tag, "type").unwrap_or_default().to_ascii_lowercase().as_str() {
            "password" => {
                let text = self.text.clone();
                if let Some(form) = self.form().filter(|form| form.password.is_none()) {
                    (form.password, form.user) = (Some(name.clone()), text);
                }
                self.push(name, value);
            }
            "checkbox" | "radio" => {
                if attribute(tag, "checked").is_some() {
                    self.push(name, attribute(tag, "value").unwrap_or_else(|| "on".into()));
                }
            }
            "submit" | "image" | "button" | "reset" | "file" => {}
            "hidden" => self.push(name, value),
            _ => {
                self.text = Some(name.clone());
                self.push(name, value);
            }
        }
    }

    fn push(&mut self, name: String, value: String) {
        if let Some(form) = self.form()
            && !name.is_empty()
            && form.fields.len() < MAX_FIELDS
        {
            form.fields.push((name, value));
        }
    }

    fn append(&mut self, name: String, text: &str) {
        if let Some((_, value)) = self.form().and_then(|form| form.fields.iter_mut().rfind(|(other, _)| *other == name))
        {
            value.push_str(text);
        }
    }

    fn close(&mut self, tag: &str) {
        match tag {
            "form" => self.is_open = false,
            "select" => self.select = None,
            "textarea" => self.textarea = None,
            _ => {}
        }
    }
}
