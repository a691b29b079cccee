"""What was said, as it is heard and all together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, BinaryIO, List, Optional, Tuple, Union

from .connection import Body, Lines
from .errors import protocol
from .record import read
from .records import Segment, TranscribeFigures
from .stream import PartStream

#: Largest audio file that a host takes.
MAX_AUDIO_BYTES = 512 << 20

#: A file's path, its bytes, or a file that was opened.
Audio = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]


@dataclass(frozen=True)
class Transcript:
    """What was said: all of it, and stretch by stretch."""

    text: str
    segments: List[Segment]
    figures: TranscribeFigures


class TranscribeStream(PartStream[Segment]):
    """Stretches of speech as they are heard. Leaving it before its end cancels the transcription."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self._segments: List[Segment] = []
        self._figures: Optional[TranscribeFigures] = None

    def answer(self) -> Transcript:
        """Waits for the rest and gives all of it; also once every segment was read."""
        for _ in self:
            pass
        if self._figures is None:
            raise protocol("the answer was left before its end")
        text = " ".join(segment.text.strip() for segment in self._segments)
        return Transcript(text, self._segments, self._figures)

    def _take(self, tag: str, value: Any) -> Optional[Segment]:
        if tag != "segment":
            return None
        segment = read(Segment, value)
        if not segment.partial:
            self._segments.append(segment)
        return segment

    def _end(self, figures: Any) -> None:
        self._figures = read(TranscribeFigures, figures)


def opened(audio: Audio) -> Tuple[Body, Optional[str]]:
    """What to send, and what the file's name ends with. A path is opened: it is the caller's to close."""
    if isinstance(audio, (str, os.PathLike)):
        ending = os.path.splitext(os.fspath(audio))[1].lstrip(".").lower()
        return open(audio, "rb"), ending or None
    if isinstance(audio, (bytes, bytearray, memoryview)):
        return bytes(audio), None
    return audio.read(), None
