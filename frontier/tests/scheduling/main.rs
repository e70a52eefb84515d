//! Whose turn it is, and when: order, fairness, pace, floors, robots rules, seen from outside on a simulated clock.

mod notes;
mod order;
mod overtake;
mod pace;
mod refusals;
mod robots;
mod rules;
mod sim;
mod sitemaps;
mod slots;
