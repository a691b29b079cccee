"""What the host answers: the same records and words as on every other door. Bytes, milliseconds and microseconds carry their
unit in the name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class ArenaSample:
    """One arena as the runtime's allocator reports it."""

    device: str
    in_use_bytes: int
    reserved_bytes: int
    peak_in_use_bytes: int
    limit_bytes: Optional[int]
    regions: int
    shrinkages: int


@dataclass(frozen=True)
class Pool:
    """A cache that is not the arena's slack: KV, prefixes, weights, mapped files."""

    name: str
    bytes: int
    droppable: bool


@dataclass(frozen=True)
class Sample:
    """What a loaded model holds at one moment, `at_ms` after it was loaded."""

    model: str
    at_ms: int
    resident_bytes: int
    private_bytes: int
    runs: int
    arenas: List[ArenaSample]
    pools: List[Pool]

    @property
    def reserved_bytes(self) -> int:
        """Reserved bytes of all arenas together."""
        return sum(arena.reserved_bytes for arena in self.arenas)


@dataclass(frozen=True)
class DroppedTarget:
    """A shrink target that had no effect, and why."""

    target: str
    reason: str


@dataclass(frozen=True)
class DroppedPool:
    """A cache that a shrink dropped besides the arena's slack."""

    name: str
    bytes: int


@dataclass(frozen=True)
class ShrinkReport:
    """What a shrink did, measured before and after."""

    model: str
    freed_bytes: int
    reserved_before_bytes: int
    reserved_after_bytes: int
    resident_before_bytes: int
    resident_after_bytes: int
    private_before_bytes: int
    private_after_bytes: int
    took_us: int
    trim_us: int
    targets: List[str]
    dropped: List[DroppedTarget]
    pools_dropped: List[DroppedPool]


@dataclass(frozen=True)
class Armed:
    """The run at whose end the model will shrink, counted since load from 1."""

    model: str
    run: int


@dataclass(frozen=True)
class OptionLine:
    """What became of one option: as requested, as forwarded to ONNX Runtime, and what the session shows."""

    scope: str
    key: str
    requested: str
    forwarded: Optional[str]
    effective: Optional[str]
    note: Optional[str]


@dataclass(frozen=True)
class CatalogueEntry:
    """What is known of one option."""

    scope: str
    key: str
    type: str
    description: str
    default: Optional[str] = None
    allowed: List[str] = field(default_factory=list)
    memory: bool = False
    no_op: bool = False
    since: Optional[str] = None
    note: Optional[str] = None


@dataclass(frozen=True)
class Stats:
    """A model's figures: now, right after load, and counters since then."""

    now: Sample
    after_load: Sample
    history: List[Sample]
    queued: int
    cap_retries: int
    shrinks: int
    freed_bytes: int
    unloads_in_ms: Optional[int] = None
    shrink_after_run: Optional[int] = None


@dataclass(frozen=True)
class Estimate:
    """What a model will need. An estimate never blocks a load."""

    model: str
    weights_bytes: int
    working_bytes: int
    total_bytes: int
    available_bytes: int
    machine_bytes: int
    fits: bool
    basis: str


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model file; -1 in its shape where a dimension is free."""

    name: str
    dtype: Optional[str]
    shape: List[int]


@dataclass(frozen=True)
class EmbeddingInfo:
    """What is particular to an embedding model."""

    dimensions: int
    max_tokens: int
    pooling: str
    normalized: bool
    batch_tokens: int


@dataclass(frozen=True)
class ChatInfo:
    """What is particular to a chat model."""

    context_tokens: int
    kv_bytes_per_token: int
    kv_shared: bool
    prefill_tokens: int
    prefix_cache_bytes: int
    template: bool
    tools: bool


@dataclass(frozen=True)
class AudioInfo:
    """What is particular to a speech model."""

    family: str
    sample_rate_hz: int
    languages: List[str]
    voice_detector: bool


@dataclass(frozen=True)
class ModelInfo:
    """What was loaded."""

    alias: str
    kind: str
    file: str
    provider: str
    arenas: List[str]
    weights_bytes: int
    inputs: List[TensorInfo]
    outputs: List[TensorInfo]
    options: List[OptionLine]
    runtime_version: str
    runtime_library: str
    load_ms: int
    embedding: Optional[EmbeddingInfo] = None
    chat: Optional[ChatInfo] = None
    audio: Optional[AudioInfo] = None


@dataclass(frozen=True)
class ModelEntry:
    """A model of the catalogue. `state`: unloaded, loading, loaded, restarting or failed."""

    alias: str
    path: str
    kind: str
    weights_bytes: int
    state: str
    reason: Optional[str]
    info: Optional[ModelInfo]
    options: Dict[str, Any]


@dataclass(frozen=True)
class LoadReport:
    """What loading did."""

    info: ModelInfo
    sample: Sample
    already_loaded: bool
    warnings: List[str]


@dataclass(frozen=True)
class UnloadReport:
    """What unloading did: everything that the worker held came back."""

    model: str
    freed_bytes: int
    worker_gone: bool
    took_ms: int
    warnings: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Truncation:
    """A text that was cut to the model's limit."""

    index: int
    tokens: int
    exact: bool
    used: int


@dataclass(frozen=True)
class EmbedFigures:
    """What an embed request took."""

    texts: int
    dimensions: int
    tokens: int
    padding_tokens: int
    batches: int
    truncated: List[Truncation]
    cap_retries: int


@dataclass(frozen=True)
class TensorFigures:
    """What a run on tensors took."""

    outputs: int
    cap_retries: int


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for; its arguments are the text of a JSON object, as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class TopLogprob:
    """A token that was likely."""

    token_id: int
    token: str
    bytes: List[int]
    logprob: float


@dataclass(frozen=True)
class TokenLogprob:
    """How likely a token was, by the model itself, and the likeliest in its place."""

    token_id: int
    token: str
    bytes: List[int]
    logprob: float
    top: List[TopLogprob]


@dataclass(frozen=True)
class GenerateFigures:
    """What a generation took. `finish_reason`: stop, length or tool_calls."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    finish_reason: str
    stop: Optional[str]
    seed: int
    first_token_us: int
    took_us: int
    tokens_per_second: float
    kv_bytes: int
    peak_arena_bytes: int
    cap_retries: int


@dataclass(frozen=True)
class Segment:
    """A stretch of speech. A partial one may still change; what replaces it has the same index."""

    index: int
    start_ms: int
    end_ms: int
    text: str
    partial: bool


@dataclass(frozen=True)
class TranscribeFigures:
    """What a transcription took."""

    audio_ms: int
    speech_ms: int
    segments: int
    tokens: int
    language: Optional[str]
    first_segment_us: int
    took_us: int
    peak_arena_bytes: int
    cap_retries: int


@dataclass(frozen=True)
class Profile:
    """A named set of load options, with the reason for each value."""

    name: str
    description: str
    options: Dict[str, Any]
    built_in: bool = False
    reasons: Dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KeyEntry:
    """A key without its secret."""

    name: str
    scopes: List[str]
    created_at_ms: int


@dataclass(frozen=True)
class AddedKey:
    """A key that was made. The host keeps only its hash: it is never shown again."""

    name: str
    key: str
    scopes: List[str]


@dataclass(frozen=True)
class HostStatus:
    """The running host."""

    running: bool
    url: Optional[str]
    pid: Optional[int]
    version: str
    uptime_ms: int
    resident_bytes: int
    models: List[str]


@dataclass(frozen=True)
class Check:
    """One thing that `doctor` looked at. `state`: ok, warning or missing."""

    name: str
    state: str
    found: str
    hint: Optional[str]


# Answers that are lists. The client gives what is in them.


@dataclass(frozen=True)
class ModelList:
    models: List[ModelEntry]


@dataclass(frozen=True)
class RuntimeOptions:
    options: List[OptionLine]


@dataclass(frozen=True)
class OptionList:
    options: List[CatalogueEntry]


@dataclass(frozen=True)
class ProfileList:
    profiles: List[Profile]


@dataclass(frozen=True)
class KeyList:
    keys: List[KeyEntry]


@dataclass(frozen=True)
class Doctor:
    checks: List[Check]


@dataclass(frozen=True)
class CapabilityRequest:
    """A capability that a plugin asks for, and the author's reason."""

    capability: str
    reason: str


@dataclass(frozen=True)
class PluginManifest:
    """What a plugin says of itself."""

    id: str
    name: str
    version: str
    description: str
    author: str
    licence: str
    world: str
    contract: str
    capabilities: List[CapabilityRequest] = field(default_factory=list)
    homepage: Optional[str] = None
    settings: Any = None


@dataclass(frozen=True)
class Grant:
    """Something granted to a plugin: on models by alias (`*`: every model), on paths for documents."""

    capability: str
    models: List[str] = field(default_factory=list)
    paths: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class CapabilityState:
    """A capability: what was asked, granted and really used."""

    capability: str
    asked: Optional[str]
    meaning: str
    granted: Optional[Grant]
    calls: int
    refused: int
    last_used_at_ms: Optional[int]


@dataclass(frozen=True)
class Attachment:
    """A policy on a model; the first by position that decides something other than keep wins."""

    plugin: str
    model: str
    position: int
    active: bool
    detached_because: Optional[str]
    calls: int
    decisions: int
    failures: int
    call_us: Optional[int]


@dataclass(frozen=True)
class PluginEntry:
    """A plugin: what it says of itself, what it may do, where it is attached."""

    manifest: PluginManifest
    origin: str
    path: str
    size_bytes: int
    sha256: str
    capabilities: List[CapabilityState]
    attachments: List[Attachment]
    settings: Dict[str, Any]
    limits: Dict[str, Any]
    store_bytes: int
    memory_bytes: int
    cpu_us: int
    broken: Optional[str]
    compiling_percent: Optional[int] = None


@dataclass(frozen=True)
class PluginList:
    plugins: List[PluginEntry]


@dataclass(frozen=True)
class PluginLogLine:
    """A line of a plugin's log: the plugin's own, or the host's about it."""

    seq: int
    time_ms: int
    level: str
    request: int
    model: Optional[str]
    from_host: bool
    message: str


@dataclass(frozen=True)
class PluginLog:
    lines: List[PluginLogLine]


@dataclass(frozen=True)
class PluginProgress:
    """How far a plugin's call is, 0 to 1, and what is being done."""

    fraction: float
    message: str


@dataclass(frozen=True)
class Skipped:
    """A document that could not be read, and why."""

    document: str
    reason: str


@dataclass(frozen=True)
class IngestReport:
    """What an ingest did."""

    documents: int
    chunks: int
    unchanged: int
    removed: int
    skipped: List[Skipped]
    more: Dict[str, int]
    took_ms: int


@dataclass(frozen=True)
class Citation:
    """A passage that an answer rests on; `start` and `end` are bytes within the document's text."""

    number: int
    document: str
    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class AskAnswer:
    """A grounded answer."""

    answer: str
    citations: List[Citation]
    took_ms: int


@dataclass(frozen=True)
class CollectionState:
    """A collection of a plugin's store."""

    name: str
    dimensions: int
    documents: int
    chunks: int


@dataclass(frozen=True)
class PluginIndex:
    """What a pipeline's index holds."""

    plugin: str
    collections: List[CollectionState]
    store_bytes: int
    index_memory_bytes: int
    paths: List[str]


@dataclass(frozen=True)
class TokenCounts:
    model: str
    tokens: List[int]
