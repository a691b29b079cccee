"""Python client of a running Ebb host: local ONNX Runtime models that give memory back.

It finds the host of this user by its endpoint file and talks HTTP to it on loopback. It starts no host, tries nothing
twice and caches nothing: every call is one request, and every answer is what the host said.

    import ebb

    model = ebb.connect().model("minilm")
    model.load(session_options={"enable_cpu_mem_arena": "0"})
    vectors = model.embed(["where did my memory go?", "give it back"])
    report = model.runtime.shrink_arena()
    print(report.freed_bytes, "bytes came back")
"""

from .chat import Answer, ChatStream, Piece
from .check import OptionsCheck, ReplayReport
from .client import Client, connect
from .embed import Embeddings
from .errors import (
    AccessError,
    BusyError,
    CancelledError,
    EbbError,
    HostError,
    MemoryLimitError,
    ModelError,
    NotFoundError,
    NotRunningError,
    ProtocolError,
    RequestError,
    TimedOutError,
    TransportError,
)
from .events import Event, EventStream
from .fetch import PullStream
from .machine import ShrinkAllReport, System
from .model import Model
from .plugin import AskStream, IngestStream, Plugin
from .recording import Recording
from .records import AskAnswer
from .runtime import Runtime
from .tensor import Tensor
from .transcribe import Transcript, TranscribeStream
from .words import LoadOptions, Message, RequestOptions, Tool

__all__ = [
    "AccessError",
    "Answer",
    "AskAnswer",
    "AskStream",
    "BusyError",
    "CancelledError",
    "ChatStream",
    "Client",
    "EbbError",
    "Embeddings",
    "Event",
    "EventStream",
    "HostError",
    "IngestStream",
    "LoadOptions",
    "MemoryLimitError",
    "Message",
    "Model",
    "ModelError",
    "NotFoundError",
    "NotRunningError",
    "OptionsCheck",
    "Piece",
    "Plugin",
    "ProtocolError",
    "PullStream",
    "Recording",
    "ReplayReport",
    "RequestError",
    "RequestOptions",
    "Runtime",
    "ShrinkAllReport",
    "System",
    "Tensor",
    "TimedOutError",
    "Tool",
    "Transcript",
    "TranscribeStream",
    "TransportError",
    "connect",
]
