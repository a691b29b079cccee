//! What only the worker program can tell, asked of it without loading a model.

use std::path::{Path, PathBuf};

use ebb_core::{ErrorBody, Failure, Inspection, Probe};
use serde::de::DeserializeOwned;
use tokio::process::Command;

use crate::{Error, exit::OomKills};

/// Library, providers and devices.
pub(crate) async fn probe(
    program: &Path,
    library: Option<&Path>,
    folders: &[PathBuf],
) -> Result<Probe, Failure> {
    let mut command = Command::new(program);
    command.arg("--probe");
    if let Some(library) = library {
        command.arg("--library").arg(library);
    }
    for folder in folders {
        command.arg("--folder").arg(folder);
    }
    ask(program, command).await
}

/// What a model folder or file holds.
pub(crate) async fn inspect(
    program: &Path,
    path: &Path,
    variant: Option<&str>,
) -> Result<Inspection, Failure> {
    let mut command = Command::new(program);
    command.arg("--inspect").arg(path);
    if let Some(variant) = variant {
        command.arg("--variant").arg(variant);
    }
    ask(program, command).await
}

async fn ask<T: DeserializeOwned>(program: &Path, mut command: Command) -> Result<T, Failure> {
    let oom_kills = OomKills::now();
    command.stdin(std::process::Stdio::null()).kill_on_drop(true).env("ORT_DISABLE_TELEMETRY", "1");
    let output =
        command.output().await.map_err(|source| Error::Start { program: program.to_owned(), source })?;
    if !output.status.success() {
        return Err(match serde_json::from_slice::<ErrorBody>(&output.stdout) {
            Ok(body) => body.into(),
            Err(_) => {
                let said = String::from_utf8_lossy(&output.stderr);
                tracing::warn!(said = said.trim(), "the worker program failed");
                Failure::from(Error::Ended {
                    model: "no model".to_owned(),
                    reason: oom_kills.reason(output.status),
                })
            }
        });
    }
    let answer = serde_json::from_slice(&output.stdout);
    Ok(answer.map_err(|source| Error::Answer { program: program.to_owned(), source })?)
}
