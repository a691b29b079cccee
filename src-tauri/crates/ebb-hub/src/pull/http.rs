//! Requests: redirects followed, the token kept where it belongs, answers that are errors told apart.

use std::{sync::OnceLock, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{
    HeaderMap, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{AUTHORIZATION, HeaderValue, LOCATION, RANGE, RETRY_AFTER, USER_AGENT},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            Client,
            connect::{HttpConnector, proxy::Tunnel},
        },
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioExecutor,
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use url::Url;

use super::{
    Settings,
    patience::{Patience, Tries},
};
use crate::{Error, Missing};

const AGENT: &str = concat!("ebb/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The Hub uses one or two.
const MOST_REDIRECTS: usize = 8;
/// The largest answer that is kept in memory: a page of a list, a model's configuration.
const LARGEST_TEXT: usize = 16 << 20;

/// Failures in a row that are borne for a list: somebody waits, and nothing is lost yet.
const LIST_FAILURES: u32 = 2;

type Plain = Client<HttpConnector, Empty<Bytes>>;
type Secure = Client<HttpsConnector<HttpConnector>, Empty<Bytes>>;

/// Asks one Hub, and whom it sends on to.
#[derive(Debug)]
pub(crate) struct Http {
    settings: Settings,
    plain: Plain,
    /// Made when it is first needed: reading the system's certificates takes a while.
    secure: OnceLock<Secure>,
    proxies: Matcher,
}

/// What a request is about, for the words of what fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) repo: &'a str,
    pub(crate) revision: &'a str,
    /// The file that is asked for; `None` for lists.
    pub(crate) file: Option<&'a str>,
}

impl Http {
    pub(crate) fn new(settings: Settings) -> Self {
        let plain = Client::builder(TokioExecutor::new()).build(connector());
        Self { settings, plain, secure: OnceLock::new(), proxies: Matcher::from_env() }
    }

    pub(crate) fn patience(&self) -> Patience {
        self.settings.patience
    }

    /// An address of the Hub, its segments encoded where they need to be.
    pub(crate) fn address<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Result<Url, Error> {
        let mut url = self.settings.endpoint.clone();
        url.path_segments_mut()
            .map_err(|()| Error::BadEndpoint(self.settings.endpoint.to_string()))?
            .pop_if_empty()
            .extend(segments);
        Ok(url)
    }

    /// A whole answer as JSON, with its headers. What fails for a moment is tried again.
    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        url: &Url,
        about: About<'_>,
    ) -> Result<(T, HeaderMap), Error> {
        let patience = self.patience();
        let mut tries = Tries::new(Patience { failures: patience.failures.min(LIST_FAILURES), ..patience });
        let (body, headers) = loop {
            match self.text(url, about).await {
                Ok(answer) => break answer,
                Err(error) => tries.wait(error, |_, _| ()).await?,
            }
        };
        let value = serde_json::from_slice(&body)
            .map_err(|error| Error::Protocol(format!("{} is not as expected: {error}", url.path())))?;
        Ok((value, headers))
    }

    async fn text(&self, url: &Url, about: About<'_>) -> Result<(Bytes, HeaderMap), Error> {
        let (answer, host) = self.get(url, 0, about).await?;
        let (head, body) = answer.into_parts();
        let silence = self.patience().silence;
        let body = timeout(silence, Limited::new(body, LARGEST_TEXT).collect())
            .await
            .map_err(|_| Error::Stalled { host: host.clone(), after: silence })?
            .map_err(|source| Error::Connection { host, source })?;
        Ok((body.to_bytes(), head.headers))
    }

    /// The answer to a request for what lies at `url` from byte `from` on, and who gave it. An answer that is an error
    /// becomes one.
    pub(crate) async fn get(
        &self,
        url: &Url,
        from: u64,
        about: About<'_>,
    ) -> Result<(Response<Incoming>, String), Error> {
        let mut url = url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let host = host_of(&url);
            let answer = self.send(&url, from).await?;
            if !answer.status().is_redirection() {
                let fine = answer.status().is_success();
                return if fine { Ok((answer, host)) } else { Err(self.refusal(&answer, &url, about)) };
            }
            url = next(&url, answer.headers())?;
        }
        Err(Error::Protocol(format!("it sends on more than {MOST_REDIRECTS} times")))
    }

    async fn send(&self, url: &Url, from: u64) -> Result<Response<Incoming>, Error> {
        let host = host_of(url);
        let failed = |source| Error::connection(&host, source);
        let uri: Uri = url.as_str().parse().map_err(|error| failed(Box::new(error)))?;
        let mut request = Request::get(uri.clone()).header(USER_AGENT, AGENT);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        if let Some(token) = self.settings.token.as_ref().filter(|_| self.settings.trusts(url)) {
            let mut value =
                HeaderValue::try_from(token.as_header()).map_err(|error| failed(Box::new(error)))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let request = request.body(Empty::new()).map_err(|error| failed(Box::new(error)))?;
        let silence = self.patience().silence;
        let sent = async {
            match self.proxies.intercept(&uri) {
                _ if url.scheme() != "https" => {
                    self.plain.request(request).await.map_err(|error| failed(Box::new(error)))
                }
                Some(proxy) => {
                    through(&proxy)?.request(request).await.map_err(|error| failed(Box::new(error)))
                }
                None => self.secure()?.request(request).await.map_err(|error| failed(Box::new(error))),
            }
        };
        timeout(silence, sent)
            .await
            .unwrap_or_else(|_| Err(Error::Stalled { host: host.clone(), after: silence }))
    }

    fn secure(&self) -> Result<&Secure, Error> {
        if let Some(client) = self.secure.get() {
            return Ok(client);
        }
        let client = Client::builder(TokioExecutor::new()).build(secured(connector())?);
        Ok(self.secure.get_or_init(|| client))
    }

    /// What an answer that is an error means. The Hub says more in a header than in the status.
    fn refusal(&self, answer: &Response<Incoming>, url: &Url, about: About<'_>) -> Error {
        let header = |name| answer.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let repo = about.repo.to_owned();
        let from_hub = url.origin() == self.settings.endpoint.origin();
        let with_token = self.settings.token.is_some() && self.settings.trusts(url);
        let missing = |what| Error::NotFound { repo: repo.clone(), what, with_token };
        match (header("x-error-code").unwrap_or_default(), answer.status()) {
            ("GatedRepo", _) => Error::Gated { repo, with_token },
            ("RepoNotFound", _) => missing(Missing::Repository),
            ("RevisionNotFound", _) => missing(Missing::Revision(about.revision.to_owned())),
            (_, StatusCode::NOT_FOUND) if from_hub => match about.file {
                Some(file) => missing(Missing::File(file.to_owned())),
                None => missing(Missing::Repository),
            },
            (_, StatusCode::FORBIDDEN) if from_hub => Error::Gated { repo, with_token },
            (_, StatusCode::UNAUTHORIZED) if from_hub => Error::Unauthorized { repo, with_token },
            (_, status) => {
                let seconds = header(RETRY_AFTER.as_str()).and_then(|text| text.trim().parse().ok());
                let retry_after = seconds.map(Duration::from_secs);
                Error::Status { host: host_of(url), status: status.as_u16(), retry_after }
            }
        }
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector
}

/// Trusts the certificates that the system trusts, a company's own among them.
fn secured<C>(connector: C) -> Result<HttpsConnector<C>, Error> {
    Ok(HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(Error::NoCertificates)?
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector))
}

/// By way of a proxy, which sees the host's name and nothing of the content.
fn through(proxy: &Intercept) -> Result<Client<HttpsConnector<Tunnel<HttpConnector>>, Empty<Bytes>>, Error> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector());
    let tunnel = match proxy.basic_auth() {
        Some(auth) => tunnel.with_auth(auth.clone()),
        None => tunnel,
    };
    Ok(Client::builder(TokioExecutor::new()).build(secured(tunnel)?))
}

/// Where an answer sends on to. Never from a connection that is secure to one that is not.
fn next(url: &Url, headers: &HeaderMap) -> Result<Url, Error> {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let next = url.join(location).ok().filter(|_| !location.is_empty());
    let next = next.ok_or_else(|| Error::Protocol("it sends on to nowhere".to_owned()))?;
    let kept = next.scheme() == url.scheme() || next.scheme() == "https";
    if kept { Ok(next) } else { Err(Error::Protocol(format!("it sends on to a {} address", next.scheme()))) }
}

/// For messages: the host, without the path, which may hold a signature.
fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or("the Hub").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_a_connection_secure() {
        let to = |from: &str, location: &'static str| {
            let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
            next(&Url::parse(from).unwrap(), &headers).map(String::from)
        };
        assert_eq!(to("https://a/x/y", "/z").unwrap(), "https://a/z");
        assert_eq!(to("https://a/x/y", "https://b/z").unwrap(), "https://b/z");
        assert_eq!(to("http://a/x", "https://b/z").unwrap(), "https://b/z");
        for location in ["http://b/z", "file:///etc/passwd", ""] {
            assert!(to("https://a/x", location).is_err(), "{location}");
        }
    }

    #[test]
    fn the_system_has_certificates() {
        assert!(secured(connector()).is_ok(), "install ca-certificates");
    }
}
