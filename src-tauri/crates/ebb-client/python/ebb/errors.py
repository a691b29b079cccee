"""How a call can fail: one class for each family of codes, all of them with the code itself."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type


class EbbError(Exception):
    """What went wrong, in the one error form of every door of Ebb."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: Optional[str] = None,
        param: Optional[str] = None,
        details: Optional[Mapping[str, int]] = None,
    ) -> None:
        super().__init__(message)
        #: For programs: `arena_limit`, `not_loaded`, ...
        self.code = code
        #: For people: what happened.
        self.message = message
        #: For people: what to do next.
        self.hint = hint
        #: The field, option or file at fault.
        self.param = param
        #: Figures that belong to the code, with their unit in the name (`limit_bytes`).
        self.details: Dict[str, int] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class NotRunningError(EbbError):
    """No host is running for this user, or none answers at the address."""


class TransportError(EbbError):
    """The connection to the host broke."""


class ProtocolError(EbbError):
    """What answers does not speak as an Ebb host of this version does."""


class RequestError(EbbError):
    """The request cannot be met as it stands: malformed, in conflict, too large, not offered."""


class AccessError(EbbError):
    """The token or key is missing, wrong, or not allowed to do this."""


class NotFoundError(EbbError):
    """No such model, profile, key or route, or the model is not loaded."""


class ModelError(EbbError):
    """The model's files, the ONNX Runtime library or the execution provider cannot be used."""


class MemoryLimitError(EbbError):
    """A cap or the machine's memory does not allow it."""


class BusyError(EbbError):
    """The model's queue is full: try again."""


class TimedOutError(EbbError):
    """It took longer than the caller allowed."""


class CancelledError(EbbError):
    """It was cancelled: the model was unloaded, or the host ends."""


class HostError(EbbError):
    """Ebb or ONNX Runtime failed: a worker crashed, the file system refused, or something that no other class names."""


_FAMILIES: Dict[str, Type[EbbError]] = {
    "invalid_request": RequestError,
    "invalid_value": RequestError,
    "invalid_target": RequestError,
    "conflict": RequestError,
    "already_exists": RequestError,
    "too_large": RequestError,
    "unsupported": RequestError,
    "unauthorized": AccessError,
    "forbidden": AccessError,
    "not_found": NotFoundError,
    "not_loaded": NotFoundError,
    "invalid_model": ModelError,
    "invalid_tokenizer": ModelError,
    "runtime_library": ModelError,
    "provider_unavailable": ModelError,
    "cap_below_weights": MemoryLimitError,
    "arena_limit": MemoryLimitError,
    "out_of_memory": MemoryLimitError,
    "busy": BusyError,
    "timeout": TimedOutError,
    "cancelled": CancelledError,
    "worker_crashed": HostError,
    "storage": HostError,
    "internal": HostError,
}


def from_fields(fields: Mapping[str, Any]) -> EbbError:
    """The error that the host told. A code of a later version is a `HostError` and keeps its name."""
    code = str(fields.get("code"))
    hint, param = fields.get("hint"), fields.get("param")
    return _FAMILIES.get(code, HostError)(
        str(fields.get("message")),
        code=code,
        hint=None if hint is None else str(hint),
        param=None if param is None else str(param),
        details=fields.get("details"),
    )


def protocol(why: str) -> ProtocolError:
    """What answered is not what was to be expected."""
    return ProtocolError(
        f"what answers at the host's address does not speak as Ebb does: {why}",
        code="internal",
        hint="the host may be of another version: 'ebb server restart' starts this one",
    )
