"""Models from elsewhere: downloaded and imported by the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional

from .connection import Lines
from .errors import protocol
from .record import read
from .records import ModelEntry
from .stream import PartStream


@dataclass(frozen=True)
class PullProgress:
    """How far a pull or an import is. `stage`: listing, checking, downloading, waiting, importing, verifying, adding."""

    stage: str
    file: Optional[str]
    done_bytes: int
    total_bytes: int
    reason: Optional[str]


class PullStream(PartStream[PullProgress]):
    """How far a pull or an import is, as it goes on. Leaving it before its end ends the work; what was downloaded stays."""

    _LAST = "report"

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self._entry: Optional[ModelEntry] = None

    def entry(self) -> ModelEntry:
        """Waits for the end, and gives the model."""
        for _ in self:
            pass
        if self._entry is None:
            raise protocol("it was left before its end")
        return self._entry

    def _take(self, tag: str, value: Any) -> Optional[PullProgress]:
        return read(PullProgress, value) if tag == "progress" else None

    def _end(self, figures: Any) -> None:
        self._entry = read(ModelEntry, figures)


@dataclass(frozen=True)
class DemoModel:
    """A small model to begin with: `path` where it lies on this machine, `pull` what to pull where it does not."""

    alias: str
    name: str
    kind: str
    description: str
    bytes: int
    licence: str
    added: Optional[str]
    path: Optional[str]
    pull: Optional[str]


@dataclass(frozen=True)
class DemoModelList:
    models: List[DemoModel]
