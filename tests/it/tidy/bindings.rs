//! What the page in `ui/` knows of the routes is what they say of themselves. (`cargo xtask check` sees to the types that a
//! tool of Node makes of it.)

use std::fs;

use super::root;

#[test]
fn the_page_knows_the_routes_as_they_are() {
    let kept = fs::read_to_string(root().join("ui/src/api/generated/openapi.json")).expect("it is text");
    // Not shown: it is long, and what to do about it is always the same.
    let current = kept == ebb_server::openapi_json();
    assert!(current, "ui/src/api/generated/openapi.json is stale: run `cargo xtask bindings`");
}
