//! The page for browsers, and how they get in.

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header, request::Builder},
    response::Response,
};
use bytes::Bytes;
use ebb_core::Code;
use http_body_util::BodyExt as _;
use serde_json::json;

use super::{Scene, read, request};
use crate::ui::Page;

const HOST: &str = "127.0.0.1:4770";
const SCRIPT: &str = "/assets/index-1a2b3c4d.js";

fn scene() -> Scene {
    let files = [
        ("index.html", "<!doctype html><title>Ebb</title>"),
        ("icon.svg", "<svg/>"),
        ("assets/index-1a2b3c4d.js", "console.log(1)"),
    ];
    let files = files.map(|(path, content)| (path.to_owned(), Bytes::from_static(content.as_bytes())));
    Scene::with_page(Some(files.into_iter().collect::<Page>()))
}

/// What a browser asks: no token.
fn browser(method: Method, path: &str) -> Builder {
    Request::builder().method(method).uri(path).header(header::HOST, HOST)
}

async fn get(scene: &Scene, path: &str) -> Response {
    scene.send(browser(Method::GET, path).body(Body::empty()).unwrap()).await
}

async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn header_of(response: &Response, name: impl header::AsHeaderName) -> &str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// The path of a new link.
async fn link(scene: &Scene) -> String {
    let (status, link) = scene.call(Method::POST, "/ebb/v1/login-link", "").await;
    assert_eq!((status, &link["expires_in_ms"]), (StatusCode::OK, &json!(300_000)));
    link["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:4770").unwrap().to_owned()
}

/// A browser's cookie, as it sends it.
async fn cookie(scene: &Scene) -> String {
    let response = get(scene, &link(scene).await).await;
    let set = header_of(&response, header::SET_COOKIE);
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_lets_one_browser_in() {
    let scene = scene();
    let link = link(&scene).await;
    // Who only looks what is there uses nothing up.
    let looked = scene.send(browser(Method::HEAD, &link).body(Body::empty()).unwrap()).await;
    assert_eq!(looked.status(), StatusCode::UNAUTHORIZED);
    let response = get(&scene, &link).await;
    assert_eq!((response.status(), header_of(&response, header::LOCATION)), (StatusCode::SEE_OTHER, "/"));
    assert_eq!(header_of(&response, header::CACHE_CONTROL), "no-store");
    let set = header_of(&response, header::SET_COOKIE).to_owned();
    assert!(set.starts_with("ebb-4770=") && set.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{set}");

    let again = get(&scene, &link).await;
    assert_eq!((again.status(), header_of(&again, header::SET_COOKIE)), (StatusCode::UNAUTHORIZED, ""));
    assert!(text(again).await.contains("ebb ui"));
    // Only who is in already may open it again.
    let cookie = set.split(';').next().unwrap();
    let known = browser(Method::GET, &link).header(header::COOKIE, cookie).body(Body::empty()).unwrap();
    assert_eq!(scene.send(known).await.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn wrong_links_let_nobody_in() {
    let scene = scene();
    let link = link(&scene).await;
    let cut = &link[..link.len() - 1];
    for wrong in ["/login", "/login?once=", "/login?once=0", "/login?Once=1&", cut, &format!("{link}0")] {
        let response = get(&scene, wrong).await;
        assert_eq!(
            (response.status(), header_of(&response, header::SET_COOKIE)),
            (StatusCode::UNAUTHORIZED, "")
        );
        assert!(header_of(&response, header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    }
    // To another host's name a link is nothing, and stays good.
    let rebound = Request::get(&link).header(header::HOST, "evil.example:4770").body(Body::empty()).unwrap();
    assert_eq!(scene.send(rebound).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(get(&scene, &link).await.status(), StatusCode::SEE_OTHER);
}

/// A redirect would count as the other site's doing, and the cookie would stay behind.
#[tokio::test]
async fn a_link_in_another_page_works_as_well() {
    let scene = scene();
    let asked = browser(Method::GET, &link(&scene).await).header("sec-fetch-site", "cross-site");
    let response = scene.send(asked.body(Body::empty()).unwrap()).await;
    assert_eq!((response.status(), header_of(&response, "refresh")), (StatusCode::OK, "0; url=/"));
    assert!(header_of(&response, header::SET_COOKIE).starts_with("ebb-4770="));
}

#[tokio::test]
async fn the_page_is_for_those_who_came_by_a_link() {
    let scene = scene();
    let stranger = get(&scene, "/").await;
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(header_of(&stranger, header::CONTENT_TYPE), "text/html; charset=utf-8");
    assert!(text(stranger).await.contains("<code>ebb ui</code>"));

    let cookie = cookie(&scene).await;
    for path in ["/", "/index.html", "/?recorded"] {
        let asked = browser(Method::GET, path).header(header::COOKIE, &cookie);
        let response = scene.send(asked.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(header_of(&response, header::CONTENT_TYPE), "text/html; charset=utf-8");
        assert_eq!(header_of(&response, header::CACHE_CONTROL), "no-cache");
        let policy = header_of(&response, header::CONTENT_SECURITY_POLICY);
        for part in
            ["default-src 'self'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header_of(&response, header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header_of(&response, header::REFERRER_POLICY), "no-referrer");
        assert_eq!(text(response).await, "<!doctype html><title>Ebb</title>");
    }
}

#[tokio::test]
async fn routes_open_to_the_cookie_and_to_nobody_without() {
    let scene = scene();
    let stranger = get(&scene, "/ebb/v1/status").await;
    assert_eq!(
        header_of(&stranger, header::CONTENT_SECURITY_POLICY),
        "default-src 'none'; frame-ancestors 'none'"
    );
    let (status, body) = read(stranger).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::UNAUTHORIZED, &json!("unauthorized")));

    let cookie = cookie(&scene).await;
    let asked = |method: Method, path: &str| browser(method, path).header(header::COOKIE, &cookie);
    let looked = asked(Method::GET, "/ebb/v1/status").body(Body::empty()).unwrap();
    assert_eq!(read(scene.send(looked).await).await.0, StatusCode::OK);
    let key = || Body::from(r#"{"name": "app"}"#);
    let own =
        asked(Method::POST, "/ebb/v1/keys").header("sec-fetch-site", "same-origin").body(key()).unwrap();
    assert_eq!(read(scene.send(own).await).await.0, StatusCode::OK);
    let elsewhere = [
        ("origin", "http://127.0.0.1:3000"),
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "same-site"),
        ("accept", "text/html"),
    ];
    for (name, value) in elsewhere {
        let other = asked(Method::POST, "/ebb/v1/keys").header(name, value).body(key()).unwrap();
        let (status, body) = read(scene.send(other).await).await;
        assert_eq!(
            (status, &body["error"]["param"]),
            (StatusCode::FORBIDDEN, &json!("Origin")),
            "{name}: {value}"
        );
    }
    let rebound =
        Request::get("/ebb/v1/status").header(header::HOST, "evil.example").header(header::COOKIE, &cookie);
    let (status, body) = read(scene.send(rebound.body(Body::empty()).unwrap()).await).await;
    assert_eq!((status, &body["error"]["param"]), (StatusCode::FORBIDDEN, &json!("Host")));
}

#[tokio::test]
async fn files_are_kept_by_browsers_for_as_long_as_they_are_right() {
    let scene = scene();
    for (path, kind, caching) in [
        (SCRIPT, "text/javascript; charset=utf-8", "max-age=31536000, immutable"),
        ("/icon.svg", "image/svg+xml", "no-cache"),
    ] {
        let whole = get(&scene, path).await;
        assert_eq!((whole.status(), header_of(&whole, header::CONTENT_TYPE)), (StatusCode::OK, kind));
        assert_eq!(header_of(&whole, header::CACHE_CONTROL), caching);
        let tag = header_of(&whole, header::ETAG).to_owned();
        let length = header_of(&whole, header::CONTENT_LENGTH).to_owned();
        assert_eq!(text(whole).await.len().to_string(), length);

        let head = scene.send(browser(Method::HEAD, path).body(Body::empty()).unwrap()).await;
        assert_eq!(
            (head.status(), header_of(&head, header::CONTENT_LENGTH)),
            (StatusCode::OK, length.as_str())
        );
        assert_eq!(text(head).await, "");
        for (sent, status) in [
            (tag.clone(), StatusCode::NOT_MODIFIED),
            (format!("\"old\", W/{tag}"), StatusCode::NOT_MODIFIED),
            ("*".to_owned(), StatusCode::NOT_MODIFIED),
            ("\"old\"".to_owned(), StatusCode::OK),
            (tag.trim_matches('"').to_owned(), StatusCode::OK),
        ] {
            let asked = browser(Method::GET, path).header(header::IF_NONE_MATCH, &sent);
            let response = scene.send(asked.body(Body::empty()).unwrap()).await;
            assert_eq!(
                (response.status(), header_of(&response, header::ETAG)),
                (status, tag.as_str()),
                "{sent}"
            );
        }
    }
    let rebound = Request::get(SCRIPT).header(header::HOST, "evil.example").body(Body::empty()).unwrap();
    assert_eq!(scene.send(rebound).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn no_path_leads_to_another_file() {
    let scene = scene();
    for path in [
        "/assets/",
        "/assets",
        "//index.html",
        "/assets/../index.html",
        "/assets/..%2findex.html",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/Cargo.toml",
        "/assets%2findex-1a2b3c4d.js",
        "/assets/index-1a2b3c4d.js%00",
        "/assets/index-1a2b3c4d.js/",
        "/ASSETS/index-1a2b3c4d.js",
        "/icon.svg\\",
    ] {
        let response = get(&scene, path).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(header_of(&response, header::CONTENT_TYPE), "application/json", "{path}");
    }
    // Nothing is written to a file of the page.
    let written = scene.send(browser(Method::PUT, SCRIPT).body(Body::empty()).unwrap()).await;
    assert_eq!(written.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_host_without_a_page_says_how_to_get_one() {
    let scene = Scene::new();
    let (status, error) = scene.refused(Method::POST, "/ebb/v1/login-link", "").await;
    assert_eq!((status, error.code), (StatusCode::NOT_FOUND, Code::NotFound));
    assert!(error.hint.is_some_and(|hint| hint.contains("ebb server restart --ui")));
    for path in ["/", "/login", "/index.html"] {
        let (status, error) = scene.refused(Method::GET, path, "").await;
        assert_eq!((status, error.code), (StatusCode::NOT_FOUND, Code::NotFound), "{path}");
    }
}

/// A key that may control may make a link; one that may only infer would get everything by it.
#[tokio::test]
async fn only_control_makes_links() {
    let scene = scene();
    for (key, status) in [("ebb-infer", StatusCode::FORBIDDEN), ("ebb-control", StatusCode::OK)] {
        let mut asked = request(Method::POST, "/ebb/v1/login-link").body(Body::empty()).unwrap();
        asked.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {key}").parse().unwrap());
        assert_eq!(scene.send(asked).await.status(), status, "{key}");
    }
}
