//! What the web view must find in the environment before it starts. It reads the environment of its process, which only
//! `exec` can change without a data race: the program starts itself again, once, before there is any thread.

#[cfg(target_os = "linux")]
pub(crate) use linux::prepare;

#[cfg(not(target_os = "linux"))]
pub(crate) fn prepare() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::{ffi::OsString, fs, os::unix::process::CommandExt as _, path::Path, process::Command};

    /// Set by the first start for the second.
    const PREPARED: &str = "EBB_DISPLAY_PREPARED";

    /// Starts the program again with what the web view needs; returns where it needs nothing, or cannot be started again.
    pub(crate) fn prepare() {
        if std::env::var_os(PREPARED).is_some() {
            return;
        }
        let wanted = wanted(renders(Path::new("/dev/dri")), |name| std::env::var_os(name));
        let (false, Ok(program)) = (wanted.is_empty(), std::env::current_exe()) else { return };
        // It returns only where it failed; the window then works too, with more memory and less speed.
        let _failed =
            Command::new(program).args(std::env::args_os().skip(1)).env(PREPARED, "1").envs(wanted).exec();
    }

    /// Variables to set. What the user set stays.
    fn wanted(gpu: bool, set: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, &'static str)> {
        let mut wanted = Vec::new();
        if !gpu && set("WEBKIT_DISABLE_COMPOSITING_MODE").is_none() {
            // Without a GPU, compositing costs 110 MiB and four times the CPU.
            wanted.push(("WEBKIT_DISABLE_COMPOSITING_MODE", "1"));
        }
        // The web view takes the locale's name for a language, and `C` is none: pages that format numbers would fail.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
            let value = set(name).filter(|value| !value.is_empty())?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        if let Some((name, _)) = locale.filter(|(_, value)| value == "C" || value.starts_with("C.")) {
            wanted.push((name, "en_US.UTF-8"));
        }
        wanted
    }

    /// Whether a device that renders is among those of the kernel's direct rendering.
    fn renders(folder: &Path) -> bool {
        let Ok(devices) = fs::read_dir(folder) else { return false };
        devices.flatten().any(|device| device.file_name().to_string_lossy().starts_with("renderD"))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn given(gpu: bool, set: &[(&str, &str)]) -> Vec<(&'static str, &'static str)> {
            wanted(gpu, |name| {
                set.iter().find(|(one, _)| *one == name).map(|(_, value)| OsString::from(value))
            })
        }

        #[test]
        fn compositing_is_off_where_no_gpu_renders() {
            assert_eq!(given(false, &[]), [("WEBKIT_DISABLE_COMPOSITING_MODE", "1")]);
            assert_eq!(given(true, &[]), []);
            assert_eq!(given(false, &[("WEBKIT_DISABLE_COMPOSITING_MODE", "0")]), [], "the user's choice");
        }

        #[test]
        fn the_page_gets_a_language() {
            assert_eq!(given(true, &[("LANG", "C.UTF-8")]), [("LANG", "en_US.UTF-8")]);
            assert_eq!(given(true, &[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]), [("LC_ALL", "en_US.UTF-8")]);
            assert_eq!(given(true, &[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]), []);
            assert_eq!(given(true, &[("LANG", "Cs_CZ")]), [], "only begins alike");
        }

        #[test]
        fn a_device_that_only_shows_is_no_gpu() {
            let folder = tempfile::tempdir().unwrap();
            assert!(!renders(&folder.path().join("dri")));
            fs::write(folder.path().join("card0"), "").unwrap();
            assert!(!renders(folder.path()));
            fs::write(folder.path().join("renderD128"), "").unwrap();
            assert!(renders(folder.path()));
        }
    }
}
