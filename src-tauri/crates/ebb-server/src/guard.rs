//! Who may call: programs of the user that hold the token, which opens everything, and apps that hold a key, which opens what
//! its scopes say. The Host and Origin checks keep web pages out even if one learned the token: a page on a rebound name
//! sends that name, a page elsewhere sends its origin. Our own page sends the cookie that a browser got for a link.

use std::{fmt, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};
use ebb_core::{Code, Failure, operations::KeyScope};

use crate::{error::Rejection, login::Logins};

/// Where a request comes from, in the browser's own word, which no page can change.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a key opens; `None` where it is none.
type ScopesOfKey = Box<dyn Fn(&str) -> Option<Vec<KeyScope>> + Send + Sync>;

/// What a request must show.
pub(crate) struct Guard {
    token: String,
    hosts: [String; 3],
    scopes_of_key: ScopesOfKey,
    /// Where the server has a page.
    logins: Option<Arc<Logins>>,
}

/// What whoever sent a request may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// The token's holder, and the user's own browser: everything.
    Everything,
    /// A key's holder: what its scopes say.
    Scopes(Vec<KeyScope>),
}

impl Guard {
    /// For a server on this port. `scopes_of_key` tells what a key opens; `None` where it is none.
    pub(crate) fn new(
        token: String,
        port: u16,
        scopes_of_key: impl Fn(&str) -> Option<Vec<KeyScope>> + Send + Sync + 'static,
    ) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        Self { token, hosts, scopes_of_key: Box::new(scopes_of_key), logins: None }
    }

    /// Lets those in, too, who came by a link.
    pub(crate) fn with_logins(self, logins: Option<Arc<Logins>>) -> Self {
        Self { logins, ..self }
    }

    fn check(&self, request: &Request) -> Result<Access, Failure> {
        self.check_host(request)?;
        self.check_origin(request.headers())?;
        self.access(request.method(), request.headers())
    }

    /// Refuses what was sent to another name than ours.
    pub(crate) fn check_host(&self, request: &Request) -> Result<(), Failure> {
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

    fn access(&self, method: &Method, headers: &HeaderMap) -> Result<Access, Failure> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = sent.and_then(|value| {
            let (scheme, shown) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| shown.trim())
        });
        if shown.is_some_and(|shown| same(shown.as_bytes(), self.token.as_bytes())) {
            return Ok(Access::Everything);
        }
        if let Some(scopes) = shown.and_then(|shown| (self.scopes_of_key)(shown)) {
            return Ok(Access::Scopes(scopes));
        }
        if sent.is_none() && self.logins.as_ref().is_some_and(|logins| logins.knows(headers)) {
            from_our_page(method, headers)?;
            return Ok(Access::Everything);
        }
        let what = if sent.is_some() { "the token or key is wrong" } else { "a token or key is missing" };
        Err(Failure::new(Code::Unauthorized, what)
            .hint(
                "send 'Authorization: Bearer TOKEN' with the token of run/host.json in Ebb's data folder, or with a key \
                 that `ebb key add NAME` made",
            )
            .param("Authorization"))
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the token.
        f.debug_struct("Guard").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// Refuses what comes with our cookie and was not sent by our page: a browser sends it along for pages of other ports.
fn from_our_page(method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let changes = !matches!(*method, Method::GET | Method::HEAD);
    let ours = match (text(SEC_FETCH_SITE), text(header::ORIGIN)) {
        (Some("same-origin"), _) => true,
        // What a person typed.
        (Some("none"), _) => !changes,
        (Some(_), _) => false,
        (None, Some(origin)) => {
            text(header::HOST).is_some_and(|host| origin.strip_prefix("http://") == Some(host))
        }
        (None, None) => !changes,
    };
    if ours {
        return Ok(());
    }
    Err(Failure::new(Code::Forbidden, "what a browser asks with its cookie must come from Ebb's own page")
        .hint("programs send 'Authorization: Bearer TOKEN' instead")
        .param("Origin"))
}

/// Compares without telling by its time where the first difference is. (The length of a token is no secret.)
pub(crate) fn same(sent: &[u8], secret: &[u8]) -> bool {
    let difference = sent.iter().zip(secret).fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    sent.len() == secret.len() && difference == 0
}

/// Lets a request through that shows what it must.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Rejection> {
    let access = guard.check(&request)?;
    request.extensions_mut().insert(access);
    Ok(next.run(request).await)
}

/// Lets a request through whose sender has this scope.
pub(crate) async fn needs(
    State(scope): State<KeyScope>,
    request: Request,
    next: Next,
) -> Result<Response, Rejection> {
    may(request.extensions().get(), scope)?;
    Ok(next.run(request).await)
}

fn may(access: Option<&Access>, scope: KeyScope) -> Result<(), Failure> {
    let scopes = match access {
        Some(Access::Everything) => return Ok(()),
        Some(Access::Scopes(scopes)) => scopes.as_slice(),
        // Not behind the guard: nobody may.
        None => &[],
    };
    if scopes.contains(&scope) {
        return Ok(());
    }
    let name = |scope: &KeyScope| match scope {
        KeyScope::Infer => "infer",
        KeyScope::Control => "control",
    };
    let (has, wanted) = (scopes.iter().map(name).collect::<Vec<_>>().join(", "), name(&scope));
    Err(Failure::new(
        Code::Forbidden,
        format!("this key has the scope {has}; what was asked needs the scope {wanted}"),
    )
    .hint(format!("use a key that was made with the scope {wanted}, or the host's token"))
    .param("Authorization"))
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
        guard().check(&request).err().map(|failure| failure.code)
    }

    /// Where the key `ebb-app` may infer.
    fn guard() -> Guard {
        Guard::new(TOKEN.into(), 4770, |key| (key == "ebb-app").then(|| vec![KeyScope::Infer]))
    }

    fn authorised(headers: &[(&str, &str)]) -> Option<Code> {
        let mut all = vec![("authorization", "Bearer 0123456789abcdef")];
        all.extend_from_slice(headers);
        check("/ebb/v1/status", &all)
    }

    #[test]
    fn a_cookie_opens_for_our_own_page_alone() {
        let logins = Arc::new(Logins::new(4770).unwrap());
        let guard = guard().with_logins(Some(Arc::clone(&logins)));
        let set = logins.cookie().unwrap();
        let cookie = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        let check = |method: Method, sent: &[(&str, &str)]| {
            let mut request = axum::http::Request::builder().method(method).uri("/ebb/v1/status");
            for (name, value) in [("host", "127.0.0.1:4770"), ("cookie", cookie.as_str())].iter().chain(sent)
            {
                request = request.header(*name, *value);
            }
            guard.check(&request.body(Body::empty()).unwrap()).map_err(|failure| failure.code)
        };
        let refused = Err(Code::Forbidden);
        for (method, sent, outcome) in [
            (Method::GET, &[][..], Ok(Access::Everything)),
            (Method::GET, &[("sec-fetch-site", "same-origin")], Ok(Access::Everything)),
            (Method::GET, &[("sec-fetch-site", "none")], Ok(Access::Everything)),
            // An image or a script in a page of another port.
            (Method::GET, &[("sec-fetch-site", "same-site")], refused.clone()),
            (Method::GET, &[("sec-fetch-site", "cross-site")], refused.clone()),
            (Method::POST, &[], refused.clone()),
            (Method::POST, &[("sec-fetch-site", "none")], refused.clone()),
            (Method::POST, &[("sec-fetch-site", "same-site")], refused.clone()),
            (Method::POST, &[("sec-fetch-site", "same-origin")], Ok(Access::Everything)),
            (Method::DELETE, &[("origin", "http://127.0.0.1:4770")], Ok(Access::Everything)),
            (Method::PUT, &[("origin", "http://127.0.0.1:3000")], refused.clone()),
            (Method::PUT, &[("origin", "null")], refused.clone()),
            (
                Method::POST,
                &[("origin", "http://localhost:4770"), ("sec-fetch-site", "cross-site")],
                refused.clone(),
            ),
            // A wrong token is not made good by a cookie.
            (Method::GET, &[("authorization", "Bearer 0")], Err(Code::Unauthorized)),
        ] {
            assert_eq!(check(method.clone(), sent), outcome, "{method} {sent:?}");
        }
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

    #[test]
    fn a_key_opens_what_its_scopes_say() {
        let access = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            guard().access(&Method::GET, &headers)
        };
        let everything = access("Bearer 0123456789abcdef").unwrap();
        let key = access("bearer ebb-app").unwrap();
        assert_eq!(key, Access::Scopes(vec![KeyScope::Infer]));
        assert_eq!(access("Bearer ebb-apq").unwrap_err().code, Code::Unauthorized);
        may(Some(&everything), KeyScope::Control).unwrap();
        may(Some(&key), KeyScope::Infer).unwrap();
        let refused = may(Some(&key), KeyScope::Control).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
        assert_eq!(refused.message, "this key has the scope infer; what was asked needs the scope control");
        assert_eq!(may(None, KeyScope::Infer).unwrap_err().code, Code::Forbidden);
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
