use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
};

use super::{Noise, folder, write_file};

/// Cuts a file in the middle, as a broken download does.
pub fn truncate_half(file: &Path) {
    let opened = OpenOptions::new().write(true).open(file).expect("the file to truncate is there");
    let bytes = opened.metadata().expect("its length can be read").len();
    opened.set_len(bytes / 2).expect("it can be cut");
}

/// Removes the data file of a model with external data.
pub fn remove_external_data(model: &Path) {
    let mut data = model.as_os_str().to_owned();
    data.push(".data");
    fs::remove_file(data).expect("the model has external data");
}

/// Leaves half a tokenizer.json in a model folder.
pub fn break_tokenizer(folder: &Path) {
    truncate_half(&folder.join("tokenizer.json"));
}

/// Removes tokenizer.json from a model folder.
pub fn remove_tokenizer(folder: &Path) {
    fs::remove_file(folder.join("tokenizer.json")).expect("the folder has a tokenizer");
}

/// A file named `garbage.onnx` that is 4 KiB of noise.
pub fn garbage_model(path: &Path) -> PathBuf {
    folder(path);
    let mut noise = Noise::new(9);
    let bytes: Vec<u8> = (0..4096).map(|_| noise.next_u64() as u8).collect();
    write_file(path.join("garbage.onnx"), bytes)
}
