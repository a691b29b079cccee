//! The ONNX models of a repository: files that belong together, told apart by the variant in their names.

use super::{
    chosen::{folder_of, name_of},
    listing::RemoteFile,
};
use crate::format::is_data_of;

/// Files of models of several parts, and of those of one. What follows after `_` is the variant.
const PARTS: [&str; 5] =
    ["decoder_model_merged", "decoder_with_past_model", "decoder_model", "encoder_model", "model"];
/// Where model files lie by convention, best first.
const FOLDERS: [&str; 2] = ["", "onnx"];

/// Files that make one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OnnxModel<'a> {
    /// The folder in the repository.
    pub(crate) folder: &'a str,
    /// `q4`, `int8`; empty for the default; the file's name where it is called otherwise than by convention.
    pub(crate) variant: String,
    files: Vec<&'a RemoteFile>,
}

/// The models that a repository's `.onnx` and `.ort` files make: those of the root or of `onnx`, where there are any.
pub(crate) fn models<'a>(files: impl Iterator<Item = &'a RemoteFile>) -> Vec<OnnxModel<'a>> {
    let all: Vec<&RemoteFile> = files.collect();
    let place = FOLDERS.iter().find(|place| all.iter().any(|file| folder_of(&file.path) == **place));
    let mut models: Vec<OnnxModel<'_>> = Vec::new();
    for file in all {
        let folder = folder_of(&file.path);
        if place.is_some_and(|place| folder != *place) {
            continue;
        }
        let variant = match (part_of(&file.path), place) {
            (Some((_, variant)), Some(_)) => variant.to_owned(),
            // Elsewhere the folder's name says more than the file's.
            (Some((_, "")), None) => folder.to_owned(),
            (Some((_, variant)), None) => format!("{folder}/{variant}"),
            (None, _) => stem(&file.path).to_owned(),
        };
        match models.iter_mut().find(|model| model.folder == folder && model.variant == variant) {
            Some(model) => model.files.push(file),
            None => models.push(OnnxModel { folder, variant, files: vec![file] }),
        }
    }
    models
}

impl OnnxModel<'_> {
    /// The files to download of `all`, with their names in the model's folder: the variant is left out of the names of the
    /// model files, so that the folder looks like any other. Their data keeps its name, since the model names it.
    pub(crate) fn files(&self, all: &[RemoteFile]) -> Vec<(RemoteFile, String)> {
        let part = |file: &RemoteFile| part_of(&file.path).map_or("", |(part, _)| part);
        let merged = self.files.iter().any(|file| part(file) == "decoder_model_merged");
        let superseded = |file: &&&RemoteFile| {
            merged && matches!(part(file), "decoder_model" | "decoder_with_past_model" | "model")
        };
        let mut files = Vec::new();
        for file in self.files.iter().filter(|file| !superseded(file)) {
            let name = name_of(&file.path);
            let data = all
                .iter()
                .filter(|data| folder_of(&data.path) == self.folder && is_data_of(name_of(&data.path), name));
            files.extend(data.map(|data| (data.clone(), data.path.clone())));
            files.push(((*file).clone(), self.local(file)));
        }
        files
    }

    fn local(&self, file: &RemoteFile) -> String {
        let Some((part, _)) = part_of(&file.path) else { return file.path.clone() };
        let ending = name_of(&file.path).rsplit_once('.').map_or("onnx", |(_, ending)| ending);
        match self.folder {
            "" => format!("{part}.{ending}"),
            folder => format!("{folder}/{part}.{ending}"),
        }
    }
}

/// Which part of a model a file is, and of which variant.
fn part_of(path: &str) -> Option<(&'static str, &str)> {
    let stem = stem(path);
    PARTS.iter().find_map(|part| match stem.strip_prefix(part)? {
        "" => Some((*part, "")),
        rest => Some((*part, rest.strip_prefix('_')?)),
    })
}

fn stem(path: &str) -> &str {
    let name = name_of(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull::Hash;

    fn variants(paths: &[&str]) -> Vec<String> {
        let files: Vec<_> = paths
            .iter()
            .map(|path| RemoteFile { path: (*path).to_owned(), bytes: 1, hash: Hash::Unknown })
            .collect();
        models(files.iter()).into_iter().map(|model| model.variant).collect()
    }

    #[test]
    fn files_are_grouped_by_variant() {
        assert_eq!(variants(&["onnx/model.onnx", "onnx/model_q4.onnx"]), ["", "q4"]);
        assert_eq!(variants(&["onnx/decoder_model_merged_q4.onnx", "onnx/encoder_model_q4.onnx"]), ["q4"]);
        assert_eq!(variants(&["silero_vad.onnx", "sub/model.onnx"]), ["silero_vad"], "the root counts first");
        assert_eq!(variants(&["a/model.onnx", "b/model.onnx"]), ["a", "b"]);
        assert_eq!(variants(&["modelled.onnx"]), ["modelled"]);
    }
}
