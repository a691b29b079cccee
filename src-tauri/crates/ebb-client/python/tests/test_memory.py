"""The words that users asked for: load with options, shrink, runtime options, figures."""

from __future__ import annotations

import unittest

import ebb

from .answers import ENTRY, INFO, OPTION, SAMPLE, SHRUNK
from .host import KEY, Host

M = "/ebb/v1/models/minilm"


class Memory(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host().__enter__()
        self.addCleanup(self.host.__exit__)
        self.model = ebb.connect(self.host.url, KEY).model("minilm")

    def test_load_sends_every_option_as_text_and_reads_what_was_loaded(self) -> None:
        report = {"info": INFO, "sample": SAMPLE, "already_loaded": False, "warnings": ["tight"], "later": 1}
        self.host.answers[f"POST {M}/load"] = report
        loaded = self.model.load(
            session_options={"enable_cpu_mem_arena": "0", "arena_extend_strategy": "kSameAsRequested"},
            provider_options={"cuda": {"gpu_mem_limit": 2147483648, "do_copy_in_default_stream": True}},
            shrink_every=4,
            keep_alive="5m",
            force=True,
        )
        self.assertEqual(self.host.asked[0].target, f"{M}/load?force=true")
        self.assertEqual(
            self.host.asked[0].json,
            {
                "session_options": {"enable_cpu_mem_arena": "0", "arena_extend_strategy": "kSameAsRequested"},
                "provider_options": {"cuda": {"gpu_mem_limit": "2147483648", "do_copy_in_default_stream": "1"}},
                "shrink_every": 4,
                "keep_alive": "5m",
            },
        )
        self.assertEqual((loaded.info.provider, loaded.warnings), ("cpu", ["tight"]))
        self.assertEqual(loaded.info.embedding and loaded.info.embedding.dimensions, 2)
        self.assertEqual(loaded.sample.reserved_bytes, 160_000_000)

    def test_the_runtime_shrinks_now_and_after_the_next_run(self) -> None:
        self.host.answers[f"POST {M}/shrink"] = SHRUNK
        self.host.answers[f"POST {M}/shrink-after-next-run"] = {"model": "minilm", "run": 4}
        report = self.model.runtime.shrink_arena()
        self.assertEqual((report.freed_bytes, report.dropped[0].target), (70_000_000, "gpu:0"))
        self.assertEqual(self.model.runtime.shrink_after_next_run("cpu:0; gpu:0").run, 4)
        self.assertEqual(self.model.runtime.shrink_after_next_run(["cuda:1"]).run, 4)
        asked = [one.json for one in self.host.asked]
        self.assertEqual(asked, [{}, {"targets": ["cpu:0", " gpu:0"]}, {"targets": ["cuda:1"]}])

    def test_a_runtime_option_is_set_in_both_forms_and_read(self) -> None:
        answer = {"model": "minilm", "options": [OPTION]}
        self.host.answers[f"POST {M}/runtime-options"] = answer
        self.host.answers[f"GET {M}/runtime-options"] = answer
        key, value = "memory.enable_memory_arena_shrinkage", "cpu:0;gpu:0"
        for lines in (
            self.model.runtime.set_option(key, value),
            self.model.set_runtime_option(key, value),
            self.model.runtime.options(),
        ):
            self.assertEqual([(line.key, line.requested) for line in lines], [(key, value)])
        self.assertEqual([one.json for one in self.host.asked[:2]], [{"key": key, "value": value}] * 2)

    def test_stats_are_read_with_and_without_history(self) -> None:
        stats = {"now": SAMPLE, "after_load": SAMPLE, "history": [SAMPLE, SAMPLE], "queued": 0}
        stats.update({"cap_retries": 1, "shrinks": 2, "freed_bytes": 3, "unloads_in_ms": None})
        self.host.answers[f"GET {M}/stats"] = stats
        self.assertEqual(self.model.runtime.stats().now.arenas[0].device, "cpu:0")
        self.assertEqual(len(self.model.runtime.history(2)), 2)
        self.assertEqual([one.target for one in self.host.asked], [f"{M}/stats", f"{M}/stats?history=2"])

    def test_unload_estimate_and_the_catalogue(self) -> None:
        gone = {"model": "minilm", "freed_bytes": 5, "worker_gone": True, "took_ms": 9}
        self.host.answers[f"POST {M}/unload"] = gone
        self.host.answers["GET /ebb/v1/models"] = {"models": [ENTRY]}
        self.host.answers["POST /ebb/v1/models"] = ENTRY
        self.assertTrue(self.model.unload().worker_gone)
        client = ebb.connect(self.host.url, KEY)
        self.assertEqual([entry.state for entry in client.models()], ["loaded"])
        client.add_model("some/model", "minilm")
        sent = self.host.asked[-1].json
        self.assertTrue(sent["path"].endswith("model") and sent["path"] != "some/model", sent)
        self.assertEqual(sent["alias"], "minilm")

    def test_a_field_that_is_missing_or_of_another_type_is_named(self) -> None:
        self.host.answers[f"POST {M}/shrink"] = {**SHRUNK, "took_us": "long"}
        with self.assertRaisesRegex(ebb.ProtocolError, "ShrinkReport.took_us is str"):
            self.model.runtime.shrink_arena()
        self.host.answers[f"POST {M}/shrink"] = {"model": "minilm"}
        with self.assertRaisesRegex(ebb.ProtocolError, "ShrinkReport has no freed_bytes"):
            self.model.runtime.shrink_arena()
