"""Answers that come in parts."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Iterator, Mapping, Optional, Type, TypeVar

from .connection import Lines
from .errors import EbbError, from_fields, protocol

Part = TypeVar("Part")


class PartStream(Generic[Part]):
    """The parts of an answer as they come in. Leaving it before its end, by `break`, `with` or `close()`, closes the
    connection, and the host cancels the request."""

    #: The line that is the last.
    _LAST = "figures"

    def __init__(self, lines: Lines) -> None:
        self._lines: Optional[Lines] = lines

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        while True:
            lines = self._lines
            if lines is None:
                raise StopIteration
            try:
                record = lines.record()
            except EbbError:
                if self._lines is None:
                    # Another thread closed it.
                    raise StopIteration from None
                self.close()
                raise
            part = self._part(lines, record)
            if part is not None:
                return part

    def close(self) -> None:
        """Wants no more of it."""
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.close()

    def __enter__(self: "Self") -> "Self":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _part(self, lines: Lines, record: Mapping[str, Any]) -> Optional[Part]:
        """What a line of the answer is to the caller, if anything."""
        try:
            ((tag, value),) = record.items()
            if tag == "error":
                raise from_fields(value)
            if tag == self._LAST:
                self._lines = None
                self._end(value)
                lines.finish()
                return None
            return self._take(tag, value)
        except BaseException as error:
            self._lines = None
            lines.close()
            if isinstance(error, (AttributeError, KeyError, TypeError, ValueError)):
                raise protocol(f"a line of a streamed answer: {error!r}") from error
            raise

    def _take(self, tag: str, value: Any) -> Optional[Part]:
        raise NotImplementedError

    def _end(self, figures: Any) -> None:
        raise NotImplementedError


Self = TypeVar("Self", bound=PartStream[Any])
