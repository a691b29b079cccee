"""Tensors with their data, and their form in JSON."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping

from .errors import protocol
from .record import read
from .records import TensorFigures

#: NumPy has no type of this name: its elements come and go as the 16 bits that they are.
_AS_NUMPY = {"bfloat16": "uint16"}


@dataclass(frozen=True)
class Tensor:
    """A tensor: `dtype` as NumPy names it, `data` little-endian and row-major."""

    name: str
    dtype: str
    shape: List[int]
    data: bytes

    @classmethod
    def from_numpy(cls, name: str, values: Any) -> "Tensor":
        """The tensor of a NumPy array."""
        import numpy

        array = numpy.asarray(values)
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return cls(name, array.dtype.name, list(array.shape), little.tobytes())

    def numpy(self) -> Any:
        """The values as a NumPy array."""
        import numpy

        dtype = numpy.dtype(_AS_NUMPY.get(self.dtype, self.dtype)).newbyteorder("<")
        return numpy.frombuffer(self.data, dtype=dtype).reshape(self.shape)


@dataclass(frozen=True)
class Outputs:
    """What a run on tensors gave."""

    tensors: List[Tensor]
    figures: TensorFigures

    def __getitem__(self, name: str) -> Tensor:
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(name)


def sent(tensor: Tensor) -> Dict[str, Any]:
    """A tensor as it is sent."""
    data = base64.b64encode(tensor.data).decode("ascii")
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": tensor.shape, "data": data}


def received(answer: Any) -> Outputs:
    """The tensors that came."""
    try:
        tensors = [_tensor(fields) for fields in answer["outputs"]]
        return Outputs(tensors, read(TensorFigures, answer["figures"]))
    except (KeyError, TypeError, ValueError) as error:
        raise protocol(f"a tensor: {error}") from error


def _tensor(fields: Mapping[str, Any]) -> Tensor:
    data = base64.b64decode(fields["data"], validate=True)
    return Tensor(str(fields["name"]), str(fields["dtype"]), [int(size) for size in fields["shape"]], data)
