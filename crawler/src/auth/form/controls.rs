//! Reads the forms of a page and their fields from the tags of the page.

use html5ever::tokenizer::Tag;

use super::{Button, Form, MAX_CONTROLS, MAX_FORMS};
use crate::tags::{self, Piece, attribute};

/// A field or a button, with its form.
pub(super) struct Control {
    owner: Owner,
    pub kind: Kind,
    pub name: String,
    pub value: String,
    /// Whether a browser sends nothing of it.
    pub is_disabled: bool,
}

/// The form of a field.
#[derive(Clone)]
enum Owner {
    /// The form around the field, by its number.
    Around(usize),
    /// The form with the `id` that the field names.
    Named(String),
}

/// The kind of a field.
#[derive(Clone)]
pub(super) enum Kind {
    /// A field to type a text into.
    Text,
    Password,
    Button(Button),
    /// A field that keeps its value.
    Other,
}

/// An open `select`.
struct Select {
    owner: Option<Owner>,
    name: String,
    is_disabled: bool,
    is_multiple: bool,
    /// The options that are selected.
    selected: Vec<String>,
    /// The first option that can be selected.
    first: Option<String>,
    /// The text of the open option, and whether that is selected. It is the value of an option without one.
    option: Option<(String, bool)>,
}

#[derive(Default)]
pub(super) struct State {
    forms: Vec<Form>,
    /// The `id` of each form.
    ids: Vec<Option<String>>,
    controls: Vec<Control>,
    base: Option<String>,
    is_open: bool,
    /// The number of open templates. What is in them is not part of the page.
    templates: usize,
    /// The open field sets, and whether each is disabled.
    fieldsets: Vec<bool>,
    select: Option<Select>,
    /// Whether a `textarea` is open, which is the last field.
    in_textarea: bool,
}

fn has(tag: &Tag, name: &str) -> bool {
    tag.attrs.iter().any(|attribute| &*attribute.name.local == name)
}

fn is_post(method: &str) -> bool {
    method.trim().eq_ignore_ascii_case("post")
}

impl State {
    /// The most open field sets that are told apart.
    const MAX_FIELDSETS: usize = 256;

    /// Reads a page.
    pub fn read(html: &str) -> Self {
        let mut state = Self::default();
        tags::read(html.as_bytes(), |piece| match piece {
            Piece::Start(tag) => state.open(tag),
            Piece::End(name) => state.close(name),
            Piece::Text(text) => state.text(text),
        });
        state
    }

    /// The forms with their fields.
    pub fn forms(mut self) -> Vec<Form> {
        self.end_select();
        let Self { mut forms, ids, controls, base, .. } = self;
        let mut users = vec![None; forms.len()];
        for control in controls {
            let at = match &control.owner {
                Owner::Around(at) => Some(*at),
                Owner::Named(id) => ids.iter().position(|other| other.as_ref() == Some(id)),
            };
            if let Some(at) = at {
                forms[at].take(control, &mut users[at]);
            }
        }
        forms.iter_mut().for_each(|form| form.base.clone_from(&base));
        forms
    }

    fn open(&mut self, tag: &Tag) {
        let name = attribute(tag, "name").unwrap_or_default();
        let is_here = self.templates == 0;
        match &*tag.name {
            "template" => self.templates += 1,
            "textarea" if is_here => {
                let count = self.controls.len();
                self.push(tag, Kind::Other, name, String::new());
                self.in_textarea = self.controls.len() > count;
            }
            _ if !is_here => {}
            "base" if self.base.is_none() => self.base = attribute(tag, "href"),
            "form" if !self.is_open && self.forms.len() < MAX_FORMS => {
                let names = ["id", "name", "action"].iter().filter_map(|name| attribute(tag, name)).collect();
                let is_post = attribute(tag, "method").is_some_and(|method| is_post(&method));
                let action = attribute(tag, "action").unwrap_or_default().trim().to_owned();
                self.forms.push(Form { names, action, is_post, ..Form::default() });
                self.ids.push(attribute(tag, "id"));
                self.is_open = true;
            }
            "fieldset" if self.fieldsets.len() < Self::MAX_FIELDSETS => self.fieldsets.push(has(tag, "disabled")),
            "input" => self.input(tag, name),
            "button" => {
                let kind = attribute(tag, "type").unwrap_or_default().to_ascii_lowercase();
                if !matches!(kind.as_str(), "button" | "reset") {
                    self.button(tag, name, false);
                }
            }
            "select" => {
                self.end_select();
                self.select = Some(Select {
                    owner: self.owner(tag),
                    name,
                    is_disabled: self.is_disabled(tag),
                    is_multiple: has(tag, "multiple"),
                    selected: Vec::new(),
                    first: None,
                    option: None,
                });
            }
            "option" => self.option(tag),
            _ => {}
        }
    }

    fn input(&mut self, tag: &Tag, name: String) {
        let value = attribute(tag, "value").unwrap_or_default();
        match attribute(tag, "type").unwrap_or_default().to_ascii_lowercase().as_str() {
            "password" => self.push(tag, Kind::Password, name, value),
            "checkbox" | "radio" => {
                if has(tag, "checked") {
                    self.push(tag, Kind::Other, name, attribute(tag, "value").unwrap_or_else(|| "on".into()));
                }
            }
            "submit" => self.button(tag, name, false),
            "image" => self.button(tag, name, true),
            "button" | "reset" | "file" => {}
            "hidden" => self.push(tag, Kind::Other, name, value),
            _ => self.push(tag, Kind::Text, name, value),
        }
    }

    fn button(&mut self, tag: &Tag, name: String, is_image: bool) {
        let value = attribute(tag, "value").unwrap_or_default();
        let action = attribute(tag, "formaction").map(|action| action.trim().to_owned());
        let is_post = attribute(tag, "formmethod").map(|method| is_post(&method));
        let button =
            Button { is_image, action: action.filter(|action| !action.is_empty()), is_post, ..Button::default() };
        self.push(tag, Kind::Button(button), name, value);
    }

    fn option(&mut self, tag: &Tag) {
        self.end_option();
        if let Some(select) = &mut self.select {
            let is_selected = has(tag, "selected");
            match attribute(tag, "value") {
                _ if has(tag, "disabled") => {}
                Some(value) => select.take(value, is_selected),
                None => select.option = Some((String::new(), is_selected)),
            }
        }
    }

    fn end_option(&mut self) {
        if let Some(select) = &mut self.select
            && let Some((text, is_selected)) = select.option.take()
        {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            select.take(words.join(" "), is_selected);
        }
    }

    fn end_select(&mut self) {
        self.end_option();
        let Some(Select { owner, name, is_disabled, is_multiple, mut selected, first, .. }) = self.select.take() else {
            return;
        };
        if !is_multiple {
            // The last one counts. Without any, a browser shows the first.
            selected = selected.pop().or(first).into_iter().collect();
        }
        for value in selected {
            self.add(owner.clone(), Kind::Other, name.clone(), value, is_disabled);
        }
    }

    /// Gives the text of the last field the form in which a browser sends it: without a line break at its beginning,
    /// and with CR and LF at the end of each line.
    fn end_textarea(&mut self) {
        if std::mem::take(&mut self.in_textarea)
            && let Some(control) = self.controls.last_mut()
        {
            let text = control.value.replace("\r\n", "\n");
            control.value = text.strip_prefix('\n').unwrap_or(&text).replace('\n', "\r\n");
        }
    }

    fn owner(&self, tag: &Tag) -> Option<Owner> {
        let around = self.is_open.then(|| Owner::Around(self.forms.len().saturating_sub(1)));
        attribute(tag, "form").map(Owner::Named).or(around)
    }

    fn is_disabled(&self, tag: &Tag) -> bool {
        has(tag, "disabled") || self.fieldsets.contains(&true)
    }

    fn push(&mut self, tag: &Tag, kind: Kind, name: String, value: String) {
        self.add(self.owner(tag), kind, name, value, self.is_disabled(tag));
    }

    fn add(&mut self, owner: Option<Owner>, kind: Kind, name: String, value: String, is_disabled: bool) {
        if let Some(owner) = owner.filter(|_| self.controls.len() < MAX_CONTROLS) {
            self.controls.push(Control { owner, kind, name, value, is_disabled });
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_textarea
            && let Some(control) = self.controls.last_mut()
        {
            control.value.push_str(text);
        } else if let Some((option, _)) = self.select.as_mut().and_then(|select| select.option.as_mut()) {
            option.push_str(text);
        }
    }

    fn close(&mut self, tag: &str) {
        match tag {
            "template" => self.templates = self.templates.saturating_sub(1),
            "textarea" => self.end_textarea(),
            _ if self.templates > 0 => {}
            "form" => {
                // The end of a form ends no select in a browser, but a form does not go on in the next one.
                self.end_select();
                self.is_open = false;
            }
            "fieldset" => _ = self.fieldsets.pop(),
            "option" | "optgroup" => self.end_option(),
            "select" => self.end_select(),
            _ => {}
        }
    }
}

impl Select {
    fn take(&mut self, value: String, is_selected: bool) {
        if is_selected {
            self.selected.push(value);
        } else if self.first.is_none() {
            self.first = Some(value);
        }
    }
}
