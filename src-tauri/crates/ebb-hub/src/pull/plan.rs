//! What a download will fetch.

use serde::{Deserialize, Serialize};

use super::{
    Hash, Reference,
    chosen::{Chosen, choose},
    http::{About, Http},
    listing::{RemoteFile, list},
};
use crate::{Error, Format, format::IMPORTED_TYPES};

/// The branch that is meant where none is named.
const MAIN: &str = "main";

/// What a download will fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The repository: `ORG/NAME`.
    pub repo: String,
    /// As typed, where a variant was.
    pub variant: Option<String>,
    /// The commit that branch or tag stand for now: files of one model are of one commit.
    pub commit: String,
    /// How the model is stored.
    pub format: Format,
    /// The files, small ones first.
    pub files: Vec<PlannedFile>,
}

/// A file that will be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Its path in the repository.
    pub remote: String,
    /// Its path in the model's folder.
    pub local: String,
    /// Its size.
    pub bytes: u64,
    /// What it will be known by.
    pub hash: Hash,
}

impl Plan {
    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// The name of the model's folder: `ORG--NAME`, `ORG--NAME--VARIANT`.
    pub fn folder_name(&self) -> String {
        let name = self.repo.replace('/', "--");
        match &self.variant {
            Some(variant) => format!("{name}--{}", variant.to_lowercase()),
            None => name,
        }
    }
}

pub(super) async fn plan(http: &Http, reference: &Reference, revision: Option<&str>) -> Result<Plan, Error> {
    let repo = reference.repo();
    let revision = revision.unwrap_or(MAIN);
    if revision.is_empty()
        || revision.len() > 256
        || revision.contains("..")
        || revision.contains(char::is_control)
    {
        let reason = "the revision is no branch, tag or commit";
        return Err(Error::BadReference { text: format!("{reference} at {revision}"), reason });
    }
    let listing = list(http, &repo, revision).await?;
    let Chosen { format, files } = choose(&repo, &listing.files, reference.variant.as_deref())?;
    let mut files: Vec<PlannedFile> = files
        .into_iter()
        .map(|(RemoteFile { path, bytes, hash }, local)| PlannedFile { remote: path, local, bytes, hash })
        .collect();
    files.sort_by(|one, other| (one.bytes, &one.local).cmp(&(other.bytes, &other.local)));
    files.dedup_by(|one, other| one.local == other.local);
    let plan = Plan { repo, variant: reference.variant.clone(), commit: listing.commit, format, files };
    if format == Format::Safetensors {
        check_type(http, &plan).await?;
    }
    Ok(plan)
}

/// Hundreds of megabytes that cannot be imported are better not downloaded.
async fn check_type(http: &Http, plan: &Plan) -> Result<(), Error> {
    let about = About { repo: &plan.repo, revision: &plan.commit, file: Some("config.json") };
    let (config, _): (serde_json::Value, _) = http.json(&address(http, plan, "config.json")?, about).await?;
    let found = config["model_type"].as_str().unwrap_or("unknown");
    if IMPORTED_TYPES.contains(&found) {
        return Ok(());
    }
    let name = plan.repo.rsplit('/').next().unwrap_or_default();
    Err(Error::NoModel {
        repo: plan.repo.clone(),
        reason: format!(
            "its weights are safetensors of the kind '{}', and those of {} alone are imported",
            found.escape_debug(),
            IMPORTED_TYPES.join(", ")
        ),
        hint: format!(
            "look on the Hub for {name} with ONNX files or as one GGUF file (Q4_0, Q4_1, Q8_0, F16)"
        ),
    })
}

/// Where a file of the repository lies.
pub(super) fn address(http: &Http, plan: &Plan, remote: &str) -> Result<url::Url, Error> {
    let repo = plan.repo.split('/');
    http.address(repo.chain(["resolve", plan.commit.as_str()]).chain(remote.split('/')))
}
