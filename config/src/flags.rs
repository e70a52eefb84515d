//! The flags and environment variables of settings. Each key of `default.toml` is a flag of `crawler crawl` and an
//! environment variable.

use toml::Table;

use crate::defaults::defaults;

/// The keys whose flag has another name than the last part of the key.
const RENAMED: [(&str, &str); 4] = [
    ("fetch.headers", "header"),
    ("fetch.insecure-hosts", "insecure-host"),
    ("refresh.share", "refresh-share"),
    ("urls.max-length", "max-url-length"),
];

/// Every key (`dedup.on-duplicate`) with its flag, without dashes in front (`on-duplicate`), in the order of the keys.
pub fn flags() -> Vec<(String, String)> {
    keys(&defaults()).map(|key| (flag(&key).to_owned(), key)).map(|(flag, key)| (key, flag)).collect()
}

/// The flag of a key: the last part of the key, or its name in [`RENAMED`].
pub(crate) fn flag(key: &str) -> &str {
    let renamed = RENAMED.iter().find(|(renamed, _)| *renamed == key);
    renamed.map_or_else(|| key.rsplit('.').next().unwrap_or(key), |(_, flag)| flag)
}

/// The environment variable of a flag: `CRAWLER_` and `on-duplicate` give `CRAWLER_ON_DUPLICATE`.
pub(crate) fn variable(prefix: &str, flag: &str) -> String {
    format!("{prefix}{}", flag.to_uppercase().replace('-', "_"))
}

/// The dotted keys (`group.key`) of a table of groups.
pub(crate) fn keys(table: &Table) -> impl Iterator<Item = String> + '_ {
    table
        .iter()
        .flat_map(|(group, keys)| keys.as_table().into_iter().flatten().map(move |(key, _)| format!("{group}.{key}")))
}
