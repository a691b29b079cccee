"""Vectors of texts."""

from __future__ import annotations

import base64
import sys
from array import array
from typing import Any, Callable, List, Optional

from .connection import Lines
from .errors import protocol
from .record import read
from .records import EmbedFigures
from .stream import PartStream


class Embeddings(List[List[float]]):
    """One vector a text, in order."""

    #: What they took.
    figures: EmbedFigures


class VectorStream(PartStream["array[float]"]):
    """Vectors as they are made, some at a time and one after the other."""

    figures: EmbedFigures
    dimensions = 0

    def _take(self, tag: str, value: Any) -> "Optional[array[float]]":
        if tag != "vectors":
            return None
        count, self.dimensions = int(value["count"]), int(value["dimensions"])
        values = array("f", base64.b64decode(value["data"], validate=True))
        if len(values) != count * self.dimensions:
            raise protocol(f"{count} vectors of {self.dimensions} came as {len(values)} numbers")
        if sys.byteorder == "big":
            values.byteswap()
        return values

    def _end(self, figures: Any) -> None:
        self.figures = read(EmbedFigures, figures)


def as_lists(lines: Lines) -> Embeddings:
    """All vectors, as lists."""
    embeddings = Embeddings()
    stream = VectorStream(lines)
    for values in stream:
        size = stream.dimensions
        embeddings.extend(values[at : at + size].tolist() for at in range(0, len(values), size or 1))
    embeddings.figures = stream.figures
    return embeddings


def into_numpy() -> Callable[[Lines], Any]:
    """What makes all vectors the rows of a NumPy array of float32; an `ImportError` where there is no NumPy."""
    import numpy

    def rows(lines: Lines) -> Any:
        stream = VectorStream(lines)
        blocks: List[Any] = [numpy.frombuffer(values, dtype=numpy.float32) for values in stream]
        figures = stream.figures
        return numpy.concatenate(blocks).reshape(figures.texts, figures.dimensions)

    return rows
