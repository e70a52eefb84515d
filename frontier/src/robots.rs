//! robots.txt (RFC 9309). (Stub: to be written.)

/// What one origin's robots.txt allows our product token.
#[derive(Clone, Debug)]
pub struct Rules {}
