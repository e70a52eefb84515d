//! The evaluation harness: every signature scheme on the same labelled pairs.
