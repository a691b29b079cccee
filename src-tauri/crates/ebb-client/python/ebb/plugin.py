"""One plugin of the host."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Tuple, Union, overload

from .check import ReplayReport, replayed
from .connection import MAX_BODY_BYTES, Connection, Lines, check_length, to_json
from .errors import protocol
from .record import read
from .records import (
    AskAnswer,
    Citation,
    Grant,
    IngestReport,
    PluginEntry,
    PluginIndex,
    PluginLog,
    PluginLogLine,
    PluginProgress,
)
from .stream import PartStream

Path = Union[str, "os.PathLike[str]"]


class Plugin:
    """A plugin, by its id."""

    def __init__(self, way: Connection, id: str) -> None:
        self._way = way
        #: Its id.
        self.id = id

    def __repr__(self) -> str:
        return f"<ebb.Plugin {self.id!r} of {self._way.url}>"

    def info(self) -> PluginEntry:
        """What is known of it: what it asked for, was granted and really used; where it is attached."""
        return read(PluginEntry, self._way.get("plugins", self.id))

    def remove(self) -> PluginEntry:
        """Removes it with all that it kept."""
        return read(PluginEntry, self._way.delete("plugins", self.id))

    def grant(
        self, capability: str, models: Iterable[str] = (), paths: Iterable[Path] = ()
    ) -> PluginEntry:
        """Grants it a capability, besides what it has: on these models (`*`: every model), on these paths."""
        return self._post("grant", _grants(capability, models, paths))

    def revoke(
        self, capability: str, models: Iterable[str] = (), paths: Iterable[Path] = ()
    ) -> PluginEntry:
        """Takes a capability back: on the models and paths named, or altogether."""
        return self._post("revoke", _grants(capability, models, paths))

    def attach(self, model: str, *, position: Optional[int] = None, grant: bool = False) -> PluginEntry:
        """Has it decide for a model; with `grant`, what it asks for is granted on that model alone."""
        return self._post("attach", {"model": model, "position": position, "grant": grant})

    def detach(self, model: str) -> PluginEntry:
        """Has it decide for a model no longer."""
        return self._post("detach", {"model": model})

    def set_settings(self, settings: Mapping[str, Any]) -> PluginEntry:
        """Changes settings; those not named stay, and `None` goes back to the default."""
        return self._post("settings", {"settings": dict(settings)})

    def log(self, lines: int = 100) -> List[PluginLogLine]:
        """The last lines of its log, oldest first."""
        return read(PluginLog, self._way.get("plugins", self.id, "log", lines=lines)).lines

    def ingest(self) -> "IngestStream":
        """Brings a pipeline's index up to date. Leaving the stream before its end cancels it; `report()` waits for it."""
        return IngestStream(self._way.lines("POST", self._path("ingest"), {}, to_json({})))

    @overload
    def ask(
        self, question: str, history: Sequence[Tuple[str, str]] = (), *, stream: Literal[False] = False
    ) -> AskAnswer: ...

    @overload
    def ask(
        self, question: str, history: Sequence[Tuple[str, str]] = (), *, stream: Literal[True]
    ) -> "AskStream": ...

    def ask(
        self, question: str, history: Sequence[Tuple[str, str]] = (), *, stream: bool = False
    ) -> Union[AskAnswer, "AskStream"]:
        """Asks a pipeline; `history` is earlier questions and their answers. With `stream=True` piece by piece."""
        asked = [{"question": earlier, "answer": answer} for earlier, answer in history]
        body = {"question": question, "history": asked, "stream": True}
        pieces = AskStream(self._way.lines("POST", self._path("ask"), {}, to_json(body)))
        return pieces if stream else pieces.answer()

    def replay(self, recording: Union[bytes, str], settings: Optional[Mapping[str, Any]] = None) -> ReplayReport:
        """What it would have made of a recording, if it is a policy; these settings lie over those that were chosen. Nothing
        that it keeps changes."""
        body = recording.encode() if isinstance(recording, str) else recording
        check_length(len(body), MAX_BODY_BYTES, "record for a shorter time")
        query = {} if settings is None else {"settings": json.dumps(dict(settings))}
        return replayed(self._way.answer("POST", self._path("replay"), query, body, "application/x-ndjson"))

    def index(self) -> PluginIndex:
        """What a pipeline's index holds."""
        return read(PluginIndex, self._way.get("plugins", self.id, "index"))

    def _post(self, verb: str, body: Dict[str, Any]) -> PluginEntry:
        return read(PluginEntry, self._way.post(self._path(verb), body))

    def _path(self, verb: str) -> List[str]:
        return ["plugins", self.id, verb]


class IngestStream(PartStream[PluginProgress]):
    """How far an ingest is, as it goes on. Leaving it before its end cancels the ingest."""

    _LAST = "report"

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self._report: Optional[IngestReport] = None

    def report(self) -> IngestReport:
        """Waits for the end, and gives what was done."""
        for _ in self:
            pass
        if self._report is None:
            raise protocol("the ingest was left before its end")
        return self._report

    def _take(self, tag: str, value: Any) -> Optional[PluginProgress]:
        return read(PluginProgress, value) if tag == "progress" else None

    def _end(self, figures: Any) -> None:
        self._report = read(IngestReport, figures)


class AskStream(PartStream[str]):
    """The pieces of an answer as they are written; `citations` is there from the first on. Leaving it before its end
    cancels the answer."""

    _LAST = "done"

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        #: The passages that the answer rests on.
        self.citations: List[Citation] = []
        self._text: List[str] = []
        self._took_ms: Optional[int] = None

    def answer(self) -> AskAnswer:
        """Waits for the rest and gives all of it."""
        for _ in self:
            pass
        if self._took_ms is None:
            raise protocol("the answer was left before its end")
        return AskAnswer("".join(self._text), self.citations, self._took_ms)

    def _take(self, tag: str, value: Any) -> Optional[str]:
        if tag == "citations":
            self.citations = [read(Citation, one) for one in value]
        if tag != "text":
            return None
        self._text.append(str(value))
        return str(value)

    def _end(self, figures: Any) -> None:
        self._took_ms = int(figures["took_ms"])


def _grants(capability: str, models: Iterable[str], paths: Iterable[Path]) -> Dict[str, Any]:
    # Each capability takes what is of its kind, so that one call serves for all of them.
    of_models = [] if capability in ("store", "documents") else list(models)
    # The host stands in another folder.
    absolute = [os.path.abspath(path) for path in paths] if capability == "documents" else []
    return {"grants": [asdict(Grant(capability, of_models, absolute))]}
