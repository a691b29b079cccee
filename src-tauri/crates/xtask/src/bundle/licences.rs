//! The licences of everything that a package brings: of the crates in the programs and the plugins, of the page's packages, of
//! ONNX Runtime, as the sources themselves give them.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failed::{Failed, Outcome, While};
use crate::node;
use crate::tasks::{cargo, plugins_cargo, workspace};

/// A package that somebody else wrote.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    /// With its version.
    name: String,
    licence: String,
    folder: PathBuf,
}

/// One text: which package is under which licence, then every licence's text once. ONNX Runtime's lies beside its `library`.
pub(super) fn of_everything(library: &Path) -> Outcome<String> {
    let sources = registries()?;
    let tree = ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}\t{l}"];
    let programs = ["--package", "ebb-desktop", "--package", "ebb-cli", "--package", "ebb-worker"];
    let mut packages = crates(&said(cargo().args(tree).args(programs))?, &sources)?;
    packages.extend(crates(&said(plugins_cargo()?.args(tree).arg("--workspace"))?, &sources)?);
    let mut listed = node::npm();
    listed.args(["ls", "--omit=dev", "--all", "--parseable"]).current_dir(workspace().join("ui"));
    packages.extend(of_the_page(&said(&mut listed)?));
    packages.push(of_onnxruntime(library)?);
    packages.sort();
    packages.dedup_by(|one, other| one.name == other.name);
    written(&packages)
}

fn of_onnxruntime(library: &Path) -> Outcome<Package> {
    let folder = library.parent().unwrap_or(Path::new("."));
    if licence_files(folder)?.is_empty() {
        let library = library.display();
        return Err(Failed::new(format!("no licence lies beside {library}: a package must bring it")));
    }
    let file = library.file_name().unwrap_or_default().to_string_lossy();
    Ok(Package { name: format!("ONNX Runtime ({file})"), licence: "MIT".into(), folder: folder.into() })
}

fn said(command: &mut Command) -> Outcome<String> {
    let output = command.output().while_doing(|| format!("could not start {:?}", command.get_program()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Failed::new(format!("{:?} ended with {}: {why}", command.get_program(), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where cargo keeps sources.
fn registries() -> Outcome<Vec<PathBuf>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folder = home.unwrap_or_default().join("registry/src");
    let entries = fs::read_dir(&folder).while_doing(|| format!("could not read {}", folder.display()))?;
    Ok(entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
}

/// Lines of `cargo tree`: `serde v1.0.2`, a tab, `MIT OR Apache-2.0`; with more in brackets where it is a path, a macro, or
/// was there before.
fn crates(lines: &str, sources: &[PathBuf]) -> Outcome<Vec<Package>> {
    let mut packages = Vec::new();
    for line in lines.lines() {
        let Some((package, licence)) = line.split_once('\t') else { continue };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        if words.any(|word| word.starts_with("(/") || word.contains(":\\")) {
            // Ours.
            continue;
        }
        let folder_name = format!("{name}-{}", version.trim_start_matches('v'));
        let folder = sources.iter().map(|source| source.join(&folder_name)).find(|folder| folder.is_dir());
        let folder =
            folder.ok_or_else(|| Failed::new(format!("the sources of {folder_name} are not there")))?;
        let licence = licence.trim_end_matches(" (*)").to_owned();
        packages.push(Package {
            name: format!("{name} {}", version.trim_start_matches('v')),
            licence,
            folder,
        });
    }
    Ok(packages)
}

/// Lines of `npm ls --parseable`: the page's own folder, then one for each package.
fn of_the_page(lines: &str) -> Vec<Package> {
    let package = |folder: &str| {
        let folder = PathBuf::from(folder);
        let text = fs::read_to_string(folder.join("package.json")).ok()?;
        let name = format!("{} {}", field(&text, "name")?, field(&text, "version")?);
        Some(Package { name, licence: field(&text, "license")?, folder })
    };
    lines.lines().skip(1).filter_map(package).collect()
}

/// A field of text at the top of a `package.json`, which npm writes one to a line.
fn field(json: &str, name: &str) -> Option<String> {
    let key = format!("\"{name}\":");
    let line = json
        .lines()
        .find(|line| line.trim_start().starts_with(&key) || line.starts_with(&format!("{{{key}")))?;
    let value = line.split_once(&key)?.1.trim().trim_end_matches(',');
    Some(value.trim_matches('"').to_owned())
}

fn written(packages: &[Package]) -> Outcome<String> {
    let mut text =
        "What others wrote and this package brings, each under its own licence. The texts follow.\n\n"
            .to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in packages {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}: {}", package.name, package.licence);
        for file in licence_files(&package.folder)? {
            let words = fs::read(&file).while_doing(|| format!("could not read {}", file.display()))?;
            let words = String::from_utf8_lossy(&words).replace("\r\n", "\n").trim().to_owned();
            let names = texts.entry(words).or_default();
            if names.last() != Some(&package.name.as_str()) {
                names.push(&package.name);
            }
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|(_, one), (_, other)| one.cmp(other));
    for (words, names) in texts {
        let _ = write!(text, "\n{}\n{}\n\n{words}\n", "=".repeat(80), names.join(", "));
    }
    Ok(text)
}

fn licence_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).while_doing(|| format!("could not read {}", folder.display()))?;
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let begins =
            ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT", "THIRDPARTYNOTICES"];
        path.is_file() && begins.iter().any(|begin| name.starts_with(begin))
    };
    let mut files: Vec<_> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_licence).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Scratch;

    #[test]
    fn crates_of_others_are_found_and_ours_left_out() {
        let scratch = Scratch::new("licences");
        let source = scratch.0.path("index");
        fs::create_dir_all(source.join("serde-1.0.2")).unwrap();
        let lines = "ebb v0.1.0 (/somewhere/ebb)\tMIT\nserde v1.0.2\tMIT OR Apache-2.0 (*)\n\n";
        let packages = crates(lines, std::slice::from_ref(&source)).unwrap();
        let serde = Package {
            name: "serde 1.0.2".into(),
            licence: "MIT OR Apache-2.0".into(),
            folder: source.join("serde-1.0.2"),
        };
        assert_eq!(packages, [serde]);
        assert!(crates("gone v1.0.0\tMIT", &[source]).is_err());
    }

    #[test]
    fn a_text_that_several_have_comes_once() {
        let scratch = Scratch::new("licence-texts");
        let packages = ["a", "b"].map(|name| {
            let folder = scratch.0.path(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("LICENSE-MIT"), "Do what you like.\n").unwrap();
            fs::write(folder.join("README"), "no licence").unwrap();
            Package { name: format!("{name} 1.0.0"), licence: "MIT".into(), folder }
        });
        let text = written(&packages).unwrap();
        assert!(text.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n"), "{text}");
        assert_eq!(text.matches("Do what you like.").count(), 1);
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nDo"), "{text}");
        assert!(!text.contains("no licence"));
    }

    #[test]
    fn onnxruntime_brings_its_licence_and_notices() {
        let scratch = Scratch::new("licences-onnxruntime");
        let folder = scratch.0.path("onnxruntime");
        fs::create_dir_all(&folder).unwrap();
        let library = folder.join("libonnxruntime.so.1.2.3");
        assert!(of_onnxruntime(&library).unwrap_err().message.contains("no licence lies beside"));
        fs::write(folder.join("LICENSE"), "As you like.").unwrap();
        fs::write(folder.join("ThirdPartyNotices.txt"), "Others helped.").unwrap();
        let text = written(&[of_onnxruntime(&library).unwrap()]).unwrap();
        assert!(text.contains("ONNX Runtime (libonnxruntime.so.1.2.3): MIT\n"), "{text}");
        assert!(text.contains("As you like.") && text.contains("Others helped."), "{text}");
    }

    #[test]
    fn fields_of_a_package_are_read() {
        let json = "{\n  \"name\": \"uplot\",\n  \"version\": \"1.6.32\",\n  \"license\": \"MIT\"\n}";
        assert_eq!(field(json, "name").as_deref(), Some("uplot"));
        assert_eq!(field(json, "license").as_deref(), Some("MIT"));
        assert_eq!(field(json, "homepage"), None);
    }
}
