//! The Python client's own tests, against a host of theirs that speaks the protocol.

use std::{path::Path, process::Command};

#[test]
fn the_python_client_passes_its_tests() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/ebb-client/python");
    let python = std::env::var_os("EBB_PYTHON").unwrap_or_else(|| "python3".into());
    let tested = Command::new(python)
        .current_dir(package)
        .args(["-W", "error", "-m", "unittest"])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 starts");
    let said = String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success(), "{said}");
    assert!(said.contains("\nOK"), "{said}");
    assert!(!said.contains("Ran 0 tests"), "no test was found: {said}");
}
