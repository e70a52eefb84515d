//! The profiles: settings for kinds of crawls, which come with the program.

/// Name and TOML of each profile.
pub const PROFILES: [(&str, &str); 2] =
    [("generic", include_str!("../profiles/generic.toml")), ("focused", include_str!("../profiles/focused.toml"))];
