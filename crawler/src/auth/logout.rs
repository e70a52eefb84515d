//! Links that end a session. They are recognised by the words of their path and query, in a few languages, never by their
//! text alone: a page *about* logging out is a page.

use url::Url;

/// Words that end a session wherever they stand alone between separators of a path.
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

/// Whether following `url` would end a session.
pub fn is_logout(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    // The last part of a path acts; `/logout/help` and `/articles/logout-problems` are read.
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
        // `q=logout` is a search for the word unless the whole page is chosen so (Drupal: `?q=user/logout`).
        let searched = name == "q" && !url.query().is_some_and(|query| query.to_ascii_lowercase().contains("user/"));
        is_word(&name) && value != "0" && value != "false" || acts && is_word(value) && !searched
    })
}

fn is_word(text: &str) -> bool {
    WORDS.contains(&text)
}
