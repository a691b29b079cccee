"""Recordings of what a model held while it was really used. No texts are in them."""

from __future__ import annotations

from types import TracebackType
from typing import Any, BinaryIO, Dict, Iterator, Optional, Type

from .connection import Lines, as_object


class Recording:
    """The lines of a recording as they come, each as what its JSON says: the first is a `trace`, the others are `run`,
    `sample`, `shrink` and `pressure`, with their time in `at_ms`. It ends when the model is unloaded."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return self

    def __next__(self) -> Dict[str, Any]:
        for line in self._lines:
            if line:
                return as_object(line)
        raise StopIteration

    def write(self, file: BinaryIO) -> None:
        """Writes what comes into a file, line by line, to the end."""
        for line in self._lines:
            file.write(line + b"\n")

    def close(self) -> None:
        """Wants no more of it."""
        self._lines.close()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
