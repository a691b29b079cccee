"""Finding the host, keeping connections, and what goes wrong on the way."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import ebb
from ebb import places
from ebb.connection import to_json

from .host import KEY, Host, error

STATUS = {"running": True, "url": None, "pid": 1, "version": "0.1.0", "uptime_ms": 1, "resident_bytes": 1, "models": []}


class Connection(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host().__enter__()
        self.addCleanup(self.host.__exit__)
        self.host.answers["GET /ebb/v1/status"] = STATUS

    def test_the_host_is_found_by_its_endpoint_file(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            run = Path(home) / "run"
            run.mkdir()
            fields = {"url": self.host.url, "pid": 1, "token": KEY, "version": "0.1.0"}
            (run / "host.json").write_text(json.dumps(fields), encoding="utf-8")
            with mock.patch.dict(os.environ, {"EBB_HOME": home}):
                self.assertTrue(ebb.connect().status().running)
            self.assertTrue(ebb.connect(home=home).status().running)
            (run / "host.json").write_text("{", encoding="utf-8")
            with self.assertRaises(ebb.HostError) as caught:
                ebb.connect(home=home)
            self.assertEqual(caught.exception.code, "storage")

    def test_where_no_host_runs_it_is_said_how_to_start_one(self) -> None:
        with tempfile.TemporaryDirectory() as home, self.assertRaises(ebb.NotRunningError) as caught:
            ebb.connect(home=home)
        self.assertIn("ebb server start", str(caught.exception))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % free.getsockname()[1]
        with self.assertRaises(ebb.NotRunningError):
            ebb.connect(url, KEY).status()

    @unittest.skipIf(sys.platform in ("win32", "darwin"), "other folders there")
    def test_the_data_folder_follows_xdg(self) -> None:
        for xdg, wanted in [("/data", "/data/ebb"), ("data", "/h/.local/share/ebb"), ("", "/h/.local/share/ebb")]:
            with mock.patch.dict(os.environ, {"EBB_HOME": "", "HOME": "/h", "XDG_DATA_HOME": xdg}):
                self.assertEqual(str(places.home()), wanted)

    def test_a_connection_is_kept_and_made_anew_once_the_host_has_closed_it(self) -> None:
        client = ebb.connect(self.host.url, KEY)
        for _ in range(3):
            client.status()
        with self.assertRaises(ebb.NotFoundError):
            client.model("m").info()
        self.assertEqual(len({asked.connection for asked in self.host.asked}), 1)
        client.close()
        client.status()
        self.assertEqual(len({asked.connection for asked in self.host.asked}), 2)

    def test_each_family_of_codes_has_its_class(self) -> None:
        model = ebb.connect(self.host.url, KEY).model("m")
        for status, code, wanted in [
            (400, "invalid_value", ebb.RequestError),
            (403, "forbidden", ebb.AccessError),
            (404, "not_loaded", ebb.NotFoundError),
            (408, "timeout", ebb.TimedOutError),
            (409, "cancelled", ebb.CancelledError),
            (422, "invalid_model", ebb.ModelError),
            (422, "arena_limit", ebb.MemoryLimitError),
            (429, "busy", ebb.BusyError),
            (500, "worker_crashed", ebb.HostError),
            (500, "of_a_later_version", ebb.HostError),
        ]:
            told = error(code, "no", hint="do this", param="p", details={"limit_bytes": 7})
            self.host.answers["GET /ebb/v1/models/m/estimate"] = (status, told)
            with self.assertRaises(wanted) as caught:
                model.estimate()
            said = caught.exception
            self.assertIs(type(said), wanted)
            self.assertEqual((said.code, said.message, said.hint, said.param), (code, "no", "do this", "p"))
            self.assertEqual((said.details, str(said)), ({"limit_bytes": 7}, "no (do this)"))

    def test_a_wrong_key_is_told(self) -> None:
        with self.assertRaises(ebb.AccessError) as caught:
            ebb.connect(self.host.url, "wrong").status()
        self.assertEqual(caught.exception.param, "Authorization")

    def test_what_is_no_host_is_told(self) -> None:
        self.host.answers["GET /ebb/v1/status"] = (502, b"<html>")
        with self.assertRaisesRegex(ebb.ProtocolError, "answered 502 without saying why"):
            ebb.connect(self.host.url, KEY).status()
        for url in ["ftp://127.0.0.1", "127.0.0.1:4770", "http://", "http://127.0.0.1:x"]:
            with self.assertRaises(ebb.RequestError, msg=url):
                ebb.connect(url)

    def test_names_cannot_lead_to_another_route(self) -> None:
        client = ebb.connect(self.host.url, KEY)
        with self.assertRaises(ebb.NotFoundError):
            client.model("..").info()
        with self.assertRaises(ebb.NotFoundError):
            client.model("a/b c?d").info()
        self.assertEqual([asked.target for asked in self.host.asked], ["/ebb/v1/models/a%2Fb%20c%3Fd"])

    def test_a_body_that_the_host_would_not_take_is_not_sent(self) -> None:
        with self.assertRaises(ebb.RequestError) as caught:
            to_json({"texts": ["x" * (64 << 20)]})
        self.assertEqual((caught.exception.code, caught.exception.details["limit_bytes"]), ("too_large", 64 << 20))
        with self.assertRaisesRegex(ebb.RequestError, "no JSON"):
            to_json({"x": float("nan")})
