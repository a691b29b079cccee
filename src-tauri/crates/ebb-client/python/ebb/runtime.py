"""What can be done to a loaded model: its memory, and the options of its runs."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .connection import Connection
from .record import read
from .records import Armed, OptionLine, RuntimeOptions, Sample, ShrinkReport, Stats
from .words import Targets, Value, targets, text


class Runtime:
    """A loaded model's memory and run options."""

    def __init__(self, way: Connection, alias: str) -> None:
        self._way = way
        self._alias = alias

    def __repr__(self) -> str:
        return f"<ebb.Runtime of {self._alias!r}>"

    def shrink_arena(self, named: Optional[Targets] = None) -> ShrinkReport:
        """Gives the arenas' free memory back now, also while a run goes on. `None`: every arena."""
        return read(ShrinkReport, self._post("shrink", _targets(named)))

    def shrink_after_next_run(self, named: Optional[Targets] = None) -> Armed:
        """Gives it back once, when the next run has ended and its answer is out."""
        return read(Armed, self._post("shrink-after-next-run", _targets(named)))

    def set_option(self, key: str, value: Value) -> List[OptionLine]:
        """Sets a run option for the requests that follow; an empty value removes it. Gives those that hold."""
        return _lines(self._post("runtime-options", {"key": key, "value": text(value)}))

    def options(self) -> List[OptionLine]:
        """Run options that hold."""
        return _lines(self._way.get("models", self._alias, "runtime-options"))

    def stats(self, history: int = 0) -> Stats:
        """What the model holds now, and its counters since load; with the last samples where asked for."""
        return read(Stats, self._way.get("models", self._alias, "stats", history=history or None))

    def history(self, samples: int) -> List[Sample]:
        """The last samples that the host took, oldest first."""
        return self.stats(samples).history

    def _post(self, route: str, body: Dict[str, Any]) -> Any:
        return self._way.post(["models", self._alias, route], body)


def _targets(named: Optional[Targets]) -> Dict[str, Any]:
    return {} if named is None else {"targets": targets(named)}


def _lines(answer: Any) -> List[OptionLine]:
    return read(RuntimeOptions, answer).options
