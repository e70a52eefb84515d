//! Tests of the caps and the budget.

use super::*;
use crate::fetch::budget::ByteBudget;

fn plain(budget: &std::sync::Arc<ByteBudget>, cap: usize, promised: u64) -> Body {
    Body::new(budget.share(), None, false, cap, promised)
}

#[test]
fn a_body_takes_from_the_budget_what_it_holds() {
    let budget = ByteBudget::new(1 << 20);
    let mut body = plain(&budget, 1 << 20, 0);
    for _ in 0..100 {
        assert_eq!(body.push(&[b'x'; 1_000]), Ok(()));
        assert_eq!(budget.used(), body.decoded.held() as u64);
    }
    assert_eq!((body.decoded.len(), body.wire_bytes, body.finish()), (100_000, 100_000, None));
    assert!(budget.used() < 200_000);
    drop(body);
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_promise_is_believed_up_to_a_point() {
    let budget = ByteBudget::new(1 << 20);
    assert_eq!(plain(&budget, 1 << 30, 14_000).decoded.held(), 14_000);
    assert_eq!(plain(&budget, 1 << 30, u64::MAX).decoded.held(), MOST_PROMISED);
    assert_eq!(plain(&budget, 100, 14_000).decoded.held(), 100);
    let empty = ByteBudget::new(100);
    assert_eq!(plain(&empty, 1 << 30, 14_000).push(b"words"), Ok(()));
}

#[test]
fn a_body_over_its_cap_is_cut_there() {
    let budget = ByteBudget::new(1 << 20);
    let mut body = plain(&budget, 10_000, 0);
    assert_eq!(body.push(&[b'x'; 9_999]), Ok(()));
    assert_eq!(body.push(&[b'x'; 9_999]), Err(Full::Cut(Truncation::Length)));
    assert_eq!(body.decoded.len(), 10_000);
    let mut exact = plain(&budget, 10_000, 0);
    assert_eq!(exact.push(&[b'x'; 10_000]), Ok(()));
}

#[test]
fn a_body_that_finds_no_room_is_given_up() {
    let budget = ByteBudget::new(100_000);
    let mut first = plain(&budget, 1 << 20, 0);
    assert_eq!(first.push(&[b'x'; 70_000]), Ok(()));
    let mut second = plain(&budget, 1 << 20, 0);
    assert_eq!(second.push(&[b'x'; 40_000]), Err(Full::Budget));
    drop(first);
    assert_eq!(second.push(&[b'x'; 40_000]), Ok(()));
}

/// A connection that delivers large pieces has large buffers, until no more of its answer is read.
#[test]
fn the_buffers_of_the_connection_are_in_the_budget_while_the_body_is_read() {
    let budget = ByteBudget::new(64 << 20);
    let piece = [b'x'; 100_000];
    for cap in [1 << 20, 220_000] {
        let mut body = plain(&budget, cap, 0);
        for size in [100_000, 50_000, 100_000] {
            let is_cut = body.push(&piece[..size]).is_err();
            assert_eq!(is_cut, body.decoded.len() == cap);
            assert_eq!(budget.used(), body.decoded.held() as u64 + 200_000);
        }
        body.release_buffers();
        assert_eq!(budget.used(), body.decoded.held() as u64);
    }
    assert_eq!(budget.used(), 0);
}

/// Catches buffers that leave a body of a fast host no room in a small budget, although the body itself fits.
#[test]
fn a_body_that_fits_into_a_small_budget_fits_however_fast_its_host_is() {
    let budget = ByteBudget::new(1 << 20);
    let mut body = plain(&budget, 900_000, 0);
    for _ in 0..3 {
        assert_eq!(body.push(&[b'x'; 300_000]), Ok(()));
    }
    assert_eq!(body.decoded.len(), 900_000);
}

#[test]
fn the_last_of_the_budget_is_used_without_doubling() {
    let budget = ByteBudget::new(10_000);
    let mut body = plain(&budget, 1 << 20, 0);
    for _ in 0..10 {
        assert_eq!(body.push(&[b'x'; 1_000]), Ok(()));
    }
    assert_eq!(budget.used(), 10_000);
}

#[test]
fn a_decoder_counts_its_history() {
    // 8 MiB of zeros in zstd, by blocks of one repeated byte, with a window of 8 MiB.
    let block = (((128_u32 << 10) << 3) | (1 << 1)).to_le_bytes();
    let zeros = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3][..], &[block[0], block[1], block[2], 0].repeat(64)].concat();
    let budget = ByteBudget::new(64 << 20);
    let decoder = Decoder::new(["zstd"].into_iter()).expect("a known coding");
    let mut body = Body::new(budget.share(), decoder, true, 64 << 20, 0);
    // Without this, the ratio would end the body.
    body.wire_bytes = 1 << 20;
    assert_eq!(body.push(&zeros), Ok(()));
    assert_eq!(body.decoded.len(), 8 << 20);
    assert_eq!(budget.used(), (body.decoded.held() + body.wire.as_ref().map_or(0, Buffer::held) + (8 << 20)) as u64);
    assert_eq!(body.finish(), Some(Truncation::Encoding));
}
