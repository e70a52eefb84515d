//! Decides which file a member is written to. Files are cut at a size. A member is never cut.

/// The place of the next member. The program that appends members keeps the number and the size of the file with its
/// state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    limit: u64,
    file: u32,
    size: u64,
}

/// The place of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLocation {
    /// The number of the file.
    pub file: u32,
    /// The offset of the member in the file.
    pub offset: u64,
    /// Whether the file begins with this member. Then it must be a warcinfo record.
    pub opens: bool,
}

impl Rotation {
    /// The usual size of WARC files: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// A rotation that goes on after `size` bytes of file number `file`. `(0, 0)` is the beginning.
    pub fn new(limit: u64, file: u32, size: u64) -> Self {
        Self { limit, file, size }
    }

    /// The number of the file that is open, and its size.
    pub fn position(&self) -> (u32, u64) {
        (self.file, self.size)
    }

    /// Whether members of `bytes` bytes, which belong together, need a new file. (A new file begins with warcinfo.)
    pub fn is_due(&self, bytes: u64) -> bool {
        self.size == 0 || self.size.saturating_add(bytes) > self.limit
    }

    /// Ends the file that is open, if it has any bytes.
    pub fn cut(&mut self) {
        if self.size > 0 {
            self.file += 1;
            self.size = 0;
        }
    }

    /// The place of the next `bytes` bytes.
    pub fn place(&mut self, bytes: u64) -> MemberLocation {
        let place = MemberLocation { file: self.file, offset: self.size, opens: self.size == 0 };
        self.size += bytes;
        place
    }
}
