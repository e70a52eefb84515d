//! Bounds of the cookies that a crawl keeps.

/// The bounds of the cookies.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most cookies of one site. The oldest are dropped first, and those of a file or a login last.
    pub per_site: usize,
    /// The most bytes of one cookie, name and value (RFC 6265bis, section 5.6, ignores longer ones).
    pub cookie_bytes: usize,
    /// The most bytes of a `Cookie` header. Cookies that do not fit are not sent. Servers refuse heads of more than
    /// about 8 KiB.
    pub header_bytes: usize,
    /// The most bytes of all sites. The site that has not been used for the longest time is dropped first,
    /// and those with cookies of a file or a login last.
    pub total_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_site: 64, cookie_bytes: 4096, header_bytes: 6 << 10, total_bytes: 32 << 20 }
    }
}
