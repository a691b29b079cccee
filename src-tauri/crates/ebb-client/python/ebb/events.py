"""What happens to models, as it happens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Type

from .connection import Lines
from .errors import EbbError, protocol
from .record import read
from .records import Sample, ShrinkReport


@dataclass(frozen=True)
class Event:
    """Something that happened to a model. `event` names it (`loaded`, `run`, `shrink`, `grown`, ...), `fields` holds what
    belongs to it. A gap in `seq` means that events were missed."""

    seq: int
    time_ms: int
    model: str
    event: str
    fields: Dict[str, Any]

    @property
    def report(self) -> Optional[ShrinkReport]:
        """What a shrink did."""
        report = self.fields.get("report")
        return None if report is None else read(ShrinkReport, report)

    @property
    def sample(self) -> Optional[Sample]:
        """What the model holds after load."""
        sample = self.fields.get("sample")
        return None if sample is None else read(Sample, sample)


class EventStream:
    """Events as they happen, until the host ends."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        data: List[bytes] = []
        for line in self._lines:
            # The event's name and number stand in its data too, and comments keep the connection open.
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                event = _event(b"\n".join(data))
                data = []
                if event is not None:
                    return event
        raise StopIteration

    def close(self) -> None:
        """Wants no more of them."""
        self._lines.close()

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _event(data: bytes) -> Optional[Event]:
    """An event; `None` for the note that a slow reader missed some, which the gap in `seq` tells too."""
    try:
        fields = json.loads(data)
        if "missed" in fields and "seq" not in fields:
            return None
        seq, time_ms = int(fields.pop("seq")), int(fields.pop("time_ms"))
        return Event(seq, time_ms, str(fields.pop("model")), str(fields.pop("event")), fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        broken: EbbError = protocol(f"an event: {error}")
        raise broken from error
