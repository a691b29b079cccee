//! A model that is loaded, with all that it tells of itself.

use std::fmt::Write as _;

use ebb_core::{LoadOptions, ModelInfo, TensorInfo, format_bytes};

use super::{
    Look, Table,
    given::{option_lines, plain},
    model::word,
};

/// What a model that is loaded takes, runs on and was loaded with.
pub(super) fn loaded(info: &ModelInfo, options: &LoadOptions, look: Look) -> String {
    let mut text = String::new();
    let arenas: Vec<_> = info.arenas.iter().map(ToString::to_string).collect();
    let _ = writeln!(text, "file     {}", info.file);
    let _ = writeln!(text, "on       {}, ONNX Runtime {}", info.provider, info.runtime_version);
    let _ = writeln!(text, "arenas   {}", if arenas.is_empty() { "none".into() } else { arenas.join(", ") });
    text += &particulars(info);
    if let Some(plain) = plain(options) {
        let _ = writeln!(text, "with     {plain}");
    }
    let mut table = Table::new(look, &["", "name", "type", "shape"]);
    for (what, tensors) in [("input", &info.inputs), ("output", &info.outputs)] {
        for (name, tensor) in of_a_kind(tensors) {
            let dtype = tensor.dtype.as_ref().map_or_else(|| "not passed".into(), word);
            table.row([what.to_owned(), name, dtype, format!("{:?}", tensor.shape)]);
        }
    }
    text = text + "\n" + &table.text(look);
    if !info.options.is_empty() {
        text = text + "\n" + &option_lines(&info.options, look);
    }
    text
}

/// What is particular to what the model is for.
fn particulars(info: &ModelInfo) -> String {
    let mut text = String::new();
    if let Some(embedding) = &info.embedding {
        let _ = writeln!(
            text,
            "vectors  {} dimensions, {} pooling{}, at most {} tokens a text, {} a batch",
            embedding.dimensions,
            word(&embedding.pooling),
            if embedding.normalized { ", length 1" } else { "" },
            embedding.max_tokens,
            embedding.batch_tokens,
        );
    }
    if let Some(chat) = &info.chat {
        let _ = writeln!(
            text,
            "context  {} tokens, {} of KV cache each{}\nprompts  read by {} tokens, up to {} of their cache kept for the next turn",
            chat.context_tokens,
            format_bytes(chat.kv_bytes_per_token),
            if chat.kv_shared { ", in one buffer" } else { "" },
            chat.prefill_tokens,
            format_bytes(chat.prefix_cache_bytes),
        );
        let takes = match (chat.template, chat.tools) {
            (true, true) => "messages and tools",
            (true, false) => "messages; its template takes no tools",
            (false, _) => "a bare prompt alone, as with 'ebb complete': it has no chat template",
        };
        let _ = writeln!(text, "takes    {takes}");
    }
    if let Some(audio) = &info.audio {
        let _ = writeln!(
            text,
            "speech   {}, {} samples a second{}{}",
            audio.family,
            audio.sample_rate_hz,
            if audio.voice_detector { ", cut where nobody speaks" } else { "" },
            if audio.languages.is_empty() {
                String::new()
            } else {
                format!(", {}", audio.languages.join(" "))
            },
        );
    }
    text
}

/// Tensors that differ in the numbers of their names alone, as those of a model's layers do, are one line.
fn of_a_kind(tensors: &[TensorInfo]) -> Vec<(String, &TensorInfo)> {
    let mut kinds: Vec<(String, usize, &TensorInfo)> = Vec::new();
    for tensor in tensors {
        let parts = tensor.name.split('.').map(|part| if part.parse::<u32>().is_ok() { "*" } else { part });
        let kind = parts.collect::<Vec<_>>().join(".");
        let alike = |(name, _, first): &&mut (String, usize, &TensorInfo)| {
            *name == kind && (first.dtype, &first.shape) == (tensor.dtype, &tensor.shape)
        };
        match kinds.iter_mut().find(alike) {
            Some((_, count, _)) => *count += 1,
            None => kinds.push((kind, 1, tensor)),
        }
    }
    let name = |(kind, count, first): (String, usize, &'_ TensorInfo)| match count {
        1 => first.name.clone(),
        _ => format!("{kind} ({count})"),
    };
    kinds.into_iter().map(|one| (name(one.clone()), one.2)).collect()
}

#[cfg(test)]
mod tests {
    use ebb_core::{AudioInfo, ChatInfo, DType, ModelKind};

    use super::*;
    use crate::render::model::tests::info;

    #[test]
    fn chat_and_speech_models_say_what_they_take() {
        let layer = |n: u32| TensorInfo {
            name: format!("past_key_values.{n}.key"),
            dtype: Some(DType::Float32),
            shape: vec![-1, 3, -1, 64],
        };
        let info = ModelInfo {
            kind: ModelKind::Chat,
            inputs: (0..30).map(layer).collect(),
            embedding: None,
            chat: Some(ChatInfo {
                context_tokens: 2_048,
                kv_bytes_per_token: 46_080,
                kv_shared: true,
                prefill_tokens: 256,
                prefix_cache_bytes: 64 << 20,
                template: true,
                tools: false,
            }),
            audio: Some(AudioInfo {
                family: "whisper".into(),
                sample_rate_hz: 16_000,
                languages: vec!["en".into(), "de".into()],
                voice_detector: true,
            }),
            options: Vec::new(),
            ..info()
        };
        insta::assert_snapshot!(loaded(&info, &LoadOptions::default(), Look::plain()), @r"
        file     model.onnx
        on       cpu, ONNX Runtime 1.31.1
        arenas   cpu:0
        context  2048 tokens, 45.0 KiB of KV cache each, in one buffer
        prompts  read by 256 tokens, up to 64.0 MiB of their cache kept for the next turn
        takes    messages; its template takes no tools
        speech   whisper, 16000 samples a second, cut where nobody speaks, en de

                name                        type        shape
        input   past_key_values.*.key (30)  float32     [-1, 3, -1, 64]
        output  odd                         not passed  []
        ");
    }
}
