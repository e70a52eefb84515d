//! Which file a member goes to: files are cut at a size, members never.

/// Where the next member goes; two numbers, to be kept with the state of whoever appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    limit: u64,
    file: u32,
    size: u64,
}

/// The place of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLocation {
    /// Number of the file.
    pub file: u32,
    /// Offset of the member in it.
    pub offset: u64,
    /// Whether the file begins with this member; it must be a warcinfo record then.
    pub opens: bool,
}

impl Rotation {
    /// The usual size of WARC files: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// Goes on after `size` bytes of file number `file`; from the beginning with `(0, 0)`.
    pub fn new(limit: u64, file: u32, size: u64) -> Self {
        Self { limit, file, size }
    }

    /// Number of the file that is open, and its size.
    pub fn position(&self) -> (u32, u64) {
        (self.file, self.size)
    }

    /// Whether members of so many bytes, which belong together, need a new file (which then begins with warcinfo).
    pub fn is_due(&self, bytes: u64) -> bool {
        self.size == 0 || self.size.saturating_add(bytes) > self.limit
    }

    /// Ends the file that is open, if anything is in it.
    pub fn cut(&mut self) {
        if self.size > 0 {
            self.file += 1;
            self.size = 0;
        }
    }

    /// Assigns the next `bytes`.
    pub fn place(&mut self, bytes: u64) -> MemberLocation {
        let place = MemberLocation { file: self.file, offset: self.size, opens: self.size == 0 };
        self.size += bytes;
        place
    }
}
