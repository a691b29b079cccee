//! Moonshine: samples in, as long as they are.

use super::{Family, Hears, Settings};
use crate::{
    Error,
    transcribe::{cut::Lengths, words::Words},
};

/// Languages that there is a Moonshine of. Each model knows one, and says so only in its folder's name: `tiny-en`.
const LANGUAGES: [&str; 8] = ["ar", "en", "es", "ja", "ko", "uk", "vi", "zh"];

/// Most tokens that a second takes, in Latin script; others take a token for each character.
const TOKENS_PER_SECOND: (f32, f32) = (6.5, 13.0);

/// Seconds that are enough for a stretch, and the most. Measured: of stretches of 4 s one word in thirty is wrong that is right
/// with 10 s of context; 30 s are no better than 20, and take half as much memory again.
const STRETCH_SECONDS: (usize, usize) = (10, 20);

pub(super) fn read(settings: &Settings<'_>, words: &Words) -> Result<Family, Error> {
    let start = settings.token("decoder_start_token_id", "<s>", words)?;
    let end = settings.token("eos_token_id", "</s>", words)?;
    let name = settings.folder.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let named = |language: &&&str| name.split(['-', '_']).next_back() == Some(**language);
    let language = LANGUAGES.iter().find(named).unwrap_or(&"en");
    let latin = ["en", "es", "vi"].contains(language);
    let most = settings.get("max_position_embeddings").as_u64().unwrap_or(194);
    Ok(Family {
        name: "moonshine",
        hears: Hears::Samples,
        lengths: Lengths::of_seconds(STRETCH_SECONDS.0, STRETCH_SECONDS.1),
        prompt: vec![start],
        after_language: Vec::new(),
        languages: [].into(),
        default_language: Some((*language).to_owned()),
        ends: vec![end],
        banned: Vec::new(),
        banned_first: Vec::new(),
        banned_from: None,
        tokens_per_second: if latin { TOKENS_PER_SECOND.0 } else { TOKENS_PER_SECOND.1 },
        most_tokens: usize::try_from(most).unwrap_or(194).max(2) - 1,
    })
}
