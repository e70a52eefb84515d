//! The parts of the live page, as they were drawn last.

use std::collections::HashMap;
use std::sync::Arc;

/// The parts of the page, as they were drawn last.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// The HTML of each part, by the id of the element that holds it.
    pub parts: Arc<HashMap<&'static str, String>>,
    /// Whether the crawl has ended. If so, nothing is drawn after this.
    pub last: bool,
}
