//! One body while it arrives. It is decoded, and held under three caps (bytes received, bytes decoded, their ratio) and
//! under the budget that all bodies share. The memory grows with the bytes that have arrived, and not with what a
//! header promises.

use super::Truncation;
use super::budget::BudgetShare;
use super::buffer::Buffer;
use super::decode::{DecodeStop, Decoder};

/// The largest ratio of decoded to received bytes. A body that expands more is a bomb, once it is larger than
/// [`RATIO_FREE`]. (Repetitive pages reach a ratio of 50.)
const MOST_RATIO: u64 = 100;
/// The number of decoded bytes up to which the ratio does not count.
const RATIO_FREE: u64 = 1 << 20;
/// The largest Content-Length for which memory is taken before anything has arrived.
const MOST_PROMISED: usize = 64 << 10;
/// The size of a piece of a body up to which the buffers of its connection do not count.
const SMALL_PIECE: u64 = 16 << 10;

/// The reason why no more of a body is taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The body is over a cap. The bytes that have come are kept.
    Cut(Truncation),
    /// The budget has no room. Nothing is kept.
    Budget,
}

/// A body that is arriving.
pub(super) struct Body {
    /// The decoded bytes.
    pub(super) decoded: Buffer,
    /// The bytes as they were received, if they are wanted and differ from the decoded ones.
    pub(super) wire: Option<Buffer>,
    /// The number of bytes received.
    pub(super) wire_bytes: u64,
    /// The share of the budget that it holds.
    pub(super) share: BudgetShare,
    decoder: Option<Decoder>,
    /// The bytes of the decoder's history that the share already covers.
    held: u64,
    /// The bytes of the connection's buffers that the share already covers.
    buffers: u64,
    cap: usize,
}

impl Body {
    /// Makes an empty body of at most `cap` decoded bytes. `promised` is the Content-Length.
    pub(super) fn new(
        share: BudgetShare,
        decoder: Option<Decoder>,
        keep_wire: bool,
        cap: usize,
        promised: u64,
    ) -> Self {
        let wire = (keep_wire && decoder.is_some()).then(Buffer::new);
        let mut body = Self { decoded: Buffer::new(), wire, wire_bytes: 0, share, decoder, held: 0, buffers: 0, cap };
        let promised = usize::try_from(promised).unwrap_or(usize::MAX).min(MOST_PROMISED).min(cap);
        if promised > 0 && body.share.grow(promised as u64) {
            body.decoded.hold(promised, cap);
        }
        body
    }

    /// Takes the next bytes that were received.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<(), Full> {
        self.wire_bytes += chunk.len() as u64;
        self.count_buffers(chunk.len() as u64)?;
        let Self { decoded, wire, share, decoder, cap, wire_bytes, .. } = self;
        let Some(decoder) = decoder else { return append(decoded, chunk, *cap, share) };
        if let Some(wire) = wire {
            append(wire, chunk, *cap, share)?;
        }
        // A body whose coding shrinks nothing, or that is a stream of empty blocks, ends here.
        if *wire_bytes > *cap as u64 {
            return Err(Full::Cut(Truncation::Length));
        }
        let most = RATIO_FREE.max(*wire_bytes * MOST_RATIO);
        let result = decoder.push(chunk, most, &mut |piece| append(decoded, piece, *cap, share));
        result.map_err(|stop| match stop {
            DecodeStop::Broken | DecodeStop::Expands => Full::Cut(Truncation::Encoding),
            DecodeStop::Receiver(full) => full,
        })?;
        let held = decoder.held();
        if !share.grow(held - self.held) {
            return Err(Full::Budget);
        }
        self.held = held;
        Ok(())
    }

    /// Takes the connection's buffers from the budget. An HTTP/1.1 connection reads ever larger pieces from a fast host
    /// (up to 400 KiB). While one piece is decoded here, it has room for the next one of the same size.
    fn count_buffers(&mut self, piece: u64) -> Result<(), Full> {
        let buffers = if piece > SMALL_PIECE { 2 * piece } else { 0 };
        let more = buffers.min(self.share.most_buffers()).saturating_sub(self.buffers);
        if !self.share.grow(more) {
            return Err(Full::Budget);
        }
        self.buffers += more;
        Ok(())
    }

    /// Gives the connection's buffers back to the budget. To be called when no more of the body is read, also if it was
    /// cut.
    pub(super) fn release_buffers(&mut self) {
        self.share.shrink(std::mem::take(&mut self.buffers));
    }

    /// Ends the body after its last byte. Returns a value if something is missing all the same.
    pub(super) fn finish(&mut self) -> Option<Truncation> {
        let complete = self.decoder.as_mut().is_none_or(Decoder::finish);
        (!complete).then_some(Truncation::Encoding)
    }
}

/// Appends a piece, up to `cap` bytes in all. The growth of the buffer is taken from the budget.
fn append(bytes: &mut Buffer, piece: &[u8], cap: usize, share: &mut BudgetShare) -> Result<(), Full> {
    let fits = piece.len().min(cap - bytes.len());
    let (needed, held) = (bytes.len() + fits, bytes.held());
    if needed > held {
        let sizes = [bytes.wanted(needed, cap), needed];
        let Some(size) = sizes.into_iter().find(|size| share.grow((size - held) as u64)) else {
            return Err(Full::Budget);
        };
        bytes.hold(size, cap);
    }
    bytes.append(&piece[..fits]);
    if fits < piece.len() { Err(Full::Cut(Truncation::Length)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
