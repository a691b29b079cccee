"""The machine: who holds how much of it; and the host's own log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .records import ShrinkReport


@dataclass(frozen=True)
class SystemMemory:
    """Memory of the machine, or of the container where that has less."""

    total_bytes: int
    available_bytes: int


@dataclass(frozen=True)
class HostProcess:
    """The host's own process."""

    pid: int
    resident_bytes: int
    private_bytes: Optional[int]
    version: str
    uptime_ms: int
    wasmtime_version: str = ""


@dataclass(frozen=True)
class Device:
    """Something that models can run on, or cannot, as `hint` says."""

    name: str
    provider: str
    kind: str
    memory_total_bytes: Optional[int]
    memory_free_bytes: Optional[int]
    available: bool
    hint: Optional[str]


@dataclass(frozen=True)
class RuntimeLibrary:
    """A library of ONNX Runtime."""

    version: Optional[str]
    path: str
    providers: List[str]
    used: bool


@dataclass(frozen=True)
class DeviceMemory:
    """What a model's arena holds on a device."""

    device: str
    reserved_bytes: int
    in_use_bytes: int
    limit_bytes: Optional[int]


@dataclass(frozen=True)
class ModelMemory:
    """What a model in memory holds. `pid` is its worker's process; `None` where that has ended."""

    alias: str
    state: str
    provider: str
    resident_bytes: int
    private_bytes: int
    reserved_bytes: int
    in_use_bytes: int
    arenas: List[DeviceMemory]
    pid: Optional[int] = None


@dataclass(frozen=True)
class FolderSize:
    """A folder of Ebb's."""

    name: str
    path: str
    bytes: int


@dataclass(frozen=True)
class System:
    """The machine and what Ebb holds of it."""

    memory: Optional[SystemMemory]
    host: HostProcess
    devices: List[Device]
    runtimes: List[RuntimeLibrary]
    models: List[ModelMemory]
    folders: List[FolderSize]


@dataclass(frozen=True)
class ShrinkFailure:
    """A model that could not be shrunk, and why."""

    model: str
    error: Dict[str, Any]


@dataclass(frozen=True)
class ShrinkAllReport:
    """What shrinking every loaded model did."""

    reports: List[ShrinkReport]
    failed: List[ShrinkFailure]
    freed_bytes: int


@dataclass(frozen=True)
class HostLogLine:
    """A line of the host's own log."""

    seq: int
    time_ms: int
    level: str
    target: str
    message: str
    model: Optional[str]
    fields: Dict[str, Any]


@dataclass(frozen=True)
class HostLog:
    lines: List[HostLogLine]
