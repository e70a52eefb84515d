//! Checks that the system gives the program enough addresses for a crawl (`ulimit -v`). If it does not, the allocator
//! would end the program in the middle of its work, without a message.

use anyhow::ensure;
use rustix::process::{Resource, getrlimit};

use crate::units;

/// The bytes of addresses that a crawl takes. A crawl uses about a tenth of them; the allocator and threads reserve the
/// rest.
const NEEDED: u64 = 5 << 28;

/// An error that names the limit if it is too low for a crawl.
pub(super) fn check() -> anyhow::Result<()> {
    let limit = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
    ensure!(
        limit >= NEEDED,
        "the limit of addresses (ulimit -v) is {}, and a crawl needs {} of them, although it uses about a tenth of that as memory",
        units::bytes(limit),
        units::bytes(NEEDED)
    );
    Ok(())
}
