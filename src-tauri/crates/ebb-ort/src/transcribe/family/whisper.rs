//! Whisper: half a minute of mel spectrogram in, whatever there is to hear in it.

use std::collections::BTreeMap;

use ebb_audio::{HOP_SAMPLES, Mel, SAMPLE_RATE_HZ};
use ebb_core::TensorInfo;

use super::{Family, Hears, Settings};
use crate::{
    Error,
    transcribe::{cut::Lengths, words::Words},
};

/// Tokens of the first model that knows many languages; those that know English alone have one less.
const MANY_LANGUAGES_TOKENS: u64 = 51_865;

/// Most tokens that a second of fast speech takes, in a script that takes several for a character.
const TOKENS_PER_SECOND: f32 = 14.0;

/// Seconds that are enough for a stretch. The encoder always takes as long as for half a minute.
const ENOUGH_SECONDS: usize = 12;

pub(super) fn read(settings: &Settings<'_>, features: &TensorInfo, words: &Words) -> Result<Family, Error> {
    let hears = hears(settings, features)?;
    let Hears::Mel { frames, .. } = hears else { return Err(wrong(settings, "it takes no spectrogram")) };
    let start = settings.token("decoder_start_token_id", "<|startoftranscript|>", words)?;
    let quiet = settings.token("no_timestamps_token_id", "<|notimestamps|>", words)?;
    let ends = match settings.tokens("eos_token_id") {
        ends if ends.is_empty() => vec![settings.token("eos_token_id", "<|endoftext|>", words)?],
        ends => ends,
    };
    let known = languages(settings, words);
    let forced: Vec<Option<u32>> = forced(settings);
    let (mut prompt, mut after_language, mut default_language) = (vec![start], Vec::new(), None);
    if known.is_empty() {
        default_language = Some("en".to_owned());
        prompt.extend(forced.into_iter().flatten().filter(|id| *id != quiet).chain([quiet]));
    } else {
        let task =
            settings.generation["task_to_id"]["transcribe"].as_u64().and_then(|id| u32::try_from(id).ok());
        after_language.extend(task.or_else(|| words.id("<|transcribe|>")).into_iter().chain([quiet]));
        let named = |id: u32| known.iter().find(|(_, token)| **token == id).map(|(code, _)| code.clone());
        default_language = forced.first().copied().flatten().and_then(named).or(default_language);
    }
    let marks = words.marked().into_iter().map(|(_, id)| id);
    let banned = settings.tokens("suppress_tokens").into_iter().chain(marks);
    let most = settings.get("max_length").as_u64().unwrap_or(448);
    Ok(Family {
        name: "whisper",
        lengths: Lengths::of_seconds(ENOUGH_SECONDS, frames * HOP_SAMPLES / SAMPLE_RATE_HZ as usize),
        hears,
        most_tokens: usize::try_from(most)
            .unwrap_or(448)
            .saturating_sub(prompt.len() + after_language.len() + 1)
            .max(1),
        prompt,
        after_language,
        languages: known,
        default_language,
        banned: banned.filter(|id| !ends.contains(id)).collect(),
        banned_first: settings.tokens("begin_suppress_tokens"),
        banned_from: Some(quiet + 1),
        tokens_per_second: TOKENS_PER_SECOND,
        ends,
    })
}

/// The front end, from the encoder's input where that says its shape.
fn hears(settings: &Settings<'_>, features: &TensorInfo) -> Result<Hears, Error> {
    for (key, due) in [("sampling_rate", 16_000), ("hop_length", 160), ("n_fft", 400)] {
        let is = settings.preprocessor[key].as_u64().unwrap_or(due);
        if is != due {
            return Err(wrong(
                settings,
                &format!("its {key} is {is}, and Ebb makes spectrograms with {due}"),
            ));
        }
    }
    let (&[_, bands, frames] | &[bands, frames]) = &features.shape[..] else {
        return Err(wrong(settings, &format!("its input_features have the shape {:?}", features.shape)));
    };
    let told = |declared: i64, key: &str, default: u64| {
        let told = u64::try_from(declared).ok().filter(|&declared| declared > 0);
        told.or_else(|| settings.preprocessor[key].as_u64()).unwrap_or(default)
    };
    let (bands, frames) = (told(bands, "feature_size", 80), told(frames, "nb_max_frames", 3_000));
    // What any Whisper takes, and room; a config of billions is a mistake.
    if !(1..=512).contains(&bands) || !(100..=30_000).contains(&frames) {
        return Err(wrong(settings, &format!("its input_features are {bands} by {frames}")));
    }
    Ok(Hears::Mel { mel: Mel::new(bands as usize), frames: frames as usize })
}

/// The languages that the model can be told, by code; none where it knows English alone.
fn languages(settings: &Settings<'_>, words: &Words) -> BTreeMap<String, u32> {
    let listed = settings.generation["lang_to_id"].as_object();
    let many = settings.generation["is_multilingual"]
        .as_bool()
        .or_else(|| settings.config["vocab_size"].as_u64().map(|tokens| tokens >= MANY_LANGUAGES_TOKENS))
        .unwrap_or(listed.is_some());
    if !many {
        return BTreeMap::new();
    }
    let of_list = listed.into_iter().flatten().filter_map(|(mark, id)| {
        let code = mark.strip_prefix("<|")?.strip_suffix("|>")?;
        Some((code.to_owned(), u32::try_from(id.as_u64()?).ok()?))
    });
    let of_list: BTreeMap<String, u32> = of_list.collect();
    if !of_list.is_empty() {
        return of_list;
    }
    let is_code =
        |name: &str| (2..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase());
    words.marked().into_iter().filter(|(name, _)| is_code(name)).collect()
}

/// Tokens that the folder forces after the first, by their places; `None` where the model is to choose.
fn forced(settings: &Settings<'_>) -> Vec<Option<u32>> {
    let pairs = settings.get("forced_decoder_ids").as_array().into_iter().flatten();
    pairs.map(|pair| pair[1].as_u64().and_then(|id| u32::try_from(id).ok())).collect()
}

fn wrong(settings: &Settings<'_>, why: &str) -> Error {
    Error::invalid_model(settings.folder, why)
}
