"""The machine, models from elsewhere, checks, recordings and replays."""

from __future__ import annotations

import io
import unittest

import ebb

from .answers import ENTRY, OPTION, SAMPLE, SHRUNK
from .host import KEY, Endless, Host, error

FIGURES = {
    "duration_ms": 9,
    "after_load_bytes": 1,
    "peak_bytes": 5,
    "mean_bytes": 2,
    "end_bytes": 1,
    "freed_bytes": 4,
    "shrinks": 1,
    "unloads": 0,
    "reloads": 0,
    "shrink_ms": 1,
    "reload_ms": 0,
    "over_twice_in_use": 0.5,
    "idle_slack_ms": 0,
    "relief_ms": 0,
    "short_ms": 0,
}
AT = {"stage": "downloading", "file": "model.onnx", "done_bytes": 5, "total_bytes": 9, "reason": None}


class TheHost(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host().__enter__()
        self.addCleanup(self.host.__exit__)
        self.client = ebb.connect(self.host.url, KEY)

    def test_a_pull_tells_how_far_it_is_and_gives_the_model(self) -> None:
        self.host.answers["POST /ebb/v1/models/pull"] = [{"progress": AT}, {"report": ENTRY}]
        pull = self.client.pull_model("hf:org/name", alias="minilm")
        self.assertEqual([(at.stage, at.done_bytes) for at in pull], [("downloading", 5)])
        self.assertEqual(pull.entry().alias, "minilm")
        sent = self.host.asked[0].json
        self.assertEqual((sent["model"], sent["alias"], sent["force"]), ("hf:org/name", "minilm", False))

    def test_an_import_that_fails_raises_and_one_that_is_left_ends(self) -> None:
        refused = error("invalid_model", "no weights")
        self.host.answers["POST /ebb/v1/models/import"] = [{"progress": AT}, refused]
        with self.assertRaisesRegex(ebb.ModelError, "no weights"):
            self.client.import_model("a/b.gguf").entry()
        self.assertTrue(self.host.asked[0].json["path"].endswith("b.gguf"))
        self.host.answers["POST /ebb/v1/models/import"] = Endless([{"progress": AT}])
        with self.client.import_model("a/b.gguf") as going_on:
            next(going_on)
        self.assertTrue(self.host.left.wait(10))

    def test_every_model_is_shrunk_and_what_could_not_be_is_told(self) -> None:
        failed = [{"model": "b", "error": error("not_loaded", "it restarts")["error"]}]
        report = {"reports": [SHRUNK], "failed": failed, "freed_bytes": 70_000_000}
        self.host.answers["POST /ebb/v1/models/shrink-all"] = report
        shrunk = self.client.shrink_all("cpu:0")
        self.assertEqual((shrunk.freed_bytes, shrunk.reports[0].model), (70_000_000, "minilm"))
        self.assertEqual(shrunk.failed[0].error["code"], "not_loaded")
        self.assertEqual(self.host.asked[0].json, {"targets": ["cpu:0"]})

    def test_the_system_and_the_log_are_read(self) -> None:
        process = {"pid": 7, "resident_bytes": 2, "private_bytes": None, "version": "0.1.0", "uptime_ms": 3}
        self.host.answers["GET /ebb/v1/system"] = {
            "memory": {"total_bytes": 9, "available_bytes": 4},
            "host": process,
            "devices": [],
            "runtimes": [],
            "models": [],
            "folders": [{"name": "models", "path": "/m", "bytes": 5}],
        }
        system = self.client.system(folders=True)
        self.assertEqual((system.memory and system.memory.total_bytes, system.folders[0].bytes), (9, 5))
        self.assertEqual(self.host.asked[0].target, "/ebb/v1/system?folders=true")
        line = {"seq": 1, "time_ms": 2, "level": "warn", "target": "ebb_api", "message": "m", "model": None}
        self.host.answers["GET /ebb/v1/log"] = {"lines": [{**line, "fields": {"took_us": 3}}]}
        self.assertEqual(self.client.log(5)[0].fields, {"took_us": 3})

    def test_options_are_checked_without_loading(self) -> None:
        problem = {"severity": "error", "field": "threads", "message": "m", "hint": None, "nearest": None}
        self.host.answers["POST /ebb/v1/models/minilm/check"] = {
            "model": "minilm",
            "lines": [OPTION],
            "problems": [problem, {**problem, "severity": "note"}],
            "estimate": None,
            "needs_reload": False,
            "changed": [],
            "cli": "ebb model load minilm --threads 2",
            "python": "import ebb\n",
        }
        check = self.client.model("minilm").check(threads=2, arena_options={"max_mem": 5})
        self.assertEqual([one.field for one in check.errors], ["threads"])
        self.assertEqual(self.host.asked[0].json, {"threads": 2, "arena_options": {"max_mem": "5"}})

    def test_a_recording_is_read_line_by_line_and_written_to_a_file(self) -> None:
        lines = [{"trace": {"version": 1}}, {"at_ms": 4, "sample": SAMPLE}]
        self.host.answers["GET /ebb/v1/models/minilm/recording"] = lines
        self.assertEqual(list(self.client.model("minilm").record()), lines)
        file = io.BytesIO()
        self.client.model("minilm").record().write(file)
        self.assertEqual(file.getvalue().count(b"\n"), 2)

    def test_a_recording_is_replayed(self) -> None:
        self.host.answers["POST /ebb/v1/plugins/p/replay"] = {
            "plugin": "p",
            "with": FIGURES,
            "without": {**FIGURES, "mean_bytes": 4},
            "runs": 3,
            "asked": 5,
            "decided": 1,
            "failed": 0,
            "decisions": [],
            "call_us": 20,
            "given_up": None,
            "promise": None,
            "points": [{"at_ms": 0, "with_bytes": 1, "without_bytes": 2}],
        }
        report = self.client.plugin("p").replay('{"trace": 1}\n', {"slack_mib": 32})
        self.assertEqual((report.with_policy.mean_bytes, report.without_policy.mean_bytes), (2, 4))
        asked = self.host.asked[0]
        self.assertEqual((asked.body, asked.media), (b'{"trace": 1}\n', "application/x-ndjson"))
        self.assertEqual(asked.target, "/ebb/v1/plugins/p/replay?settings=%7B%22slack_mib%22%3A+32%7D")

    def test_events_begin_with_a_history_where_it_is_asked_for(self) -> None:
        data = b'data: {"seq": 1, "time_ms": 2, "model": "m", "event": "loading"}\n\n'
        self.host.answers["GET /ebb/v1/events"] = [data]
        self.assertEqual([event.seq for event in self.client.events(history=9)], [1])
        self.assertEqual(self.host.asked[0].target, "/ebb/v1/events?history=9")
