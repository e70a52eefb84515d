//! The optimal visit rates of pages whose change rates are known, for a total budget and a limit for each host.

/// A page, or a cluster whose members are known.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The host from which it is fetched.
    pub host: u32,
    /// The number of changes a day.
    pub rate: f64,
    /// The number of pages that one fetch makes fresh.
    pub weight: f64,
}

/// The price of a fetch for each host, such that the demand spends the budget and stays within the limit `bound` of
/// each host (both in fetches a day).
pub fn prices(items: &[Item], hosts: usize, budget: f64, bound: f64) -> Vec<f64> {
    let mut by_host = vec![Vec::new(); hosts];
    for item in items {
        by_host[item.host as usize].push(*item);
    }
    let own: Vec<f64> = by_host.iter().map(|items| price(|at| demand(items, at), bound)).collect();
    let total = |at: f64| by_host.iter().zip(&own).map(|(items, own)| demand(items, at.max(*own))).sum();
    let common = price(total, budget);
    own.into_iter().map(|own| own.max(common)).collect()
}

/// The days between visits at a price; infinite if visits are not worth it.
pub fn interval(rate: f64, weight: f64, price: f64) -> f64 {
    inverse(price * rate / weight) / rate
}

fn demand(items: &[Item], price: f64) -> f64 {
    items.iter().map(|item| 1.0 / interval(item.rate, item.weight, price)).sum()
}

/// The price at which a falling demand equals the supply.
fn price(demand: impl Fn(f64) -> f64, supply: f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1e6_f64);
    while high / low > 1.0 + 1e-6 {
        let middle = (low * high).sqrt();
        *if demand(middle) > supply { &mut low } else { &mut high } = middle;
    }
    high
}

/// Solves `1 - e^-x (1 + x) = y` for x; infinite if y is 1 or more.
fn inverse(y: f64) -> f64 {
    if y >= 1.0 {
        return f64::INFINITY;
    }
    // Newton's method, starting from a lower estimate.
    let mut x = if y < 0.5 { (2.0 * y).sqrt() * (1.0 + (2.0 * y).sqrt() / 3.0) } else { 1.7 - (1.0 - y).ln() };
    for _ in 0..8 {
        let e = (-x).exp();
        let step = (1.0 - e * (1.0 + x) - y) / (x * e);
        x = (x - step).clamp(x / 3.0, x * 3.0);
        if step.abs() < 1e-9 * x {
            break;
        }
    }
    x
}
