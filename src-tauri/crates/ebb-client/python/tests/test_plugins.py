"""Plugins: granting, attaching, asking."""

from __future__ import annotations

import os
import unittest
from typing import Any, Dict

import ebb

from .host import KEY, Host

P = "/ebb/v1/plugins/rag"

MANIFEST = {
    "id": "rag",
    "name": "RAG",
    "version": "1.0.0",
    "description": "answers",
    "author": "a",
    "licence": "MIT",
    "world": "rag-pipeline",
    "contract": "0.1.0",
    "capabilities": [{"capability": "store", "reason": "an index"}],
    "limits": {},
    "settings": None,
    "promise": None,
}
ENTRY: Dict[str, Any] = {
    "manifest": MANIFEST,
    "origin": "bundled",
    "path": "/p/rag.wasm",
    "size_bytes": 5,
    "sha256": "ab",
    "capabilities": [
        {
            "capability": "store",
            "asked": "an index",
            "meaning": "keep data",
            "granted": {"capability": "store", "models": [], "paths": []},
            "calls": 3,
            "refused": 1,
            "last_used_at_ms": None,
        }
    ],
    "attachments": [],
    "settings": {"passages": 6},
    "limits": {},
    "store_bytes": 9,
    "memory_bytes": 0,
    "cpu_us": 0,
    "broken": None,
}
REPORT = {
    "documents": 2,
    "chunks": 7,
    "unchanged": 1,
    "removed": 0,
    "skipped": [{"document": "a.pdf", "reason": "encrypted"}],
    "more": {"freed_bytes": 9},
    "took_ms": 5,
}
CITATION = {"number": 1, "document": "a.md", "text": "t", "start": 0, "end": 1, "score": 0.5}


class Plugins(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host().__enter__()
        self.addCleanup(self.host.__exit__)
        self.client = ebb.connect(self.host.url, KEY)
        self.plugin = self.client.plugin("rag")

    def test_a_grant_names_models_and_whole_paths(self) -> None:
        self.host.answers[f"POST {P}/grant"] = ENTRY
        entry = self.plugin.grant("documents", paths=["notes"])
        self.assertEqual((entry.manifest.id, entry.capabilities[0].refused), ("rag", 1))
        grant = {"capability": "documents", "models": [], "paths": [os.path.abspath("notes")]}
        self.assertEqual(self.host.asked[0].json, {"grants": [grant]})

    def test_a_policy_is_attached_and_settings_are_set(self) -> None:
        for verb in ("attach", "detach", "settings"):
            self.host.answers[f"POST {P}/{verb}"] = ENTRY
        self.plugin.attach("m", grant=True)
        self.plugin.detach("m")
        self.assertEqual(self.plugin.set_settings({"passages": None}).settings, {"passages": 6})
        sent = [asked.json for asked in self.host.asked]
        attach = {"model": "m", "position": None, "grant": True}
        self.assertEqual(sent, [attach, {"model": "m"}, {"settings": {"passages": None}}])

    def test_an_ingest_tells_how_far_it_is_and_ends_with_its_report(self) -> None:
        lines = [{"progress": {"fraction": 0.5, "message": "reading"}}, {"report": REPORT}]
        self.host.answers[f"POST {P}/ingest"] = lines
        with self.plugin.ingest() as ingest:
            self.assertEqual([progress.message for progress in ingest], ["reading"])
            report = ingest.report()
        self.assertEqual((report.chunks, report.skipped[0].document), (7, "a.pdf"))

    def test_an_answer_comes_with_its_citations(self) -> None:
        pieces = [{"citations": [CITATION]}, {"text": "It is "}, {"text": "[1]."}, {"done": {"took_ms": 8}}]
        self.host.answers[f"POST {P}/ask"] = pieces
        answer = self.plugin.ask("why?", [("who?", "he")])
        self.assertEqual((answer.answer, answer.citations[0].document), ("It is [1].", "a.md"))
        asked = {"question": "why?", "history": [{"question": "who?", "answer": "he"}], "stream": True}
        self.assertEqual(self.host.asked[0].json, asked)

    def test_tokens_are_counted_by_the_model(self) -> None:
        self.host.answers["POST /ebb/v1/models/m/count-tokens"] = {"model": "m", "tokens": [2, 0]}
        self.assertEqual(self.client.model("m").count_tokens(["a b", ""]), [2, 0])
