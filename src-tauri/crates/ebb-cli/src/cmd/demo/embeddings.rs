//! Vectors of many texts, in two rounds: in the way that ONNX Runtime comes, and in Ebb's.

use std::fmt::Write as _;

use ebb_client::{LoadOptions, Model};
use ebb_core::{ModelKind, format_bytes};
use serde::Serialize;

use super::{
    other_kind,
    picture::Screen,
    round::{Measured, Round, lowest_cosine},
    workload::Workload,
};
use crate::{
    error::Result,
    render::{Look, Table},
};

/// No request is split because of its size, as in a program that calls ONNX Runtime itself.
const ONE_BATCH_TOKENS: u32 = 32 * 512;
const SHRINK_EVERY: u32 = 10;

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Embedded {
    rounds: Vec<Measured>,
    /// Between the vectors of the same text in both rounds.
    lowest_cosine: Option<f64>,
}

pub(super) async fn run(model: &Model, requests: u32, screen: &mut Screen<'_>) -> Result<Embedded> {
    let entry = model.info().await?;
    if entry.kind != ModelKind::Embeddings {
        return Err(other_kind(&entry, "an embedding model, and the demo makes vectors"));
    }
    let workload = Workload::new(requests);
    screen.part(
        &format!(
            "{} requests of 1 to 32 texts of 6 to 300 words ({} texts), twice, on",
            workload.requests.len(),
            workload.texts()
        ),
        &entry,
    )?;
    let mut rounds: Vec<Measured> = Vec::new();
    for round in both() {
        rounds.push(round.run(model, &workload, screen).await?);
    }
    let lowest_cosine = match rounds.as_slice() {
        [one, other] => lowest_cosine(one, other),
        _ => None,
    };
    screen.say(|look| comparison(&rounds, lowest_cosine, look))?;
    Ok(Embedded { rounds, lowest_cosine })
}

pub(super) fn both() -> [Round; 2] {
    let text = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
    [
        Round {
            name: "ONNX Runtime's defaults",
            about: "the arena doubles as it grows and keeps what it took",
            options: LoadOptions {
                arena_options: text("arena_extend_strategy", "kNextPowerOfTwo"),
                batch_tokens: Some(ONE_BATCH_TOKENS),
                shrink_every: Some(0),
                ..LoadOptions::default()
            },
        },
        Round {
            name: "Ebb, --shrink-every 10",
            about: "large requests are split, memory goes back every 10",
            options: LoadOptions { shrink_every: Some(SHRINK_EVERY), ..LoadOptions::default() },
        },
    ]
}

fn comparison(rounds: &[Measured], cosine: Option<f64>, look: Look) -> String {
    let heads = ["resident memory", ">after load", ">highest", ">at the end", ">after shrink", ">texts/s"];
    let mut table = Table::new(look, &heads);
    for round in rounds {
        table.row([
            round.name.to_owned(),
            format_bytes(round.after_load.resident_bytes),
            format_bytes(round.highest_resident_bytes),
            format_bytes(round.end.before_shrink.resident_bytes),
            format_bytes(round.end.after_shrink.resident_bytes),
            format!("{:.0}", round.texts as f64 * 1e3 / round.took_ms.max(1) as f64),
        ]);
    }
    let mut text = table.text(look);
    if let Some(cosine) = cosine {
        let _ = writeln!(text, "\nthe vectors of both rounds agree: lowest cosine of a text {cosine:.7}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::demo::picture::tests::{sample, shrunk};

    fn measured(name: &'static str) -> Measured {
        Measured {
            name,
            options: LoadOptions::default(),
            texts: 1_000,
            took_ms: 10_000,
            after_load: sample(183),
            highest_resident_bytes: 706 << 20,
            end: shrunk(),
            vectors: vec![1.0, 0.0],
            dimensions: 2,
        }
    }

    #[test]
    fn the_end() {
        let rounds = [measured("one way"), measured("another")];
        let cosine = lowest_cosine(&rounds[0], &rounds[1]);
        insta::assert_snapshot!(comparison(&rounds, cosine, Look::plain()), @r"
        resident memory  after load    highest  at the end  after shrink  texts/s
        one way           183.0 MiB  706.0 MiB   700.0 MiB     190.0 MiB      100
        another           183.0 MiB  706.0 MiB   700.0 MiB     190.0 MiB      100

        the vectors of both rounds agree: lowest cosine of a text 1.0000000
        ");
    }
}
