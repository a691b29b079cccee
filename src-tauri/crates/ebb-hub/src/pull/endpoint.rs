//! Which Hub is asked, and as whom.

use std::{fmt, path::PathBuf};

use url::Url;

use super::Patience;
use crate::{Error, find::hub_home};

/// The public Hub. `HF_ENDPOINT` names another one.
const PUBLIC: &str = concat!("https://", "huggingface", ".co");

/// A token of the Hub. It is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token, without the blanks around it; `None` where nothing is left.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Which Hub is asked, as whom, and with how much patience.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The Hub's address.
    pub endpoint: Url,
    /// Sent to the Hub itself and to nobody else, where the connection can be trusted with it.
    pub token: Option<Token>,
    /// How failures are dealt with.
    pub patience: Patience,
}

impl Settings {
    /// A Hub at an address, without a token.
    ///
    /// # Errors
    /// [`Error::BadEndpoint`] where it is no `http://` or `https://` address.
    pub fn at(endpoint: &str) -> Result<Self, Error> {
        let refused = || Error::BadEndpoint(endpoint.to_owned());
        let url = Url::parse(endpoint.trim().trim_end_matches('/')).map_err(|_| refused())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !url.username().is_empty() {
            return Err(refused());
        }
        Ok(Self { endpoint: url, token: None, patience: Patience::default() })
    }

    /// As the Hub's own programs read the environment: `HF_ENDPOINT`, `HF_TOKEN`, else the file that `HF_TOKEN_PATH` names
    /// or that logging in wrote; nothing of these where `HF_HUB_OFFLINE` is set.
    ///
    /// # Errors
    /// [`Error::BadEndpoint`], [`Error::Offline`].
    pub fn from_env() -> Result<Self, Error> {
        if is_set("HF_HUB_OFFLINE") {
            return Err(Error::Offline);
        }
        let settings = Self::at(variable("HF_ENDPOINT").as_deref().unwrap_or(PUBLIC))?;
        Ok(Self { token: token_from_env(), ..settings })
    }

    /// Whether a request to `url` may carry the token: to the Hub itself, and not in the clear over a network.
    pub(crate) fn trusts(&self, url: &Url) -> bool {
        let private = url.scheme() == "https" || url.host_str().is_some_and(is_loopback);
        private && url.origin() == self.endpoint.origin()
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn token_from_env() -> Option<Token> {
    if let Some(token) = variable("HF_TOKEN").or_else(|| variable("HUGGING_FACE_HUB_TOKEN")) {
        return Token::new(&token);
    }
    if is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
        return None;
    }
    let file = variable("HF_TOKEN_PATH").map(PathBuf::from).or_else(|| Some(hub_home()?.join("token")))?;
    Token::new(&std::fs::read_to_string(file).ok()?)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn is_set(name: &str) -> bool {
    variable(name)
        .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_the_hub_alone_and_is_not_shown() {
        let settings =
            Settings { token: Token::new(" secret\n"), ..Settings::at("https://hub.example/").unwrap() };
        for (url, want) in [
            ("https://hub.example/api/models/a/b", true),
            ("https://cdn.hub.example/blob", false),
            ("https://hub.example:444/", false),
            ("http://hub.example/", false),
            ("https://hub.example.evil/", false),
        ] {
            assert_eq!(settings.trusts(&Url::parse(url).unwrap()), want, "{url}");
        }
        assert!(!format!("{settings:?}").contains("secret"));
        assert_eq!(settings.token.unwrap().as_header(), "Bearer secret");
        let clear = Settings::at("http://hub.example").unwrap();
        assert!(!clear.trusts(&clear.endpoint), "not in the clear");
        let local = Settings::at("http://127.0.0.1:8080").unwrap();
        assert!(local.trusts(&local.endpoint));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "hub.example", "ftp://hub.example", "file:///etc", "https://user:pass@hub.example"] {
            assert!(matches!(Settings::at(text), Err(Error::BadEndpoint(_))), "{text}");
        }
        assert!(Settings::at(PUBLIC).is_ok());
    }
}
