//! Figures of the app in its real window: `cargo xtask bench -- desktop`. This presses buttons and reads clocks, so it is built
//! as tests are; what it measures is the release build that `EBB_BIN_DIR` names, with real models.

#![expect(clippy::print_stdout, reason = "printing figures is what this is for")]

#[cfg(target_os = "linux")]
mod figures;

fn main() {
    println!("\n== desktop");
    #[cfg(target_os = "linux")]
    figures::print();
    #[cfg(not(target_os = "linux"))]
    println!("the app's figures are measured on Linux only");
}
