//! Indexes of pipelines, and answers that cite.

use ebb_core::{
    format_bytes,
    operations::{AskAnswer, IngestReport, PluginIndex},
};

use super::{Look, Table, counted, stats::duration};

/// A passage longer than this is cut where it is shown.
const SHOWN_CHARS: usize = 160;

/// What an ingest did.
pub(crate) fn ingest_report(report: &IngestReport, look: Look) -> String {
    let mut text = format!(
        "{} read, {} made; {} unchanged, {} removed; {}\n",
        counted(report.documents, "document", "documents"),
        counted(report.chunks, "chunk", "chunks"),
        report.unchanged,
        report.removed,
        duration(report.took_ms)
    );
    for (name, figure) in &report.more {
        let figure = if name.ends_with("bytes") { format_bytes(*figure) } else { figure.to_string() };
        text += &look.dim(format!("{}: {figure}\n", name.replace(['-', '_'], " ")));
    }
    for skipped in &report.skipped {
        text += &format!("{} {}: {}\n", look.warn("skipped"), skipped.document, skipped.reason);
    }
    text
}

/// What an index holds.
pub(crate) fn plugin_index(index: &PluginIndex, look: Look) -> String {
    let mut table = Table::new(look, &["collection", ">documents", ">chunks", ">dimensions"]);
    for one in &index.collections {
        let figures = [one.documents.to_string(), one.chunks.to_string(), one.dimensions.to_string()];
        table.row([one.name.clone()].into_iter().chain(figures));
    }
    let mut text = if table.is_empty() {
        "nothing is indexed yet: 'ebb rag add FOLDER'\n".to_owned()
    } else {
        table.text(look)
    };
    text += &format!(
        "{} on disk, {} of the index in memory\n",
        format_bytes(index.store_bytes),
        format_bytes(index.index_memory_bytes)
    );
    for path in &index.paths {
        text += &format!("reads {}\n", path.display());
    }
    if let Some(call) = &index.running {
        let percent = (call.progress.fraction * 100.0).round();
        text += &format!("{} goes on: {percent} %, {}\n", call.call, call.progress.message);
    }
    text
}

/// The passages that an answer rests on.
pub(crate) fn citations(answer: &AskAnswer, look: Look) -> String {
    let mut text = String::new();
    for citation in &answer.citations {
        let place = format!("{}, bytes {}\u{2013}{}", citation.document, citation.start, citation.end);
        let words = citation.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = words.char_indices().nth(SHOWN_CHARS).map(|(at, _)| &words[..at]);
        let shown = cut.map_or_else(|| words.clone(), |cut| format!("{cut}\u{2026}"));
        text +=
            &format!("{} {}\n    {}\n", look.bold(format!("[{}]", citation.number)), place, look.dim(shown));
    }
    text + &look.dim(format!("{}\n", duration(answer.took_ms)))
}

#[cfg(test)]
mod tests {
    use ebb_core::operations::{Citation, CollectionState, Skipped};

    use super::*;

    #[test]
    fn an_ingest_says_what_was_left_out_and_why() {
        let report = IngestReport {
            documents: 2,
            chunks: 9,
            unchanged: 1,
            removed: 0,
            skipped: vec![Skipped { document: "a.pdf".into(), reason: "it is encrypted".into() }],
            more: [("freed_bytes".to_owned(), 3 << 20)].into(),
            took_ms: 1_500,
        };
        insta::assert_snapshot!(ingest_report(&report, Look::plain()), @r"
        2 documents read, 9 chunks made; 1 unchanged, 0 removed; 1.5 s
        freed bytes: 3.0 MiB
        skipped a.pdf: it is encrypted
        ");
    }

    #[test]
    fn an_index_and_an_answer() {
        let collection =
            CollectionState { name: "minilm-384".into(), dimensions: 384, documents: 2, chunks: 9 };
        let index = PluginIndex {
            plugin: "rag".into(),
            collections: vec![collection],
            store_bytes: 2 << 20,
            index_memory_bytes: 4096,
            paths: vec!["/docs".into()],
            running: None,
        };
        insta::assert_snapshot!(plugin_index(&index, Look::plain()), @r"
        collection  documents  chunks  dimensions
        minilm-384          2       9         384
        2.0 MiB on disk, 4.0 KiB of the index in memory
        reads /docs
        ");
        let citation = Citation {
            number: 1,
            document: "a.md".into(),
            text: format!("so\nit {}", "x".repeat(200)),
            start: 3,
            end: 9,
            score: 0.5,
        };
        let answer = AskAnswer { answer: "It is [1].".into(), citations: vec![citation], took_ms: 20 };
        let text = citations(&answer, Look::plain());
        assert!(text.starts_with("[1] a.md, bytes 3\u{2013}9\n    so it xx"), "{text}");
        assert!(text.contains("x\u{2026}\n"), "{text}");
    }
}
