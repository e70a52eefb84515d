//! A seeded synthetic web with known truth. (Stub: to be written.)
