//! Bounds of the cookies that a crawl keeps.

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Cookies of one site; the oldest go first.
    pub per_site: usize,
    /// Bytes of one cookie: name and value (RFC 6265bis, section 5.6, ignores longer ones).
    pub cookie_bytes: usize,
    /// Bytes of a `Cookie` header; cookies that do not fit stay at home. Servers refuse heads of more than 8 KiB or so.
    pub header_bytes: usize,
    /// Bytes of all sites; the site whose cookies were not asked for the longest goes first.
    pub total_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_site: 64, cookie_bytes: 4096, header_bytes: 6 << 10, total_bytes: 64 << 20 }
    }
}
