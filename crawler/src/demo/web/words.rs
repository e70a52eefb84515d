//! The word lists of the prose, the paths and the host names. Verbs are regular and take a plain -s and -ed. Nouns take
//! a plain -s.

#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "river", "harbour", "ledger", "signal", "market", "orchard", "window", "engine", "letter", "garden", "pattern", "bridge",
    "archive", "valley", "rudder", "winter", "printer", "kettle", "lantern", "meadow", "number", "tower", "anchor", "barrel",
    "basket", "beacon", "blanket", "border", "bottle", "branch line", "button", "cabin", "canal", "candle", "kayak", "carpet",
    "cellar", "chapter", "circle", "clock", "cloud", "coast", "column", "corner", "cottage", "council", "crystal", "current",
    "curtain", "desert", "diagram", "dialect", "doctor", "drawer", "editor", "element", "emblem", "farmer", "feather", "field",
    "figure", "filter", "forest", "fountain", "frame", "furnace", "glacier", "hammer", "harvest", "hill", "horizon", "insect",
    "island", "jacket", "journal", "junction", "keeper", "kernel", "kingdom", "ladder", "lake", "language", "layer", "lecture",
    "lever", "library card", "magnet", "manual", "margin", "mason", "measure", "member", "merchant", "method", "mineral",
    "mirror", "model", "moment", "monument", "motor", "mountain", "museum", "needle", "notebook", "observer", "ocean", "office",
    "order", "organ", "outline", "oven", "owner", "painter", "paper", "parcel", "passage", "path", "pebble", "pencil", "period",
    "pilot", "plain", "planet", "platform", "pocket", "portrait", "powder", "prism", "profile", "project", "province", "quarter",
    "question", "railway", "record", "region", "reservoir", "ribbon", "room", "root", "rope", "route", "sailor", "sample",
    "scholar", "season", "sector", "segment", "shadow", "shelf mark", "shelter", "shore", "sketch map", "sparrow", "spring",
    "station", "statue", "stone", "stream", "street", "student", "summer", "surface", "symbol", "system", "table", "teacher",
    "temple", "thread", "timber", "token", "tool", "track", "trader", "treaty article", "tunnel", "valve", "vessel", "village",
    "volume", "voyage", "wagon", "wall", "weaver", "wheel", "willow", "wire", "worker", "workshop", "yard", "zone",
];

#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "answer", "follow", "gather", "record", "open", "turn", "mark", "count", "sort", "print", "collect", "connect", "support",
    "restrict", "extend", "adjust", "inspect", "reject", "repeat", "return", "cover", "enter", "offer", "consider", "deliver",
    "discover", "remember", "render", "alter", "order", "limit", "visit", "protect", "predict", "select", "form", "warn", "join",
    "gain", "train", "drain", "explain", "maintain", "contain", "obtain", "attend", "defend", "amend", "demand", "expand",
    "surround", "fold", "shield", "yield", "crowd", "reward", "guard", "discard", "regard", "award", "board", "lift", "shift",
    "draft", "craft", "adopt", "accept", "attempt", "prompt", "exempt", "assist", "resist", "list", "twist", "trust", "request",
    "suggest", "test", "boost", "post", "host", "replant", "transport", "export", "borrow", "display", "employ",
];

#[rustfmt::skip]
pub(super) const ADJECTIVES: &[&str] = &[
    "old", "narrow", "quiet", "northern", "careful", "broken", "early", "formal", "heavy", "hidden", "local", "modern", "outer",
    "plain", "rapid", "regular", "rural", "sharp", "silent", "simple", "slow", "small", "smooth", "solid", "southern", "stable",
    "steep", "strong", "sudden", "temporary", "thin", "tidal", "total", "upper", "urban", "useful", "vast", "vertical", "visible",
    "warm", "western", "wide", "wooden", "yearly", "ancient", "annual", "bright", "brief", "central", "certain", "cheap", "civil",
    "clear", "coastal", "common", "complete", "curious", "daily", "deep", "dense", "distant", "dry", "eastern", "empty", "exact",
    "famous", "fertile", "final", "fine", "flat", "foreign", "former", "fragile", "frequent", "full", "gentle", "gradual", "green",
];

#[rustfmt::skip]
pub(super) const ADVERBS: &[&str] = &[
    "slowly", "often", "rarely", "at once", "again", "in turn", "by hand", "every year", "without delay", "in part", "as a rule",
    "almost daily", "before dawn", "in silence", "twice", "by degrees", "with care", "on paper", "in practice", "for a while",
    "after dark", "in theory", "at length", "late", "far too soon", "year after year", "under protest", "in good order",
];

#[rustfmt::skip]
pub(super) const ONSETS: [&str; 32] = [
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kr", "l", "m", "n", "p", "pl", "pr", "r", "s", "sk",
    "sl", "st", "t", "th", "tr", "v", "w", "y", "z",
];

pub(super) const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];

pub(super) const CODAS: [&str; 16] =
    ["", "n", "r", "l", "p", "m", "t", "nd", "rn", "ll", "sk", "th", "ck", "lt", "rd", "rk"];

/// The names of sections.
#[rustfmt::skip]
pub(super) const SECTIONS: &[&str] = &[
    "news", "guide", "history", "science", "travel", "music", "trade", "health", "nature", "notes", "people", "places", "manual",
    "reports", "letters", "tools", "studies", "reviews", "events", "essays", "crafts", "voices", "maps", "records", "lessons",
    "recipes", "weather", "sports", "theatre", "law", "finance", "gardens",
];

/// The prefixes under which sites keep a copy of a subtree.
pub(super) const ARCHIVES: &[&str] =
    &["archive", "old", "backup", "2019", "legacy", "v1", "classic", "static", "mirror", "snapshot"];

/// The prefixes under which sites show their pages in another template.
pub(super) const PRINTS: &[&str] =
    &["print", "printable", "text", "lite", "plain", "m", "reader", "simple", "amp", "paper"];

/// The parameters that carry a session. No list of known session parameters has these names.
pub(super) const SESSIONS: &[&str] =
    &["visit", "tok", "ctx", "guest", "trail", "ticket", "client", "handle", "keyring", "lease"];

/// The parameters of pagination.
pub(super) const PAGES: &[&str] = &["page", "p", "start", "offset", "seite", "part"];

/// The folders of endless calendars.
pub(super) const CALENDARS: &[&str] = &["calendar", "agenda", "diary", "schedule", "almanac"];

/// The folders of redirects.
pub(super) const HOPS: &[&str] = &["go", "out", "link", "r", "jump"];

/// The folders that robots.txt forbids.
pub(super) const PRIVATE: &[&str] = &["private", "internal", "staff", "drafts", "members"];

/// The folders of shops.
pub(super) const SHOPS: &[&str] = &["shop", "store", "catalogue", "goods", "wares"];
/// The facets in which products differ.
#[rustfmt::skip]
pub(super) const FACETS: &[&str] = &[
    "colour", "size", "brand", "material", "shape", "price", "year", "origin", "weight", "style", "finish", "season",
];

/// The folders of forums.
pub(super) const FORUMS: &[&str] = &["forum", "board", "talk", "community", "questions"];
