//! How a browser gets in: by a link that works once, it gets a cookie that opens everything for as long as this host lives.
//!
//! Browsers send a cookie of 127.0.0.1 to every port there, and to them pages of other ports are of the same site. So the
//! cookie is named after the port, and the guard asks where a request with it comes from.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderValue, header};
use ebb_core::{Code, Failure, operations::LoginLink};

use crate::guard::same;

/// How long a link can be used.
const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

/// More links than this are not kept: the oldest goes.
const MOST_LINKS: usize = 16;

/// The links that were made, and the secret that a browser gets for one.
pub(crate) struct Logins {
    /// Where the page is.
    address: String,
    cookie: String,
    session: String,
    links: Mutex<Vec<Link>>,
}

/// A link that was not used yet.
struct Link {
    secret: String,
    until: Instant,
}

impl Logins {
    /// For a server on this port. No cookie of an earlier one opens it.
    ///
    /// # Errors
    /// [`Code::Internal`] where the system has no randomness to give.
    pub(crate) fn new(port: u16) -> Result<Self, Failure> {
        Ok(Self {
            address: format!("http://127.0.0.1:{port}"),
            cookie: format!("ebb-{port}"),
            session: secret::<32>()?,
            links: Mutex::default(),
        })
    }

    /// Makes a link that works once, until [`LINK_LIFE`] from `now`.
    ///
    /// # Errors
    /// As [`Logins::new`].
    pub(crate) fn link(&self, now: Instant) -> Result<LoginLink, Failure> {
        let secret = secret::<16>()?;
        let url = format!("{}/login?once={secret}", self.address);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| now < link.until);
        if links.len() == MOST_LINKS {
            links.remove(0);
        }
        links.push(Link { secret, until: now + LINK_LIFE });
        Ok(LoginLink { url, expires_in_ms: u64::try_from(LINK_LIFE.as_millis()).unwrap_or(u64::MAX) })
    }

    /// Whether this is the secret of a link that can still be used; from now on it cannot.
    pub(crate) fn redeem(&self, secret: &str, now: Instant) -> bool {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| now < link.until);
        let found = links.iter().position(|link| same(secret.as_bytes(), link.secret.as_bytes()));
        found.map(|at| links.remove(at)).is_some()
    }

    /// Whether the cookie of one who came by a link is among these headers.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        sent.flat_map(|cookies| cookies.split(';')).any(|cookie| {
            cookie.trim().split_once('=').is_some_and(|(name, value)| {
                name == self.cookie && same(value.as_bytes(), self.session.as_bytes())
            })
        })
    }

    /// What gives a browser the cookie: no script reads it, and no other site has it sent.
    pub(crate) fn cookie(&self) -> Option<HeaderValue> {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.session);
        let mut value = HeaderValue::try_from(cookie).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the secrets.
        f.debug_struct("Logins").field("cookie", &self.cookie).finish_non_exhaustive()
    }
}

/// A link, where this server has a page to let anyone in to.
///
/// # Errors
/// [`Code::NotFound`] where it has none; else as [`Logins::new`].
pub(crate) fn link(logins: Option<&Logins>) -> Result<LoginLink, Failure> {
    let logins = logins.ok_or_else(|| {
        Failure::new(Code::NotFound, "this host does not serve the page for browsers")
            .hint("`ebb server restart --ui` starts it anew with its page; models that are loaded come back")
    })?;
    logins.link(Instant::now())
}

/// What cannot be guessed: so many random bytes, in hex.
fn secret<const BYTES: usize>() -> Result<String, Failure> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(Code::Internal, format!("the system gave no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret_of(link: &LoginLink) -> String {
        link.url.strip_prefix("http://127.0.0.1:4770/login?once=").expect("a link").to_owned()
    }

    #[test]
    fn a_link_works_once() {
        let (logins, now) = (Logins::new(4770).unwrap(), Instant::now());
        let [one, two] = [(); 2].map(|()| secret_of(&logins.link(now).unwrap()));
        assert_eq!((one.len(), one == two), (32, false));
        assert!(!logins.redeem("", now) && !logins.redeem(&one[1..], now) && !logins.redeem("0", now));
        assert!(logins.redeem(&one, now));
        assert!(!logins.redeem(&one, now));
        assert!(logins.redeem(&two, now), "a link that another used its own beside");
    }

    #[test]
    fn a_link_ends_after_five_minutes() {
        let (logins, now) = (Logins::new(4770).unwrap(), Instant::now());
        let [one, two] = [(); 2].map(|()| logins.link(now).unwrap());
        assert_eq!(one.expires_in_ms, 300_000);
        assert!(logins.redeem(&secret_of(&one), now + LINK_LIFE - Duration::from_millis(1)));
        assert!(!logins.redeem(&secret_of(&two), now + LINK_LIFE));
    }

    #[test]
    fn a_flood_of_links_leaves_the_last_ones() {
        let (logins, now) = (Logins::new(4770).unwrap(), Instant::now());
        let links: Vec<_> = (0..=MOST_LINKS).map(|_| secret_of(&logins.link(now).unwrap())).collect();
        assert!(!logins.redeem(&links[0], now));
        assert!(links[1..].iter().all(|link| logins.redeem(link, now)));
    }

    #[test]
    fn the_cookie_is_found_among_others_and_only_whole() {
        let logins = Logins::new(4770).unwrap();
        let set = logins.cookie().unwrap();
        let (cookie, how) = set.to_str().unwrap().split_once(';').unwrap();
        assert_eq!(how, " Path=/; HttpOnly; SameSite=Strict");
        assert!(cookie.starts_with("ebb-4770=") && cookie.len() == 9 + 64, "{cookie}");
        let knows = |sent: &[&str]| {
            let mut headers = HeaderMap::new();
            for sent in sent {
                headers.append(header::COOKIE, HeaderValue::from_str(sent).unwrap());
            }
            logins.knows(&headers)
        };
        assert!(knows(&[cookie]) && knows(&["a=b", cookie]));
        assert!(knows(&[&format!("ebb-4770=old; theme=dark;{cookie}; x")]));
        let value = cookie.strip_prefix("ebb-4770=").unwrap();
        for wrong in [
            "",
            "ebb-4770",
            "ebb-4770=",
            &cookie[..cookie.len() - 1],
            &format!("{cookie}0"),
            &format!("ebb-4771={value}"),
            value,
        ] {
            assert!(!knows(&[wrong]), "{wrong}");
        }
        assert!(!knows(&[]));
        let other = Logins::new(4770).unwrap();
        assert!(
            !other.knows(&[(header::COOKIE, HeaderValue::from_str(cookie).unwrap())].into_iter().collect())
        );
    }
}
