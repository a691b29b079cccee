"""What load options would come to, and what a policy would have made of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .record import read
from .records import Estimate, OptionLine


@dataclass(frozen=True)
class OptionProblem:
    """Something that a person should know about load options. `severity`: error, warning or note; `field` as it was given:
    `arena_options.max_mem`."""

    severity: str
    field: Optional[str]
    message: str
    hint: Optional[str]
    nearest: Optional[str]


@dataclass(frozen=True)
class OptionsCheck:
    """What load options would come to. Nothing is loaded for it."""

    model: str
    lines: List[OptionLine]
    problems: List[OptionProblem]
    estimate: Optional[Estimate]
    needs_reload: bool
    changed: List[str]
    cli: Optional[str]
    python: str

    @property
    def errors(self) -> List[OptionProblem]:
        """What keeps the model from loading like this."""
        return [problem for problem in self.problems if problem.severity == "error"]


@dataclass(frozen=True)
class ReplayFigures:
    """What a model held over a replay."""

    duration_ms: int
    after_load_bytes: int
    peak_bytes: int
    mean_bytes: int
    end_bytes: int
    freed_bytes: int
    shrinks: int
    unloads: int
    reloads: int
    shrink_ms: int
    reload_ms: int
    over_twice_in_use: float
    idle_slack_ms: int
    relief_ms: int
    short_ms: int


@dataclass(frozen=True)
class ReplayDecision:
    """A decision other than keep, with the figures that it was made on."""

    at_ms: int
    hook: str
    decision: str
    in_use_bytes: int
    reserved_bytes: int
    reserved_after_bytes: int


@dataclass(frozen=True)
class ReplayPoint:
    """What a model would have held at a moment."""

    at_ms: int
    with_bytes: int
    without_bytes: int


@dataclass(frozen=True)
class ReplayReport:
    """What a policy would have made of a recording."""

    plugin: str
    #: `with` in JSON, which is a word of Python's own.
    with_policy: ReplayFigures
    without_policy: ReplayFigures
    runs: int
    asked: int
    decided: int
    failed: int
    decisions: List[ReplayDecision]
    call_us: Optional[int]
    given_up: Optional[str]
    promise: Optional[Dict[str, Any]]
    points: List[ReplayPoint]


def replayed(answer: Dict[str, Any]) -> ReplayReport:
    """The report that a host answered."""
    figures = {"with_policy": answer.get("with"), "without_policy": answer.get("without")}
    return read(ReplayReport, {**answer, **figures})
