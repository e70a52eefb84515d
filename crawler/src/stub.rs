//! Finds out whether a page with little text stands in the place of another: as a wall in front of the page, or as a
//! message that there is no such page. Page workers read this. The engine labels a page only if many URLs show the same
//! page (`engine/answers/stubs.rs`).

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// The label of a page that stands in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Label {
    /// A page that asks to log in, to subscribe, or to solve a captcha.
    Wall,
    /// A page that says with status 200 that there is nothing here (a soft 404).
    ///
    /// # References
    /// Bar-Yossef, Broder, Kumar, Tomkins, "Sic transit gloria telae" (WWW 2004), section 3.
    Soft404,
}

impl Label {
    /// Every label.
    pub const ALL: [Label; 2] = [Label::Wall, Label::Soft404];

    /// The word used in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Label::Wall => "wall",
            Label::Soft404 => "soft-404",
        }
    }
}

/// A page with little text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stub {
    /// The label that the page's own words suggest, if any.
    pub says: Option<Label>,
    /// Whether the page has so little text that its text counts, and not only its title or a field for a password.
    pub is_tiny: bool,
    /// Whether its title has the words.
    pub in_title: bool,
}

/// The most words of visible text that such a page has.
const LITTLE: u32 = 150;
/// The most words that a page has if its text counts. A longer page may well have a link to log in.
const TINY: u32 = 60;

const MISSING: &[&str] = &[
    "404",
    "not found",
    "no longer available",
    "no longer exists",
    "does not exist",
    "doesn't exist",
    "doesn’t exist",
    "cannot be found",
    "could not be found",
    "couldn't find",
    "nicht gefunden",
    "nicht mehr verfügbar",
    "existiert nicht",
    "introuvable",
    "n'existe pas",
    "n’existe pas",
    "plus disponible",
    "no encontrada",
    "no encontrado",
    "no existe",
    "ya no está disponible",
    "non trovata",
    "non esiste",
    "não encontrada",
    "não existe",
    "niet gevonden",
    "bestaat niet",
    "не найдена",
    "не существует",
    "页面不存在",
    "bad gateway",
    "error establishing a database connection",
    "internal server error",
    "service unavailable",
    "temporarily unavailable",
    "under maintenance",
    "見つかりません",
];

const WALL: &[&str] = &[
    "log in",
    "login",
    "sign in",
    "subscribe",
    "captcha",
    "not a robot",
    "you are human",
    "are you human",
    "just a moment",
    "checking your browser",
    "checking if the site connection is secure",
    "attention required",
    "access denied",
    "access to this page has been denied",
    "request blocked",
    "you have been blocked",
    "unusual traffic",
    "too many requests",
    "verify that you are",
    "one more step",
    "anmelden",
    "einloggen",
    "abonnieren",
    "se connecter",
    "connectez-vous",
    "abonnez-vous",
    "iniciar sesión",
    "inicia sesión",
    "suscríbete",
    "accedi",
    "abbonati",
    "iniciar sessão",
    "inloggen",
    "войдите",
    "请登录",
    "ログイン",
];

impl Stub {
    /// Reads a page that was answered with 200. `None` if it has more than little text.
    pub fn read<'a>(title: &str, words: u32, text: impl Iterator<Item = &'a str>, body: &[u8]) -> Option<Self> {
        if words > LITTLE {
            return None;
        }
        let title = title.to_lowercase();
        let is_tiny = words <= TINY;
        let text: String = if is_tiny { text.flat_map(|part| [part, "\n"]).collect() } else { String::new() };
        let text = text.to_lowercase();
        let (missing, wall) = (has(&title, MISSING), has(&title, WALL));
        let says = if missing {
            Some(Label::Soft404)
        } else if wall || asks_for_password(body) {
            Some(Label::Wall)
        } else if has(&text, MISSING) {
            Some(Label::Soft404)
        } else {
            has(&text, WALL).then_some(Label::Wall)
        };
        Some(Self { says, is_tiny, in_title: missing || wall })
    }
}

/// Whether a text contains any of these phrases as words of their own. `text` is in lower case.
fn has(text: &str, phrases: &[&str]) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && (c as u32) < 0x2E80);
    phrases.iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + phrase.len()..]);
            !is_part(before.chars().next_back()) && !is_part(after.chars().next())
        })
    })
}

/// Whether a body has a field for a password.
fn asks_for_password(body: &[u8]) -> bool {
    ["password", "PASSWORD", "Password"].iter().flat_map(|word| memmem::find_iter(body, word)).any(|at| {
        let before = body[at.saturating_sub(16)..at].trim_ascii_end();
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before).trim_ascii_end();
        let name = before.strip_suffix(b"=").unwrap_or_default().trim_ascii_end();
        name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b"type")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(title: &str, text: &str, body: &str) -> Option<Label> {
        let words = text.split_whitespace().count() as u32;
        Stub::read(title, words, [text].into_iter(), body.as_bytes()).and_then(|stub| stub.says)
    }

    #[test]
    fn a_wall_asks_for_a_password_or_says_what_it_wants() {
        let form = "<form><input name=p TYPE = 'password'></form>";
        assert_eq!(label("Welcome", "Your name, please", form), Some(Label::Wall));
        assert_eq!(label("Welcome", "Please log in to read on.", ""), Some(Label::Wall));
        assert_eq!(label("Bitte anmelden", "", ""), Some(Label::Wall));
        assert_eq!(label("Welcome", "Solve the captcha", "<p>"), Some(Label::Wall));
        for other in ["<input name=password>", "<p>your password</p>", "<a href=/forgot-password>"] {
            assert_eq!(label("Welcome", "Our town has a bridge", other), None, "{other}");
        }
        let long = "log in ".repeat(40);
        assert_eq!(label("Welcome", &long, ""), None, "a longer text may have such a link");
        assert_eq!(label("Welcome", &long, form), Some(Label::Wall));
        assert_eq!(Stub::read("Log in", 151, [].into_iter(), form.as_bytes()), None, "too much text");
    }

    #[test]
    fn a_page_that_only_robots_see_is_a_wall_and_a_broken_server_is_a_soft_404() {
        for title in ["Just a moment...", "Attention Required!", "Access denied", "Too many requests"] {
            assert_eq!(label(title, "Ray 7f3a", ""), Some(Label::Wall), "{title}");
        }
        for title in ["502 Bad Gateway", "Error establishing a database connection", "Service Unavailable"] {
            assert_eq!(label(title, "Incident 7f3a", ""), Some(Label::Soft404), "{title}");
        }
        assert_eq!(label("The moment of a gateway", "It was denied no access to the bridge", ""), None);
    }

    #[test]
    fn a_soft_404_says_that_nothing_is_here() {
        assert_eq!(label("Seite nicht gefunden", "", ""), Some(Label::Soft404));
        assert_eq!(label("Shop", "Error 404", ""), Some(Label::Soft404));
        assert_eq!(label("Shop", "Cette page n’existe pas.", ""), Some(Label::Soft404));
        assert_eq!(label("Shop", "页面不存在或已删除", ""), Some(Label::Soft404));
        assert_eq!(label("404", "", "<input type=password>"), Some(Label::Soft404), "the title is what it is about");
        for other in ["Model 4040", "A lost thing was found", "Blogging in winter"] {
            assert_eq!(label("Shop", other, ""), None, "{other}");
        }
    }
}
