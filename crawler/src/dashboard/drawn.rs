//! The live page as it was drawn last.

use std::collections::HashMap;
use std::sync::Arc;

/// The page as it was drawn last.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// HTML by the id of the element that holds it.
    pub parts: Arc<HashMap<&'static str, String>>,
    /// Whether the crawl had ended: nothing comes after this.
    pub last: bool,
}
