//! The routes of the live page.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde::Deserialize;

use super::beside::Beside;
use super::fragments::{self, HEAVY, LIGHT};
use super::guard::{guard, knows_token};
use super::shared::Shared;
use super::{metrics, page, stream};
use crate::engine::Control;
use crate::report::STYLE;
use crate::report::html::{Web, put};
use crate::report::shell::Shell;
use crate::report::view;

/// The time without a tick after which the engine counts as stalled. Normally there are four ticks a second.
const STALLED: Duration = Duration::from_secs(10);

const SCRIPT: &str = include_str!("../../assets/live.js");
const BODY: &str = include_str!("../../assets/live.html");

/// All routes, behind the guard.
pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(live))
        .route("/page", get(one_page))
        .route("/events", get(|State(shared): State<Arc<Shared>>| async move { stream::events(&shared) }))
        .route("/control", post(control))
        .route("/metrics", get(show_metrics))
        .route("/healthz", get(health))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// The live page as it is now. Its script keeps it up to date.
async fn live(State(shared): State<Arc<Shared>>) -> Response {
    let mut name = String::new();
    if !shared.reach.name.is_empty() {
        put!(name, " of {}", Web(&shared.reach.name));
    }
    let mut body = BODY.replace("<!--about-rules-->", view::ABOUT_RULES).replace("<!--name-->", &name);
    let parts = LIGHT.iter().chain(&HEAVY).copied().collect::<Vec<_>>();
    for (id, html) in fragments::draw(&shared, &parts) {
        let mut place = String::new();
        put!(place, "<!--{id}-->");
        body = body.replace(&place, &html);
    }
    document(Shell { title: "Crawl, live", style: STYLE, script: SCRIPT, connect: "'self'", body: &body })
}

fn document(shell: Shell<'_>) -> Response {
    let policy = format!("{}; frame-ancestors 'none'", shell.policy());
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(shell.html())).into_response()
}

#[derive(Deserialize)]
struct At {
    at: u64,
}

async fn one_page(State(shared): State<Arc<Shared>>, Query(At { at }): Query<At>) -> Response {
    match page::document(&shared, at) {
        Ok(Some(body)) => {
            document(Shell { title: "A page of the crawl", style: STYLE, script: "", connect: "'none'", body: &body })
        }
        Ok(None) => (StatusCode::NOT_FOUND, "no page begins there\n").into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    r#do: Do,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Do {
    Pause,
    Resume,
    Stop,
}

async fn control(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: String) -> Response {
    if !knows_token(&headers, &shared.token) {
        return (StatusCode::UNAUTHORIZED, "the token printed at start is needed\n").into_response();
    }
    let Ok(Wish { r#do }) = serde_json::from_str(&body) else {
        return (StatusCode::BAD_REQUEST, "expected {\"do\": \"pause\"}, \"resume\" or \"stop\"\n").into_response();
    };
    let control = match r#do {
        Do::Pause => Control::Pause,
        Do::Resume => Control::Resume,
        Do::Stop => Control::Stop,
    };
    if shared.wish(control) {
        Json(serde_json::json!({"paused": shared.is_paused()})).into_response()
    } else {
        (StatusCode::GONE, "the crawl has ended\n").into_response()
    }
}

async fn show_metrics(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let Some(Ok(open)) =
        shared.now().map(|now| metrics::open_metrics(now, shared.learned(), shared.reach.beside.as_deref()))
    else {
        return (StatusCode::SERVICE_UNAVAILABLE, "starting\n").into_response();
    };
    let wanted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if wanted.is_some_and(|wanted| wanted.contains("application/openmetrics-text")) {
        ([(header::CONTENT_TYPE, metrics::OPEN_METRICS)], open).into_response()
    } else {
        ([(header::CONTENT_TYPE, metrics::CLASSIC)], metrics::classic(&open)).into_response()
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    let beside = shared.reach.beside.as_deref();
    if let Some(trouble) = beside.and_then(Beside::trouble).filter(|_| !shared.is_finished()) {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n")).into_response();
    }
    let stalled = beside.map_or(STALLED, |beside| beside.patience().max(STALLED));
    match shared.now() {
        Some(now) if now.at.elapsed() < stalled || shared.is_finished() => "ok\n".into_response(),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "stalled\n").into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, "starting\n").into_response(),
    }
}
