//! The loop over a strip, compiled a second time for processors with AVX2 and BMI, which most have. The variant is
//! chosen at run time.

use super::{Reading, WordHash, Words};

/// Reads a strip as [`Words::strip`] does, by the fastest variant for this processor.
#[inline]
pub fn strip(words: &mut Words, reading: &mut Reading<'_>, out: &mut Vec<WordHash>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
    {
        // SAFETY: the processor has these features.
        return unsafe { strip_with_avx2(words, reading, out) };
    }
    words.strip(reading, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn strip_with_avx2(words: &mut Words, reading: &mut Reading<'_>, out: &mut Vec<WordHash>) {
    words.strip(reading, out);
}
