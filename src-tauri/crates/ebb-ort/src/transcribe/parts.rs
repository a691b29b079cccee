//! The files that a speech model is made of.

use std::path::{Path, PathBuf};

use crate::Error;

/// The voice detector's file. It belongs to no one model: it may lie in the folder or beside it.
pub(crate) const DETECTOR: &str = "silero_vad.onnx";

/// The files of a speech model, all loaded on one arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) decoder: PathBuf,
    pub(crate) encoder: PathBuf,
    /// What decodes from the second token on, where one file does not do both.
    pub(crate) with_past: Option<PathBuf>,
    /// What hears whether someone speaks: `silero_vad.onnx` in the folder, beside its model files, or beside the folder.
    pub(crate) detector: Option<PathBuf>,
}

impl Parts {
    /// The files that belong to a decoder's file: those with the same ending of the name, `_quantized` for one, where there
    /// are such.
    ///
    /// # Errors
    /// Where there is no encoder.
    pub(crate) fn find(folder: &Path, decoder: &Path) -> Result<Self, Error> {
        let stem = decoder.file_stem().unwrap_or_default().to_string_lossy();
        let place = decoder.parent().unwrap_or(folder);
        let merged = stem.strip_prefix("decoder_model_merged");
        let variant = merged.or_else(|| stem.strip_prefix("decoder_model")).unwrap_or_default();
        let part = |name: &str| {
            let names = [format!("{name}{variant}.onnx"), format!("{name}{variant}.ort")];
            let plain = [format!("{name}.onnx"), format!("{name}.ort")];
            names.iter().chain(&plain).map(|name| place.join(name)).find(|file| file.is_file())
        };
        let encoder = part("encoder_model").ok_or_else(|| {
            Error::invalid_model(folder, format!("{} has no encoder_model beside it", decoder.display()))
        })?;
        let with_past = if merged.is_some() { None } else { part("decoder_with_past_model") };
        let beside = folder.parent().unwrap_or(folder);
        let detector =
            [folder, place, beside].iter().map(|place| place.join(DETECTOR)).find(|file| file.is_file());
        Ok(Self { decoder: decoder.to_owned(), encoder, with_past, detector })
    }

    /// All of them: the decoder, the encoder, and what else there is.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let first = [self.decoder.clone(), self.encoder.clone()];
        first.into_iter().chain(self.with_past.clone()).chain(self.detector.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_variant_go_together() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("m");
        let onnx = folder.join("onnx");
        fs_err::create_dir_all(&onnx).unwrap();
        for name in ["encoder_model", "encoder_model_int8", "decoder_with_past_model", "decoder_model"] {
            fs_err::write(onnx.join(name).with_extension("onnx"), b"").unwrap();
        }
        let find = |name: &str| Parts::find(&folder, &onnx.join(name)).unwrap();
        let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name(&find("decoder_model_merged_int8.onnx").encoder), "encoder_model_int8.onnx");
        assert_eq!(name(&find("decoder_model_merged_q4.onnx").encoder), "encoder_model.onnx");
        assert_eq!(find("decoder_model_merged.onnx").with_past, None);
        let both = find("decoder_model.onnx");
        assert_eq!(name(both.with_past.as_ref().unwrap()), "decoder_with_past_model.onnx");
        assert_eq!((both.files().len(), both.detector), (3, None));
        fs_err::write(home.path().join(DETECTOR), b"").unwrap();
        assert_eq!(find("decoder_model.onnx").files().len(), 4, "beside the folder");
        assert!(Parts::find(&folder, &folder.join("decoder_model.onnx")).is_err());
    }
}
