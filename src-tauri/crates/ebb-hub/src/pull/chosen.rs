//! Which files of a repository make one model.

use super::{
    listing::RemoteFile,
    onnx::{self, OnnxModel},
};
use crate::{
    Error, Format,
    format::{ends_in, is_onnx, is_projector},
};

/// Files beside the weights that a model is read with, wherever they lie by convention.
const COMPANIONS: [&str; 21] = [
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "config.json",
    "config_sentence_transformers.json",
    "generation_config.json",
    "merges.txt",
    "modules.json",
    "normalizer.json",
    "preprocessor_config.json",
    "processor_config.json",
    "sentence_bert_config.json",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "tokenizer.bin",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
];
/// Terms travel with what they are about.
const TERMS: [&str; 5] = ["LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE", "NOTICE.txt"];
/// Where sentence-transformers keeps how vectors are pooled.
const POOLING: &str = "1_Pooling/config.json";
/// In the folder of an onnxruntime-genai model everything belongs to it, but for these.
const FOREIGN: [&str; 14] = [
    "md",
    "safetensors",
    "gguf",
    "pt",
    "pth",
    "h5",
    "msgpack",
    "py",
    "png",
    "jpg",
    "jpeg",
    "gitattributes",
    "pdf",
    "ipynb",
];
/// Which GGUF file is taken where nobody chose: those whose weights become ONNX as they are, small ones first.
const QUANTS: [&str; 5] = ["q4_0", "q4_1", "q8_0", "q4_k_m", "f16"];
/// Where other files than the large ones are not worth it: a tokenizer takes less.
const LARGEST_COMPANION: u64 = 256 << 20;

/// Which files, and what they are called in the model's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) format: Format,
    pub(crate) files: Vec<(RemoteFile, String)>,
}

/// Everything that a repository offers to choose from.
struct Offer<'a> {
    repo: &'a str,
    files: &'a [RemoteFile],
    /// Folders of onnxruntime-genai, without the end slash; `""` is the root.
    genai: Vec<&'a str>,
    onnx: Vec<OnnxModel<'a>>,
    gguf: Vec<&'a RemoteFile>,
}

/// Chooses a model. A format's name (`onnx`, `gguf`, `safetensors`) as the variant stands for the default of that format.
pub(crate) fn choose(repo: &str, files: &[RemoteFile], variant: Option<&str>) -> Result<Chosen, Error> {
    let offer = Offer::of(repo, files);
    let variant = variant.map(str::to_lowercase);
    match variant.as_deref() {
        None => offer.default(),
        Some("genai") => offer.default_genai(),
        Some("onnx") => offer.default_onnx(),
        Some("gguf") => offer.default_gguf(),
        Some("safetensors") => offer.safetensors(),
        Some(variant) => offer.variant(variant),
    }
}

impl<'a> Offer<'a> {
    fn of(repo: &'a str, files: &'a [RemoteFile]) -> Self {
        let genai: Vec<&str> = files
            .iter()
            .filter(|file| name_of(&file.path) == "genai_config.json")
            .map(|file| folder_of(&file.path))
            .collect();
        let outside = |file: &&RemoteFile| !genai.contains(&folder_of(&file.path));
        let onnx = onnx::models(files.iter().filter(outside).filter(|file| is_onnx(name_of(&file.path))));
        let gguf = files
            .iter()
            .filter(|file| ends_in(&file.path, "gguf") && !is_projector(name_of(&file.path)))
            .collect();
        Self { repo, files, genai, onnx, gguf }
    }

    fn default(&self) -> Result<Chosen, Error> {
        if !self.genai.is_empty() {
            self.default_genai()
        } else if !self.onnx.is_empty() {
            self.default_onnx()
        } else if !self.gguf.is_empty() {
            self.default_gguf()
        } else {
            self.safetensors()
        }
    }

    /// The only one, that of the root, or the only one for the CPU.
    fn default_genai(&self) -> Result<Chosen, Error> {
        let cpu: Vec<_> = self.genai.iter().filter(|folder| folder.to_lowercase().contains("cpu")).collect();
        let folder = match (self.genai.as_slice(), cpu.as_slice()) {
            ([], _) => return Err(self.nothing("there is no genai_config.json")),
            ([only], _) => *only,
            (all, _) if all.contains(&"") => "",
            (_, [only]) => **only,
            _ => return Err(self.several()),
        };
        self.of_genai(folder)
    }

    /// The one without a variant's name, or the only one.
    fn default_onnx(&self) -> Result<Chosen, Error> {
        match (self.onnx.iter().find(|model| model.variant.is_empty()), self.onnx.as_slice()) {
            (Some(model), _) | (None, [model]) => self.of_onnx(model),
            (None, []) => Err(self.nothing("there is no .onnx file")),
            (None, _) => Err(self.several()),
        }
    }

    fn default_gguf(&self) -> Result<Chosen, Error> {
        let quant = |quant: &&str| self.gguf.iter().find(|file| stem_of(&file.path).ends_with(*quant));
        match (self.gguf.as_slice(), QUANTS.iter().find_map(quant)) {
            ([], _) => Err(self.nothing("there is no .gguf file")),
            ([file], _) => self.of_gguf(file),
            (_, Some(file)) => self.of_gguf(file),
            _ => Err(self.several()),
        }
    }

    /// By the whole name, else by its end, else by a part of it. Folders of genai come first, then ONNX, then GGUF.
    fn variant(&self, wanted: &str) -> Result<Chosen, Error> {
        let rules: [fn(&str, &str) -> bool; 3] = [
            |name, wanted| name == wanted,
            |name, wanted| name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with(['-', '_', '.', '/'])),
            |name, wanted| name.contains(wanted),
        ];
        for fits in rules {
            let genai: Vec<_> =
                self.genai.iter().filter(|folder| fits(&folder.to_lowercase(), wanted)).collect();
            let onnx: Vec<_> =
                self.onnx.iter().filter(|model| fits(&model.variant.to_lowercase(), wanted)).collect();
            let gguf: Vec<_> = self.gguf.iter().filter(|file| fits(&stem_of(&file.path), wanted)).collect();
            match (genai.as_slice(), onnx.as_slice(), gguf.as_slice()) {
                ([], [], []) => {}
                ([folder], ..) => return self.of_genai(folder),
                ([], [model], _) => return self.of_onnx(model),
                ([], [], [file]) => return self.of_gguf(file),
                _ => return Err(self.wrong(wanted, true)),
            }
        }
        Err(self.wrong(wanted, false))
    }

    /// The folder itself becomes the model's folder.
    fn of_genai(&self, folder: &str) -> Result<Chosen, Error> {
        let mut files = Vec::new();
        for file in self.files {
            let name = name_of(&file.path);
            let foreign = name.starts_with('.') || FOREIGN.iter().any(|ending| ends_in(name, ending));
            if folder_of(&file.path) == folder && !foreign {
                files.push((file.clone(), name.to_owned()));
            }
        }
        if !files.iter().any(|(_, name)| is_onnx(name)) {
            return Err(self.nothing("its genai_config.json has no .onnx file beside it"));
        }
        self.add_terms(&mut files);
        Ok(Chosen { format: Format::Genai, files })
    }

    fn of_onnx(&self, model: &OnnxModel<'_>) -> Result<Chosen, Error> {
        let mut files = model.files(self.files);
        self.add_companions(&mut files, model.folder);
        Ok(Chosen { format: Format::Onnx, files })
    }

    fn of_gguf(&self, file: &RemoteFile) -> Result<Chosen, Error> {
        if is_split(&stem_of(&file.path)) {
            return Err(self.nothing("its GGUF file is split into several"));
        }
        let mut files = vec![(file.clone(), name_of(&file.path).to_owned())];
        self.add_terms(&mut files);
        Ok(Chosen { format: Format::Gguf, files })
    }

    fn safetensors(&self) -> Result<Chosen, Error> {
        let file = |path: &str| self.files.iter().find(|file| file.path == path);
        let Some(weights) = file("model.safetensors") else {
            return Err(self.nothing(match file("model.safetensors.index.json") {
                Some(_) => "its weights are safetensors in several files",
                None => "it has no ONNX, GGUF or model.safetensors",
            }));
        };
        if file("config.json").is_none() || file("tokenizer.json").is_none() {
            return Err(
                self.nothing("its model.safetensors has no config.json or no tokenizer.json beside it")
            );
        }
        let mut files = vec![(weights.clone(), weights.path.clone())];
        self.add_companions(&mut files, "");
        Ok(Chosen { format: Format::Safetensors, files })
    }

    /// Tokenizer and configuration, of the root and of the folder that the weights lie in.
    fn add_companions(&self, files: &mut Vec<(RemoteFile, String)>, folder: &str) {
        for file in self.files {
            let place = folder_of(&file.path);
            let known = COMPANIONS.contains(&name_of(&file.path)) && (place.is_empty() || place == folder);
            if (known || file.path == POOLING) && file.bytes <= LARGEST_COMPANION {
                files.push((file.clone(), file.path.clone()));
            }
        }
        self.add_terms(files);
    }

    fn add_terms(&self, files: &mut Vec<(RemoteFile, String)>) {
        let terms = self.files.iter().filter(|file| TERMS.contains(&file.path.as_str()));
        let new: Vec<_> = terms
            .filter(|file| !files.iter().any(|(_, name)| *name == file.path))
            .map(|file| (file.clone(), file.path.clone()))
            .collect();
        files.extend(new);
    }

    fn names(&self) -> Vec<String> {
        let genai = self.genai.iter().map(|folder| name_of(folder).to_owned());
        let onnx = self.onnx.iter().map(|model| model.variant.clone());
        let gguf = self.gguf.iter().map(|file| stem_of(&file.path));
        genai.chain(onnx).chain(gguf).filter(|name| !name.is_empty()).collect()
    }

    fn several(&self) -> Error {
        Error::ChooseVariant { repo: self.repo.to_owned(), variants: self.names() }
    }

    fn wrong(&self, variant: &str, several: bool) -> Error {
        let variants = self.names();
        if variants.is_empty() {
            return self.nothing("it has no variants");
        }
        Error::WrongVariant { repo: self.repo.to_owned(), variant: variant.to_owned(), several, variants }
    }

    fn nothing(&self, reason: &str) -> Error {
        let name = self.repo.rsplit('/').next().unwrap_or_default();
        let hint = format!(
            "look on the Hub for {name} with ONNX files or as one GGUF file (Q4_0, Q4_1, Q8_0, F16); others convert most models"
        );
        Error::NoModel { repo: self.repo.to_owned(), reason: reason.to_owned(), hint }
    }
}

/// `…-00001-of-00003`
fn is_split(stem: &str) -> bool {
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    stem.rsplit_once("-of-")
        .is_some_and(|(rest, of)| digits(of) && rest.rsplit('-').next().is_some_and(digits))
}

pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A file's name without its ending, in lower case.
fn stem_of(path: &str) -> String {
    let name = name_of(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase()
}

#[cfg(test)]
mod tests;
