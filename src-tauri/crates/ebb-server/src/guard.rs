//! Who may call: programs of the user that hold the token. The Host and Origin checks keep web pages out even if one
//! learned the token: a page on a rebound name sends that name, a page elsewhere sends its origin.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::Response,
};
use ebb_core::{Code, Failure};

use crate::error::Rejection;

/// What a request must show.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: [String; 3],
}

impl Guard {
    /// For a server on this port.
    pub(crate) fn new(token: String, port: u16) -> Self {
        Self { token, hosts: ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")) }
    }

    fn check(&self, request: &Request) -> Result<(), Failure> {
        self.check_host(request)?;
        self.check_origin(request.headers())?;
        self.check_token(request.headers())
    }

    fn check_host(&self, request: &Request) -> Result<(), Failure> {
        // A request line may carry an address of its own, which then counts as well.
        let authority = request.uri().authority().map(|authority| authority.as_str());
        let mut named =
            request.headers().get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or(""));
        let header = named.next();
        let ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        if header.is_some_and(ours) && named.next().is_none() && authority.is_none_or(ours) {
            return Ok(());
        }
        Err(Failure::new(Code::Forbidden, "the Host header is not this server's address")
            .hint(format!("call it as http://{}", self.hosts[0]))
            .param("Host"))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let ours = |origin: &str| {
            let host = origin.strip_prefix("http://");
            host.is_some_and(|host| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
        };
        let all_ours = headers.get_all(header::ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(ours));
        if all_ours {
            return Ok(());
        }
        Err(Failure::new(Code::Forbidden, "web pages of other origins may not call this server")
            .param("Origin"))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = sent.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        if token.is_some_and(|token| same(token.as_bytes(), self.token.as_bytes())) {
            return Ok(());
        }
        let what = if sent.is_some() { "the token is wrong" } else { "a token is missing" };
        Err(Failure::new(Code::Unauthorized, what)
            .hint("send 'Authorization: Bearer TOKEN' with the token of run/host.json in Ebb's data folder")
            .param("Authorization"))
    }
}

/// Compares without telling by its time where the first difference is. (The length of a token is no secret.)
fn same(sent: &[u8], secret: &[u8]) -> bool {
    let difference = sent.iter().zip(secret).fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    sent.len() == secret.len() && difference == 0
}

/// Lets a request through that shows what it must.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Result<Response, Rejection> {
    guard.check(&request)?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn check(uri: &str, headers: &[(&str, &str)]) -> Option<Code> {
        let mut request = axum::http::Request::get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        Guard::new(TOKEN.into(), 4770).check(&request).err().map(|failure| failure.code)
    }

    fn authorised(headers: &[(&str, &str)]) -> Option<Code> {
        let mut all = vec![("authorization", "Bearer 0123456789abcdef")];
        all.extend_from_slice(headers);
        check("/ebb/v1/status", &all)
    }

    #[test]
    fn only_the_whole_token_opens() {
        let with = |value| check("/", &[("host", "127.0.0.1:4770"), ("authorization", value)]);
        assert_eq!(with("Bearer 0123456789abcdef"), None);
        assert_eq!(with("bearer 0123456789abcdef"), None);
        for wrong in [
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer ",
            "Bearer",
            "",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert_eq!(with(wrong), Some(Code::Unauthorized), "{wrong:?}");
        }
        assert_eq!(check("/", &[("host", "127.0.0.1:4770")]), Some(Code::Unauthorized));
    }

    /// DNS rebinding: the page's own name resolves to 127.0.0.1, but its Host header gives it away.
    #[test]
    fn a_host_that_is_not_ours_is_refused() {
        for host in ["127.0.0.1:4770", "localhost:4770", "LOCALHOST:4770", "[::1]:4770"] {
            assert_eq!(authorised(&[("host", host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:4770",
            "127.0.0.1",
            "127.0.0.1:4771",
            "127.0.0.1:4770.evil.example",
            "",
        ] {
            assert_eq!(authorised(&[("host", host)]), Some(Code::Forbidden), "{host}");
        }
        assert_eq!(authorised(&[]), Some(Code::Forbidden), "none");
        let two = [("host", "127.0.0.1:4770"), ("host", "evil.example")];
        assert_eq!(authorised(&two), Some(Code::Forbidden), "two");
        let headers = [("host", "127.0.0.1:4770"), ("authorization", "Bearer 0123456789abcdef")];
        assert_eq!(
            check("http://evil.example/", &headers),
            Some(Code::Forbidden),
            "address in the request line"
        );
        assert_eq!(check("http://127.0.0.1:4770/", &headers), None);
    }

    #[test]
    fn an_origin_that_is_not_ours_is_refused() {
        let with = |origin| authorised(&[("host", "127.0.0.1:4770"), ("origin", origin)]);
        assert_eq!(with("http://127.0.0.1:4770"), None);
        assert_eq!(with("http://localhost:4770"), None);
        for origin in [
            "https://evil.example",
            "null",
            "http://127.0.0.1:3000",
            "http://localhost:4770.evil.example",
            "",
        ] {
            assert_eq!(with(origin), Some(Code::Forbidden), "{origin}");
        }
    }
}
