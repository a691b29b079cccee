//! Vectors and tensors.

use std::{path::PathBuf, time::Duration};

use ebb_core::{EmbedFigures, TensorSpec};

use super::{Look, Table, counted, model::word};

/// Texts that were cut are named up to this many.
const NAMED: usize = 5;

/// The start of a vector, for people who only look.
pub(crate) fn preview(vector: &[f32], look: Look) -> String {
    let shown = vector.iter().take(6).map(|value| format!("{value:>8.4}")).collect::<Vec<_>>().join(" ");
    if vector.len() <= 6 {
        return format!("[{shown}]\n");
    }
    format!("[{shown}  {}]\n", look.dim(format!("... {} in all", vector.len())))
}

/// What embedding took, for stderr.
pub(crate) fn embed_summary(figures: &EmbedFigures, took: Duration) -> String {
    let seconds = took.as_secs_f64().max(1e-6);
    let mut text = format!(
        "{}, {} ({} of padding besides), {}, {:.2} s, {:.0} texts/s\n",
        counted(figures.texts, "text", "texts"),
        counted(figures.tokens, "token", "tokens"),
        figures.padding_tokens,
        counted(figures.batches, "batch", "batches"),
        seconds,
        f64::from(figures.texts) / seconds,
    );
    if figures.cap_retries > 0 {
        let retries = counted(figures.cap_retries, "batch", "batches");
        text += &format!("{retries} hit the cap and ran again after a shrink\n");
    }
    for cut in figures.truncated.iter().take(NAMED) {
        let at_least = if cut.exact { "" } else { "at least " };
        text += &format!(
            "text {} has {at_least}{} tokens, of which the first {} were used\n",
            cut.index + 1,
            cut.tokens,
            cut.used
        );
    }
    if figures.truncated.len() > NAMED {
        let more = (figures.truncated.len() - NAMED) as u64;
        let more = counted(more, "more text was", "more texts were");
        text += &format!("{more} longer than the model takes\n");
    }
    text
}

/// Outputs of a run that were written to files.
pub(crate) fn tensors_written(written: &[(TensorSpec, PathBuf)], look: Look) -> String {
    let mut table = Table::new(look, &["output", "type", "shape", "file"]);
    for (spec, path) in written {
        let shape = format!("{:?}", spec.shape);
        table.row([spec.name.clone(), word(&spec.dtype), shape, path.display().to_string()]);
    }
    table.text(look)
}

#[cfg(test)]
mod tests {
    use ebb_core::Truncation;

    use super::*;

    #[test]
    fn what_embedding_took() {
        let cut = |index, exact| Truncation { index, tokens: 900, exact, used: 256 };
        let figures = EmbedFigures {
            texts: 100,
            dimensions: 384,
            tokens: 2_000,
            padding_tokens: 40,
            batches: 3,
            truncated: vec![
                cut(0, true),
                cut(6, false),
                cut(7, true),
                cut(8, true),
                cut(9, true),
                cut(10, true),
            ],
            cap_retries: 1,
        };
        insta::assert_snapshot!(embed_summary(&figures, Duration::from_millis(500)), @r"
        100 texts, 2000 tokens (40 of padding besides), 3 batches, 0.50 s, 200 texts/s
        1 batch hit the cap and ran again after a shrink
        text 1 has 900 tokens, of which the first 256 were used
        text 7 has at least 900 tokens, of which the first 256 were used
        text 8 has 900 tokens, of which the first 256 were used
        text 9 has 900 tokens, of which the first 256 were used
        text 10 has 900 tokens, of which the first 256 were used
        1 more text was longer than the model takes
        ");
    }

    #[test]
    fn a_preview_is_short() {
        insta::assert_snapshot!(preview(&[0.125; 384], Look::plain()), @"[  0.1250   0.1250   0.1250   0.1250   0.1250   0.1250  ... 384 in all]");
        insta::assert_snapshot!(preview(&[1.0, -2.0], Look::plain()), @"[  1.0000  -2.0000]");
    }
}
