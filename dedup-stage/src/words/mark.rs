//! Finds the positions at which words begin and end. Sixty-four bytes at a time become a mask of word bytes, and the
//! mask becomes positions.
//!
//! All positions of a strip are found before its words are read. If a word were loaded right after it was stored, the
//! load would wait for the store.

/// Bytes of a mask.
pub const BLOCK: usize = 64;

/// Writes the strip to `lower`, with ASCII capitals folded. Writes to `turns` the positions at which runs of word bytes
/// begin and end, in turn, and returns their number. `inside` is 1 if the byte before the strip belongs to a word;
/// afterwards, if the last byte of the strip does. Both buffers have room for the strip and one more block.
#[inline(always)]
pub fn turns(strip: &[u8], lower: &mut [u8], inside: &mut u64, turns: &mut [u16]) -> usize {
    let mut count = 0;
    for at in (0..strip.len()).step_by(BLOCK) {
        let mut block = [0; BLOCK];
        let rest = &strip[at..];
        match rest.first_chunk::<BLOCK>() {
            Some(whole) => block = *whole,
            None => block[..rest.len()].copy_from_slice(rest),
        }
        let mask = fold(&mut block);
        lower[at..at + BLOCK].copy_from_slice(&block);
        let mut turning = mask ^ (mask << 1 | *inside);
        *inside = mask >> 63;
        let room = turns[count..].first_chunk_mut::<BLOCK>().expect("room for a block");
        count += turning.count_ones() as usize;
        // Eight are written at a time, some of them in vain, because the processor cannot predict their number.
        for eight in room.as_chunks_mut::<8>().0 {
            for turn in eight {
                *turn = at as u16 + turning.trailing_zeros() as u16;
                turning &= turning.wrapping_sub(1);
            }
            if turning == 0 {
                break;
            }
        }
    }
    count
}

/// Folds ASCII capitals, and returns a mask of the bytes that a word may have: ASCII letters, digits, underscore, and
/// all bytes beyond ASCII, which are looked at later.
#[inline(always)]
fn fold(block: &mut [u8; 64]) -> u64 {
    let mut is_word = [0u8; 64];
    for (byte, is_word) in block.iter_mut().zip(&mut is_word) {
        let capital = byte.wrapping_sub(b'A') < 26;
        *byte |= u8::from(capital) << 5;
        let lower = byte.wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        *is_word = u8::from(lower | digit | (*byte == b'_') | (*byte >= 0x80));
    }
    let mut mask = 0;
    for (i, eight) in is_word.chunks_exact(8).enumerate() {
        let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        // The product gathers the lowest bits of eight bytes in its highest byte.
        mask |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}
