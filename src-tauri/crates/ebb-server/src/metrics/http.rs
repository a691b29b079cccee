//! How often each route was called, and how it answered.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use axum::http::{Method, StatusCode};

use super::text::{Kind, Text};

/// Answers by route, method and status. Routes are those that there are, so there are never many.
#[derive(Debug, Default)]
pub(crate) struct HttpCounts(Mutex<BTreeMap<(String, &'static str, u16), u64>>);

impl HttpCounts {
    /// Counts an answer; `route` is `None` where there is none.
    pub(crate) fn count(&self, route: Option<&str>, method: &Method, status: StatusCode) {
        let of = (route.unwrap_or("none").to_owned(), known(method), status.as_u16());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(of).or_default() += 1;
    }

    pub(super) fn write(&self, text: &mut Text) {
        const NAME: &str = "ebb_http_requests_total";
        text.family(NAME, Kind::Counter, "Answers by route, method and status.");
        for ((route, method, status), count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            text.sample(
                NAME,
                &[("route", route), ("method", method), ("status", &status.to_string())],
                count,
            );
        }
    }
}

/// The method, if it is one that is used: a client may make up any other.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_route_and_status() {
        let counts = HttpCounts::default();
        for _ in 0..2 {
            counts.count(Some("/v1/models/{model}"), &Method::GET, StatusCode::OK);
        }
        counts.count(None, &Method::from_bytes(b"MADEUP").unwrap(), StatusCode::NOT_FOUND);
        let mut text = Text::default();
        counts.write(&mut text);
        let text = text.finish();
        for line in [
            r#"ebb_http_requests_total{route="/v1/models/{model}",method="GET",status="200"} 2"#,
            r#"ebb_http_requests_total{route="none",method="other",status="404"} 1"#,
        ] {
            assert!(text.lines().any(|one| one == line), "{text}");
        }
    }
}
