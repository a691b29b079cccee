"""JSON, read as the dataclasses of `records`. Fields that this version does not know are left out; a field that is missing
without a default, or of another type, is an error that names it."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Dict, List, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import protocol

T = TypeVar("T")


def read(kind: Type[T], value: object) -> T:
    """`value` as a `kind`, which is a dataclass."""
    record: T = _read(kind, value, kind.__name__)
    return record


@functools.lru_cache(maxsize=None)
def _hints(kind: type) -> Dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, value: Any, name: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin is Union:
        # Only `Optional` is used.
        return None if value is None else _read(get_args(kind)[0], value, name)
    if origin is list and isinstance(value, list):
        (item,) = get_args(kind)
        return [_read(item, one, name) for one in value]
    if origin is dict and isinstance(value, dict):
        _, item = get_args(kind)
        return {key: _read(item, one, f"{name}.{key}") for key, one in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _fields(kind, value, name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (bool, int, float, str) and type(value) is kind:
        return value
    raise protocol(f"{name} is {type(value).__name__} there")


def _fields(kind: Any, value: Dict[str, Any], name: str) -> Any:
    hints = _hints(kind)
    given = {}
    missing: List[str] = []
    for field in dataclasses.fields(kind):
        if field.name in value:
            given[field.name] = _read(hints[field.name], value[field.name], f"{name}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            missing.append(field.name)
    if missing:
        raise protocol(f"{name} has no {', '.join(missing)}")
    return kind(**given)
