"""Answers that come in parts: vectors, text, speech, events."""

from __future__ import annotations

import base64
import json
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, List
from urllib.parse import parse_qs, urlsplit

import ebb

from .answers import EMBEDDED, GENERATED, HEARD, SHRUNK, segment
from .host import KEY, Endless, Host, error

M = "/ebb/v1/models/m"


def vectors(first: int, *rows: List[float]) -> Any:
    data = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
    fields = {"first": first, "count": len(rows), "dimensions": len(rows[0])}
    return {"vectors": {**fields, "data": base64.b64encode(data).decode()}}


def piece(text: str, **more: Any) -> Any:
    return {"piece": {"text": text, "logprobs": [], **more}}


class Answers(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host().__enter__()
        self.addCleanup(self.host.__exit__)
        self.model = ebb.connect(self.host.url, KEY).model("m")

    def test_vectors_come_as_lists_in_order(self) -> None:
        lines = [{"progress": {"done": 2, "total": 3}}, vectors(0, [1.0, 2.5], [0.0, -1.0])]
        self.host.answers[f"POST {M}/embed"] = [*lines, vectors(2, [0.5, 4.0]), {"figures": EMBEDDED}]
        found = self.model.embed(iter(["a", "b", "c"]), shrink_after=True, timeout_ms=500, keep_alive=None)
        self.assertEqual(found, [[1.0, 2.5], [0.0, -1.0], [0.5, 4.0]])
        self.assertEqual((found.figures.tokens, found.figures.truncated[0].used), (12, 256))
        asked = {"texts": ["a", "b", "c"], "stream": True, "shrink_after": [], "timeout_ms": 500}
        self.assertEqual(self.host.asked[0].json, asked)

    def test_a_lone_text_is_refused_before_it_is_taken_apart(self) -> None:
        with self.assertRaises(ebb.RequestError) as caught:
            self.model.embed("abc")
        self.assertEqual((caught.exception.hint, self.host.asked), ("write embed([text])", []))

    def test_vectors_that_do_not_fit_their_count_are_an_error(self) -> None:
        line = vectors(0, [1.0, 2.0])
        line["vectors"]["count"] = 2
        self.host.answers[f"POST {M}/embed"] = [line, {"figures": EMBEDDED}]
        with self.assertRaisesRegex(ebb.ProtocolError, "2 vectors of 2 came as 2 numbers"):
            self.model.embed(["a"])

    def test_a_chat_answers_whole(self) -> None:
        call = {"id": "c1", "name": "weather", "arguments": '{"city":"Köln"}'}
        likely = {"token_id": 5, "token": "Hi", "bytes": [72, 105], "logprob": -0.5, "top": []}
        lines = [piece("Grüß ", logprobs=[likely]), piece("dich 👋"), {"tool_call": call}]
        self.host.answers[f"POST {M}/generate"] = [*lines, {"figures": GENERATED}]
        answer = self.model.chat(
            [{"role": "user", "content": "hallo"}],
            tools=[{"type": "function", "function": {"name": "weather"}}],
            stop="END",
            max_tokens=9,
            logit_bias={7: -1.5},
            shrink_after="cpu:0",
        )
        self.assertEqual((answer.text, answer.tool_calls[0].name), ("Grüß dich 👋", "weather"))
        self.assertEqual((answer.figures.tokens_per_second, answer.logprobs[0].token_id), (50.0, 5))
        self.assertEqual(answer.message, {"role": "assistant", "content": answer.text, "tool_calls": [call]})
        self.assertEqual(
            self.host.asked[0].json,
            {
                "generation": {
                    "messages": [{"role": "user", "content": "hallo"}],
                    "tools": [{"name": "weather"}],
                    "stop": ["END"],
                    "max_tokens": 9,
                    "logit_bias": {"7": -1.5},
                },
                "stream": True,
                "options": {"shrink_after": ["cpu:0"]},
            },
        )

    def test_a_text_comes_in_pieces_and_is_whole_at_the_end(self) -> None:
        lines = [{"progress": {"done": 10, "total": 10}}, piece("one "), piece("two"), {"figures": GENERATED}]
        self.host.answers[f"POST {M}/generate"] = lines
        stream = self.model.complete("count", stream=True)
        self.assertEqual(list(stream), ["one ", "two"])
        self.assertEqual((stream.answer().text, stream.answer().figures.seed), ("one two", 7))
        self.assertEqual(self.host.asked[0].json["generation"], {"prompt": "count"})

    def test_a_stream_that_is_dropped_closes_its_connection(self) -> None:
        self.host.answers[f"POST {M}/generate"] = Endless([piece("again ")])
        for text in self.model.chat("go on", stream=True):
            self.assertEqual(text, "again ")
            break
        self.assertTrue(self.host.left.wait(10))

    def test_a_stream_that_another_thread_closes_ends(self) -> None:
        self.host.answers[f"POST {M}/generate"] = Endless([piece("again ")])
        stream = self.model.chat("go on", stream=True)
        read = threading.Thread(target=lambda: [None for _ in stream])
        read.start()
        stream.close()
        read.join(10)
        self.assertFalse(read.is_alive())
        with self.assertRaisesRegex(ebb.ProtocolError, "left before its end"):
            stream.answer()

    def test_an_error_in_mid_stream_is_raised_after_what_came_before(self) -> None:
        broken = error("arena_limit", "too large", hint="raise max_mem", details={"limit_bytes": 7})
        self.host.answers[f"POST {M}/generate"] = [piece("one "), broken]
        came = []
        with self.assertRaises(ebb.MemoryLimitError) as caught:
            for text in self.model.chat("go on", stream=True):
                came.append(text)
        self.assertEqual((came, caught.exception.details), (["one "], {"limit_bytes": 7}))

    def test_an_answer_that_stops_before_its_end_is_an_error(self) -> None:
        self.host.answers[f"POST {M}/generate"] = [piece("one ")]
        with self.assertRaisesRegex(ebb.ProtocolError, "ended before its end"):
            self.model.chat("go on")

    def test_speech_from_a_path_and_from_bytes(self) -> None:
        lines = [segment(0, " It was", partial=True), segment(0, " It was the best."), segment(1, "It was")]
        self.host.answers[f"POST {M}/transcribe"] = [*lines, {"figures": HEARD}]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "zwei Städte.WAV"
            path.write_bytes(b"RIFF\x00\xff")
            answer = self.model.transcribe(path, language="en")
        self.assertEqual((answer.text, answer.figures.audio_ms), ("It was the best. It was", 10_000))
        asked = self.host.asked[0]
        request = json.loads(parse_qs(urlsplit(asked.target).query)["request"][0])
        self.assertEqual((asked.body, asked.media), (b"RIFF\x00\xff", "application/octet-stream"))
        wanted = {"language": "en", "format": "wav", "partial": False}
        self.assertEqual((request["transcription"], request["stream"]), (wanted, True))
        heard = list(self.model.transcribe(b"RIFF", partial=True, stream=True))
        self.assertEqual([part.partial for part in heard], [True, False, False])

    def test_events_are_read_and_what_was_missed_shows_as_a_gap(self) -> None:
        shrink = {"seq": 9, "time_ms": 1, "model": "m", "event": "shrink", "cause": "request", "report": SHRUNK}
        text = f"id: 9\nevent: shrink\ndata: {json.dumps(shrink)}\n\n"
        sent = b': hello\n\nevent: lagged\ndata: {"missed":2}\n\n' + text.encode()
        self.host.answers["GET /ebb/v1/events"] = [sent]
        (event,) = self.model.events()
        self.assertEqual((event.seq, event.event, event.fields["cause"]), (9, "shrink", "request"))
        self.assertEqual(event.report and event.report.freed_bytes, 70_000_000)
        self.assertEqual(self.host.asked[0].target, "/ebb/v1/events?model=m")

    def test_tensors_go_and_come_as_they_are(self) -> None:
        data = base64.b64encode(struct.pack("<2f", 1.5, -2.0)).decode()
        tensor = {"name": "y", "dtype": "float32", "shape": [2], "data": data}
        figures = {"outputs": 1, "cap_retries": 0}
        self.host.answers[f"POST {M}/run"] = {"outputs": [tensor], "figures": figures}
        ran = self.model.run([ebb.Tensor("x", "int8", [3], b"\x01\x02\x03")])
        self.assertEqual(struct.unpack("<2f", ran["y"].data), (1.5, -2.0))
        self.assertEqual(self.host.asked[0].json["inputs"][0]["data"], "AQID")

    def test_lines_of_another_form_are_told(self) -> None:
        for line in [{"piece": 3}, {"piece": {}}, {"error": "x"}, {"figures": {}}, {}, {"a": 1, "b": 2}]:
            self.host.answers[f"POST {M}/generate"] = [line]
            with self.assertRaises(ebb.ProtocolError, msg=line):
                self.model.chat("go on")
