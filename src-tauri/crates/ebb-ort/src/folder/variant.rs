//! Which of a folder's model files is meant.

use std::path::{Path, PathBuf};

use crate::Error;

/// Chooses a file. Without a variant it is `model.onnx`, else the only file there is. With one, a whole name wins over
/// `model_<variant>`, that over a part of the name between underscores, and that over any part: `int8` is `model_int8.onnx`
/// even where `model_uint8.onnx` lies beside it.
pub(super) fn choose<'a>(
    path: &Path,
    files: &'a [PathBuf],
    variant: Option<&str>,
) -> Result<&'a Path, Error> {
    let names = names(files).join(", ");
    let Some(wanted) = variant.map(str::to_lowercase) else {
        let default = files.iter().find(|file| is_default(file)).or(match files {
            [only] => Some(only),
            _ => None,
        });
        return default.map(PathBuf::as_path).ok_or_else(|| {
            Error::invalid_model(path, format!("it has several model files and none is model.onnx: {names}"))
                .hint("choose one with `variant`")
        });
    };
    let fits: [&dyn Fn(&str) -> bool; 4] = [
        &|stem| stem == wanted,
        &|stem| stem.strip_prefix("model_") == Some(&wanted),
        &|stem| stem.split(['_', '-', '.']).any(|part| part == wanted),
        &|stem| stem.contains(&wanted),
    ];
    for fit in fits {
        let mut found = files.iter().filter(|file| fit(&stem(file).to_lowercase()));
        match (found.next(), found.next()) {
            (Some(one), None) => return Ok(one),
            (Some(_), Some(_)) => {
                return Err(Error::unknown_variant(format!(
                    "variant '{wanted}' fits several model files of {}: {names}",
                    path.display()
                )));
            }
            _ => {}
        }
    }
    Err(Error::unknown_variant(format!(
        "variant '{wanted}' fits no model file of {}: {names}",
        path.display()
    )))
}

/// What `variant` may choose from, the default first.
pub(super) fn names(files: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<_> = files.iter().map(|file| (!is_default(file), stem(file))).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|(_, name)| name).collect()
}

/// A file's name without its ending.
pub(super) fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_default(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "model.onnx" || name == "model.ort")
}
