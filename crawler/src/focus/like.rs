//! Example pages that are URLs. They are fetched once, before the crawl, as politely as anything else.

use std::sync::Arc;
use std::time::Duration;

use config::{Robots, Settings};
use frontier::robots::{Answer, RobotsRules};
use frontier::{Detail, JobKind};
use url::Url;

use super::TopicError;
use super::topic::text_of;
use crate::clock::Clock;
use crate::fetch::budget::ByteBudget;
use crate::fetch::{Fetch, Request, Response};

/// Fetches an example page, and returns its text. Before that, this fetches the robots.txt, and waits for the delay.
pub async fn example<F: Fetch>(fetch: &F, settings: &Settings, url: &Url, clock: &Clock) -> Result<String, TopicError> {
    let refused = |reason: String| TopicError::Example { url: url.to_string(), reason };
    let addresses: Arc<[_]> = fetch.resolve(url.clone()).await.map_err(|error| refused(error.to_string()))?.into();
    let get = |url: Url, kind| {
        let budget = ByteBudget::new(settings.fetch.body_budget.0);
        let addresses = Arc::clone(&addresses);
        fetch.fetch(Request::new(url, kind, addresses, budget))
    };
    if settings.politeness.robots == Robots::Obey {
        let robots = url.join("/robots.txt").map_err(|error| refused(error.to_string()))?;
        let at = clock.now();
        let rules = match get(robots, JobKind::Robots).await {
            Ok(Response { status, body, .. }) => RobotsRules::read(
                &Answer { url, status, retry_after: None, body: &body, at },
                &settings.fetch.user_agent,
            ),
            Err(error) => RobotsRules::unreachable(at, None, Detail::NoRobots(error.kind())),
        };
        if !rules.allowed(url) {
            return Err(refused("robots.txt forbids it".into()));
        }
        tokio::time::sleep(Duration::from_millis(settings.politeness.delay.0)).await;
    }
    let answer = get(url.clone(), JobKind::Page).await.map_err(|error| refused(error.to_string()))?;
    if !(200..300).contains(&answer.status) {
        return Err(refused(format!("status {}", answer.status)));
    }
    let content_type = answer.headers.get("content-type").and_then(|value| value.to_str().ok());
    Ok(text_of(&answer.body, content_type))
}
