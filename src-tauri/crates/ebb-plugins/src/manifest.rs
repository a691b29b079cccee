//! Manifests: `plugin.toml` while a plugin is developed, a custom section of its component afterwards.

use ebb_core::{PluginManifest, PluginWorld};
use wasmparser::{Parser, Payload};

use crate::{Error, component::spoken_patch, limits, settings::Schema, shape};

/// Largest manifest that is read.
const MAX_MANIFEST_BYTES: usize = 256 << 10;

/// Longest text of a manifest's field, in characters.
const MAX_TEXT: usize = 300;

/// Reads and checks `plugin.toml`.
///
/// # Errors
/// [`Error::Manifest`], with every problem that it has.
pub fn from_toml(text: &str) -> Result<PluginManifest, Error> {
    check_size(text.len())?;
    checked(toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end()))?)
}

/// Reads and checks what a component carries.
///
/// # Errors
/// [`Error::Manifest`], with every problem that it has.
pub fn from_json(json: &[u8]) -> Result<PluginManifest, Error> {
    check_size(json.len())?;
    checked(serde_json::from_slice(json).map_err(|error| wrong(error.to_string()))?)
}

/// Writes a manifest into a component, in place of the one that it has.
///
/// # Errors
/// Where the bytes are no component, or the manifest is wrong.
pub fn embed(component: &[u8], manifest: &PluginManifest) -> Result<Vec<u8>, Error> {
    let manifest = checked(manifest.clone())?;
    let mut embedded = without_manifest(component)?;
    let json = serde_json::to_vec(&manifest).map_err(|error| wrong(error.to_string()))?;
    let name = PluginManifest::SECTION.as_bytes();
    let mut section = Vec::with_capacity(json.len() + name.len() + 8);
    push_leb(&mut section, name.len());
    section.extend_from_slice(name);
    section.extend_from_slice(&json);
    embedded.push(CUSTOM_SECTION);
    push_leb(&mut embedded, section.len());
    embedded.extend_from_slice(&section);
    Ok(embedded)
}

const CUSTOM_SECTION: u8 = 0;

/// The component with the manifests left out that are its own, not those of components within it.
fn without_manifest(component: &[u8]) -> Result<Vec<u8>, Error> {
    shape::Shape::read(component)?;
    let mut rest = Vec::with_capacity(component.len());
    let mut copied = 0;
    let mut depth = 0_u32;
    // Where the section before ended: a section begins with its id and its length.
    let mut ended = 0;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.map_err(shape::malformed)?;
        match &payload {
            Payload::Version { range, .. } => (depth, ended) = (depth + 1, range.end),
            Payload::End(at) => (depth, ended) = (depth.saturating_sub(1), *at),
            Payload::CustomSection(section) if depth == 1 && section.name() == PluginManifest::SECTION => {
                rest.extend_from_slice(component.get(copied..ended).unwrap_or_default());
                (copied, ended) = (section.range().end, section.range().end);
            }
            other => {
                if let Some((_, range)) = other.as_section() {
                    ended = range.end;
                }
            }
        }
    }
    rest.extend_from_slice(component.get(copied..).unwrap_or_default());
    Ok(rest)
}

/// An unsigned LEB128, as Wasm writes lengths.
fn push_leb(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn wrong(problem: impl Into<String>) -> Error {
    Error::Manifest { problems: vec![problem.into()] }
}

fn check_size(bytes: usize) -> Result<(), Error> {
    if bytes <= MAX_MANIFEST_BYTES {
        return Ok(());
    }
    Err(wrong(format!("it has {bytes} bytes, and at most {MAX_MANIFEST_BYTES} are read")))
}

fn checked(manifest: PluginManifest) -> Result<PluginManifest, Error> {
    match problems(&manifest) {
        problems if problems.is_empty() => Ok(manifest),
        problems => Err(Error::Manifest { problems }),
    }
}

/// Everything that is wrong with a manifest; nothing where it is right.
pub fn problems(manifest: &PluginManifest) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |fits: bool, problem: &str| {
        if !fits {
            problems.push(problem.to_owned());
        }
    };
    check(
        is_id(&manifest.id),
        "id must be 1 to 64 small letters, digits and '-', and not begin or end with '-'",
    );
    check(is_version(&manifest.version), "version must be three numbers, as in 1.2.3");
    for (field, text) in [
        ("name", &manifest.name),
        ("description", &manifest.description),
        ("author", &manifest.author),
        ("licence", &manifest.licence),
    ] {
        check(is_text(text), &format!("{field} must be a line of 1 to {MAX_TEXT} characters"));
    }
    if let Some(homepage) = &manifest.homepage {
        let web = homepage.starts_with("https://") || homepage.starts_with("http://");
        check(web && is_text(homepage), "homepage must be an address that begins with https://");
    }
    let spoken = spoken_patch(&manifest.contract).is_some();
    let contract = &manifest.contract;
    check(spoken, &format!("contract is {contract:?}, this Ebb speaks {}", crate::CONTRACT));
    if let Some(promise) = &manifest.promise {
        let policy = manifest.world == PluginWorld::ShrinkPolicy;
        check(policy, "only policies make a promise");
        check(promise.at_most.is_finite() && promise.at_most >= 0.0, "promise.at_most must be 0 or more");
        check(
            is_text(&promise.words),
            &format!("promise.words must be a line of 1 to {MAX_TEXT} characters"),
        );
    }
    problems.extend(capability_problems(manifest));
    problems.extend(limits::problems(manifest));
    if let Some(schema) = &manifest.settings {
        problems.extend(Schema::read(schema).err().unwrap_or_default());
    }
    problems
}

fn capability_problems(manifest: &PluginManifest) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, request) in manifest.capabilities.iter().enumerate() {
        let capability = request.capability;
        if !manifest.world.capabilities().contains(&capability) {
            problems.push(format!("the world {} cannot have {capability}", manifest.world));
        }
        if manifest.capabilities.iter().take(index).any(|earlier| earlier.capability == capability) {
            problems.push(format!("{capability} is asked for twice"));
        }
        if !is_text(&request.reason) {
            problems.push(format!("{capability} needs a reason, a line of 1 to {MAX_TEXT} characters"));
        }
    }
    problems
}

fn is_id(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&id.len()) && id.bytes().all(fits) && !id.starts_with('-') && !id.ends_with('-')
}

fn is_version(version: &str) -> bool {
    let mut numbers = 0;
    let fits = version.split('.').all(|number| {
        numbers += 1;
        let digits =
            !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit());
        digits && (number == "0" || !number.starts_with('0'))
    });
    fits && numbers == 3
}

fn is_text(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_TEXT && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_of_the_guide_is_a_good_one() {
        let guide = include_str!("../../../../plugins/README.md");
        let (_, rest) = guide.split_once("```toml\n").unwrap();
        let (manifest, _) = rest.split_once("```").unwrap();
        assert_eq!(from_toml(manifest).unwrap().id, "tidy");
    }
}
