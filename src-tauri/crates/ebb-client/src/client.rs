//! The connection to a host, and what concerns the host as a whole.

use std::{io::ErrorKind, path::PathBuf, time::Duration};

use ebb_core::{
    Code, Endpoint, ErrorBody, Failure, Places, format_bytes,
    operations::{
        AddKey, AddModel, AddedKey, Doctor, HostStatus, InstallPlugin, KeyEntry, KeyList, LoginLink,
        MAX_BODY_BYTES, ModelEntry, ModelList, OptionList, PluginEntry, PluginList, Profile, ProfileList,
        Shutdown,
    },
};
use reqwest::{Method, RequestBuilder, Response, Url, header::CONTENT_TYPE};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, EventStream, Model, Plugin};

/// A host on loopback answers at once or not at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A running host. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    endpoint: Endpoint,
    endpoint_file: PathBuf,
}

impl Client {
    /// The host of this user, found through its endpoint file. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::NotRunning`] where there is no endpoint file, [`Error::Endpoint`] where it cannot be read,
    /// [`Error::Refused`] where the user has no home folder.
    pub fn connect() -> Result<Self, Error> {
        Self::connect_in(&Places::from_env()?)
    }

    /// As [`Client::connect`], for other places than those that the environment names.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub fn connect_in(places: &Places) -> Result<Self, Error> {
        let path = places.endpoint_file();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(Error::NotRunning { endpoint_file: path });
            }
            Err(source) => return Err(Error::Endpoint { path, source }),
        };
        let endpoint = serde_json::from_slice(&text)
            .map_err(|source| Error::Endpoint { path: path.clone(), source: source.into() })?;
        let mut client = Self::at(endpoint)?;
        client.endpoint_file = path;
        Ok(client)
    }

    /// The host at an address that is already known.
    ///
    /// # Errors
    /// [`Error::Protocol`] where the address is none.
    pub fn at(endpoint: Endpoint) -> Result<Self, Error> {
        let base = Url::parse(&endpoint.url)
            .ok()
            .filter(|url| !url.cannot_be_a_base())
            .ok_or_else(|| Error::Protocol(format!("'{}' is not an address", endpoint.url)))?;
        // A proxy that the environment names must never see requests for loopback, nor their token.
        let http = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|source| Error::Transport { url: endpoint.url.clone(), source })?;
        Ok(Self { http, base, endpoint, endpoint_file: PathBuf::new() })
    }

    /// Who the host is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// How the host fares.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn status(&self) -> Result<HostStatus, Error> {
        self.get(&["status"], &[]).await
    }

    /// Has the host finish what is in flight, for `drain_ms` at most (10 s where not given), and end.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn shutdown(&self, drain_ms: Option<u64>) -> Result<HostStatus, Error> {
        self.post(&["shutdown"], &Shutdown { drain_ms }).await
    }

    /// A link that lets one browser on this machine in to the host's page, once.
    ///
    /// # Errors
    /// See [`Error`]; [`Error::Refused`] where the host serves no page.
    pub async fn login_link(&self) -> Result<LoginLink, Error> {
        self.post(&["login-link"], &serde_json::Map::new()).await
    }

    /// What is there and what is missing.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn doctor(&self) -> Result<Doctor, Error> {
        self.get(&["doctor"], &[]).await
    }

    /// Every model of the catalogue.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn models(&self) -> Result<ModelList, Error> {
        self.get(&["models"], &[]).await
    }

    /// Adds a model to the catalogue. The host reads the path: it must be absolute.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn add_model(&self, model: &AddModel) -> Result<ModelEntry, Error> {
        self.post(&["models"], model).await
    }

    /// The model of that alias. Nothing is asked of the host yet.
    pub fn model(&self, alias: impl Into<String>) -> Model {
        Model::new(self.clone(), alias.into())
    }

    /// Catalogue entries of options that contain every word; all of them for an empty text.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn options(&self, words: &str) -> Result<OptionList, Error> {
        self.get(&["options"], &[("search", words)]).await
    }

    /// Every profile.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn profiles(&self) -> Result<ProfileList, Error> {
        self.get(&["profiles"], &[]).await
    }

    /// One profile.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn profile(&self, name: &str) -> Result<Profile, Error> {
        self.get(&["profiles", name], &[]).await
    }

    /// Saves a profile under its name, over one of that name.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn save_profile(&self, profile: &Profile) -> Result<Profile, Error> {
        let request = self.request(Method::PUT, &["profiles", &profile.name], &[])?;
        self.json(self.send(with_body(request, profile)?).await?).await
    }

    /// Removes a profile and answers with what it was.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_profile(&self, name: &str) -> Result<Profile, Error> {
        self.delete(&["profiles", name]).await
    }

    /// Makes a key for an app. It is in the answer, and never shown again.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn add_key(&self, key: &AddKey) -> Result<AddedKey, Error> {
        self.post(&["keys"], key).await
    }

    /// Every key, without its secret.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn keys(&self) -> Result<KeyList, Error> {
        self.get(&["keys"], &[]).await
    }

    /// Removes a key: it opens nothing from here on.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_key(&self, name: &str) -> Result<KeyEntry, Error> {
        self.delete(&["keys", name]).await
    }

    /// Every plugin.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn plugins(&self) -> Result<PluginList, Error> {
        self.get(&["plugins"], &[]).await
    }

    /// Installs a plugin. The host reads the path: it must be absolute.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn install_plugin(&self, plugin: &InstallPlugin) -> Result<PluginEntry, Error> {
        self.post(&["plugins"], plugin).await
    }

    /// The plugin of that id. Nothing is asked of the host yet.
    pub fn plugin(&self, id: impl Into<String>) -> Plugin {
        Plugin::new(self.clone(), id.into())
    }

    /// What happens to models from now on: to all, or to the one named.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn events(&self, model: Option<&str>) -> Result<EventStream, Error> {
        let query: Vec<_> = model.map(|alias| ("model", alias)).into_iter().collect();
        let response = self.send(self.request(Method::GET, &["events"], &query)?).await?;
        Ok(EventStream::new(self.lines(response)))
    }
}

/// What the other files of this crate build on.
impl Client {
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, Error> {
        self.json(self.send(self.request(Method::GET, path, query)?).await?).await
    }

    pub(crate) async fn delete<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Error> {
        self.json(self.send(self.request(Method::DELETE, path, &[])?).await?).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + ?Sized),
    ) -> Result<T, Error> {
        let request = self.request(Method::POST, path, &[])?;
        self.json(self.send(with_body(request, body)?).await?).await
    }

    /// A request for `/ebb/v1/` and these segments, each encoded where it needs to be.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<RequestBuilder, Error> {
        // An address drops '.' and '..' and would reach another route: no model or profile is called so.
        if let Some(odd) = path.iter().find(|segment| matches!(**segment, "" | "." | "..")) {
            let message = format!("'{odd}' is not a name of anything here");
            return Err(Failure::new(Code::NotFound, message).into());
        }
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| Error::Protocol(format!("'{}' is not an address", self.endpoint.url)))?
            .pop_if_empty()
            .extend(["ebb", "v1"])
            .extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(self.http.request(method, url).bearer_auth(&self.endpoint.token))
    }

    /// Sends it; an answer that is an error becomes one.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, Error> {
        let response = request.send().await.map_err(|source| self.transport(source))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = response.bytes().await.map_err(|source| self.transport(source))?;
        match serde_json::from_slice::<ErrorBody>(&body) {
            Ok(body) => Err(Error::Refused(body.into())),
            Err(_) => Err(Error::Protocol(format!("it answered {status} without saying why"))),
        }
    }

    pub(crate) async fn json<T: DeserializeOwned>(&self, response: Response) -> Result<T, Error> {
        let body = response.bytes().await.map_err(|source| self.transport(source))?;
        serde_json::from_slice(&body).map_err(|error| Error::Protocol(error.to_string()))
    }

    pub(crate) fn lines(&self, response: Response) -> crate::lines::Lines {
        crate::lines::Lines::new(response, self.endpoint.url.clone())
    }

    fn transport(&self, source: reqwest::Error) -> Error {
        if source.is_connect() {
            return Error::NotRunning { endpoint_file: self.endpoint_file.clone() };
        }
        Error::Transport { url: self.endpoint.url.clone(), source }
    }
}

/// Puts a body of JSON into the request. One that the host would not take is refused here: the host hangs up in the middle
/// of it, which looks like a host that has ended.
pub(crate) fn with_body(
    request: RequestBuilder,
    body: &(impl Serialize + ?Sized),
) -> Result<RequestBuilder, Error> {
    let json = serde_json::to_vec(body)
        .map_err(|error| Failure::new(Code::InvalidRequest, format!("the request is no JSON: {error}")))?;
    check_length(
        json.len(),
        MAX_BODY_BYTES,
        "send less at once: fewer texts, or a smaller tensor (in JSON it takes 4/3 of its data's size)",
    )?;
    Ok(request.header(CONTENT_TYPE, "application/json").body(json))
}

/// Refuses a body that the host would not take.
pub(crate) fn check_length(bytes: usize, limit: usize, hint: &str) -> Result<(), Error> {
    if bytes <= limit {
        return Ok(());
    }
    let (bytes, limit) = (bytes as u64, limit as u64);
    let (size, most) = (format_bytes(bytes), format_bytes(limit));
    Err(Failure::new(Code::TooLarge, format!("the request takes {size}, the host takes {most}"))
        .hint(hint)
        .detail("bytes", bytes)
        .detail("limit_bytes", limit)
        .into())
}
