//! What Tauri makes of its configuration, and the list of commands that the window may call.

use std::{env, fs, path::PathBuf};

/// Each needs `allow-…` in `capabilities/main.json` to be called.
const COMMANDS: &[&str] =
    &["send", "read", "close", "desktop_info", "set_preference", "pick", "open_path", "save_file", "quit"];

fn main() {
    // A test compares them with what was registered and granted.
    println!("cargo:rustc-env=EBB_COMMANDS={}", COMMANDS.join(" "));
    page();
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    let attributes = tauri_build::Attributes::new().app_manifest(manifest);
    if let Err(error) = tauri_build::try_build(attributes) {
        panic!("{error:#}");
    }
}

/// Where the page was not built, the window says how to: code and its tests need no Node.
fn page() {
    const PAGE: &str = "../ui/dist";
    println!("cargo:rerun-if-changed={PAGE}");
    if PathBuf::from(PAGE).join("index.html").is_file() {
        return;
    }
    let instead = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names OUT_DIR")).join("page");
    fs::create_dir_all(&instead).expect("OUT_DIR can be written to");
    fs::copy("src/no_page.html", instead.join("index.html")).expect("OUT_DIR can be written to");
    println!("cargo:rerun-if-changed=src/no_page.html");
    let config = serde_json::json!({ "build": { "frontendDist": instead } });
    println!("cargo:rustc-env=TAURI_CONFIG={config}");
}
