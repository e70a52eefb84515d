//! Protocol of `dedup-stage run`, version 1: JSON Lines in and out.
