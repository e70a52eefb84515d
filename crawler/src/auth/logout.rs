//! Links that end a session. They are recognised by the words of their path and query, in a few languages. On a site
//! with an account, they are recognised by their text, too, if the whole text is a phrase such as "Sign out": a page
//! *about* logging out is a page.

#[cfg(test)]
mod tests;

use percent_encoding::percent_decode_str;
use url::Url;

/// The words of URLs that end a session. They count if they are a whole part of a path or query.
const WORDS: [&str; 14] = [
    "logout",
    "logoff",
    "logoffpage",
    "signout",
    "signoff",
    "log-out",
    "log-off",
    "sign-out",
    "sign-off",
    "log_out",
    "sign_out",
    "abmelden",
    "deconnexion",
    "cerrarsesion",
];

/// Whole texts of links that end a session, in lower case.
pub(super) const PHRASES: [&str; 47] = [
    "log me out",
    "sign me out",
    "log out",
    "log-out",
    "logout",
    "log off",
    "log-off",
    "logoff",
    "sign out",
    "sign-out",
    "signout",
    "sign off",
    "sign-off",
    "abmelden",
    "end session",
    "ausloggen",
    "sitzung beenden",
    "déconnexion",
    "deconnexion",
    "se déconnecter",
    "me déconnecter",
    "cerrar sesión",
    "cerrar sesion",
    "desconectarse",
    "encerrar sessão",
    "terminar sessão",
    "sair",
    "disconnetti",
    "disconnettiti",
    "esci",
    "uitloggen",
    "afmelden",
    "logga ut",
    "logg ut",
    "log ud",
    "kirjaudu ulos",
    "wyloguj",
    "wyloguj się",
    "odhlásit",
    "odhlásit se",
    "выйти",
    "выход",
    "çıkış yap",
    "ログアウト",
    "로그아웃",
    "退出登录",
    "登出",
];

/// The first phrases, after which the name of the account may stand: "Log out (alice)".
const WITH_NAME: usize = 14;

/// Words before or after a word of [`WORDS`], as in `doLogout`, `oidc_logout` or `logout_user`.
const BESIDE: [&str; 26] = [
    "do", "user", "users", "member", "account", "customer", "client", "admin", "my", "site", "web", "app", "auth",
    "oidc", "openid", "oauth", "oauth2", "saml", "sso", "cas", "perform", "process", "session", "single", "action",
    "ajax",
];

/// Words after a phrase that make a page about logging out of it, and no name.
const ABOUT: [&str; 12] =
    ["help", "problem", "problems", "page", "guide", "faq", "issue", "issues", "error", "errors", "button", "link"];

/// Whether the whole text of a link says that the link ends a session. The name of the account may stand after the
/// phrase: one word, or words in brackets. So may the devices that are meant: "of all devices".
pub fn says_logout(text: &str) -> bool {
    /// A longer text is no such phrase.
    const LONGEST: usize = 48;
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    if text.is_empty() || text.len() > LONGEST {
        return false;
    }
    let text = text.to_lowercase();
    let is_name = |rest: &str| {
        let name = rest.trim_matches(|c: char| !c.is_alphanumeric());
        let is_bracketed = rest.trim_start().starts_with(['(', '[']);
        let is_parted = rest.starts_with(|c: char| !c.is_alphanumeric() && c != '-');
        let is_all = ["of all", "from all"].iter().any(|start| name.starts_with(start));
        is_parted && (is_bracketed || is_all || !name.contains(char::is_whitespace) && !ABOUT.contains(&name))
    };
    PHRASES.contains(&text.as_str())
        || PHRASES[..WITH_NAME].iter().any(|phrase| text.strip_prefix(phrase).is_some_and(is_name))
}

/// Whether a request for `url` would end a session.
pub fn is_logout(url: &Url) -> bool {
    // Servers read `/%6cogout` as `/logout`.
    let path = percent_decode_str(url.path()).decode_utf8_lossy().to_ascii_lowercase();
    // Only the last part of a path matters. `/logout/help` and `/articles/logout-problems` are pages to read. But a
    // token may stand after the word.
    let mut parts = path.trim_end_matches('/').rsplit('/');
    let last = parts.next().unwrap_or_default();
    if is_end(last) || is_token(last) && parts.next().is_some_and(is_end) {
        return true;
    }
    url.query_pairs().any(|(name, value)| {
        let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
        let acts = matches!(
            name.as_str(),
            "action" | "act" | "do" | "op" | "cmd" | "mode" | "task" | "method" | "page" | "view" | "q" | "title" | "a"
        );
        let value = value.rsplit([':', '/', '.']).next().unwrap_or_default();
        // `q=logout` is a search for the word, unless the query chooses the page (Drupal: `?q=user/logout`).
        let searched = name == "q" && !url.query().is_some_and(|query| query.to_ascii_lowercase().contains("user/"));
        is_word(&name) && value != "0" && value != "false" || acts && is_word(value) && !searched
    })
}

/// Whether a part of a path, without its extension and parameters, names the end of a session.
fn is_end(part: &str) -> bool {
    let stem = part.split(['.', ';']).next().unwrap_or_default();
    is_word(stem) || stem.rsplit_once(':').is_some_and(|(_, special)| is_word(special))
}

/// Whether a text is one of [`WORDS`], perhaps with a word of [`BESIDE`].
fn is_word(text: &str) -> bool {
    let is_beside = |rest: &str| BESIDE.contains(&rest.trim_matches(['-', '_']));
    WORDS.iter().any(|word| match (text.strip_suffix(word), text.strip_prefix(word)) {
        (Some(""), _) => true,
        (before, after) => before.is_some_and(is_beside) || after.is_some_and(is_beside),
    })
}

/// Whether a part of a path looks like a token: long, of letters and digits, and not only of letters.
fn is_token(part: &str) -> bool {
    let is_plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=.~".contains(&byte));
    is_plain && part.len() >= 6 && part.bytes().any(|byte| byte.is_ascii_digit())
}
