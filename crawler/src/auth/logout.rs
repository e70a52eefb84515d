//! Links that end a session. They are recognised by the words of their path and query, in a few languages. On a site
//! with an account, they are recognised by their text, too, if the whole text is a phrase such as "Sign out": a page
//! *about* logging out is a page.

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
const PHRASES: [&str; 45] = [
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
    "end session",
    "abmelden",
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

/// Whether the whole text of a link says that the link ends a session.
pub fn says_logout(text: &str) -> bool {
    /// A longer text is no such phrase.
    const LONGEST: usize = 48;
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    !text.is_empty() && text.len() <= LONGEST && PHRASES.contains(&text.to_lowercase().as_str())
}

/// Whether a request for `url` would end a session.
pub fn is_logout(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    // Only the last part of a path matters. `/logout/help` and `/articles/logout-problems` are pages to read.
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let stem = last.split('.').next().unwrap_or_default().split(';').next().unwrap_or_default();
    if is_word(stem) {
        return true;
    }
    let special = stem.rsplit(':').next().unwrap_or_default();
    let special = special.strip_prefix("user").unwrap_or(special);
    if stem.contains(':') && is_word(special) {
        return true;
    }
    url.query_pairs().any(|(name, value)| {
        let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
        let acts = matches!(
            name.as_str(),
            "action" | "act" | "do" | "op" | "cmd" | "mode" | "task" | "method" | "page" | "view" | "q" | "title" | "a"
        );
        let value = value.rsplit([':', '/', '.']).next().unwrap_or_default();
        let value = if name == "title" { value.strip_prefix("user").unwrap_or(value) } else { value };
        // `q=logout` is a search for the word, unless the query chooses the page (Drupal: `?q=user/logout`).
        let searched = name == "q" && !url.query().is_some_and(|query| query.to_ascii_lowercase().contains("user/"));
        is_word(&name) && value != "0" && value != "false" || acts && is_word(value) && !searched
    })
}

fn is_word(text: &str) -> bool {
    WORDS.contains(&text)
}
