//! The page of the app, for a browser on this machine: its files, and how one gets to them.
//!
//! The files are read when the server starts and found by their whole path: no request leads to any other file. What they
//! are is no secret; the routes that the page calls want its cookie as they want a token.

mod files;

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse as _, Response},
};
use ebb_core::Failure;

use crate::{error::Rejection, guard::Guard, login::Logins};

use files::File;

pub use files::Page;

/// What the page may do: call the server that it came from, and show what it has made itself.
const OF_THE_PAGE: &str = "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; object-src 'none'; frame-src 'none'; \
    frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The pages below do nothing; they bring a few lines of style.
const OF_A_NOTE: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; \
    base-uri 'none'; form-action 'none'";

/// An answer of a route is no page.
const OF_AN_ANSWER: &str = "default-src 'none'; frame-ancestors 'none'";

/// The page, and who may see what.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) page: Page,
    pub(crate) guard: Arc<Guard>,
    pub(crate) logins: Arc<Logins>,
}

/// Answers with the page where it is asked for; every answer says how a browser should take it.
pub(crate) async fn site(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match site.answer(&request) {
        Some(Ok(response)) => response,
        Some(Err(failure)) => Rejection::from(failure).into_response(),
        None => next.run(request).await,
    };
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Pages of other ports are of the same site: the cookie comes with what they ask for, the answer is not for them.
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(OF_AN_ANSWER));
}

/// What a browser asks for.
enum Asked<'a> {
    /// To be let in.
    Link,
    /// The page itself.
    Start,
    /// What the page brings along.
    File(&'a File),
}

impl Site {
    /// The answer, where this is not for the routes.
    fn answer(&self, request: &Request) -> Option<Result<Response, Failure>> {
        let asked = match (request.method(), request.uri().path()) {
            (&Method::GET, "/login") => Asked::Link,
            (&Method::GET | &Method::HEAD, "/" | "/index.html") => Asked::Start,
            (&Method::GET | &Method::HEAD, path) => Asked::File(self.page.file(path.strip_prefix('/')?)?),
            _ => return None,
        };
        // First of all: a link must not be used up for another name than ours.
        Some(self.guard.check_host(request).map(|()| match asked {
            Asked::Link => self.log_in(request),
            Asked::Start => self.start(request),
            Asked::File(file) => file.answer(request),
        }))
    }

    fn start(&self, request: &Request) -> Response {
        let Some(index) = self.page.file("index.html").filter(|_| self.logins.knows(request.headers()))
        else {
            let how = "Ask for a link with <code>ebb ui</code> in a terminal, and open it here: it lets this browser in.";
            return note(StatusCode::UNAUTHORIZED, "Ebb does not know this browser", how);
        };
        let mut response = index.answer(request);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(OF_THE_PAGE));
        response
    }

    fn log_in(&self, request: &Request) -> Response {
        // Who is in already may open a link again; it is not used up.
        let known = self.logins.knows(request.headers());
        let used = || {
            let asked = request.uri().query().unwrap_or_default();
            let secret = asked.split('&').find_map(|pair| pair.strip_prefix("once="));
            secret.is_some_and(|secret| self.logins.redeem(secret, Instant::now()))
        };
        if !known && !used() {
            let how =
                "Each link works once, for five minutes. <code>ebb ui</code> in a terminal makes another.";
            return note(StatusCode::UNAUTHORIZED, "This link does not work any more", how);
        }
        let mut response = go_on(request.headers());
        if let (false, Some(cookie)) = (known, self.logins.cookie()) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }
}

/// On to the page. Where a link was followed from another site, such as a terminal in a browser, a redirect would count as
/// that site's doing and go without the cookie: there our own small page asks for the next.
fn go_on(headers: &HeaderMap) -> Response {
    let from = headers.get("sec-fetch-site").and_then(|from| from.to_str().ok());
    if matches!(from, None | Some("none" | "same-origin")) {
        let headers = [(header::LOCATION, "/"), (header::CACHE_CONTROL, "no-store")];
        return (StatusCode::SEE_OTHER, headers).into_response();
    }
    let mut response = note(StatusCode::OK, "Ebb", "<a href=\"/\">Open the page</a>");
    response.headers_mut().insert("refresh", HeaderValue::from_static("0; url=/"));
    response
}

/// A small page of a heading and a sentence.
fn note(status: StatusCode, heading: &str, sentence: &str) -> Response {
    let page = format!(include_str!("ui/note.html"), heading = heading, sentence = sentence);
    let headers = [(header::CONTENT_SECURITY_POLICY, OF_A_NOTE), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Html(page)).into_response()
}
