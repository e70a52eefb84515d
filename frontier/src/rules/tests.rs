//! The learner on made-up sites.
