"""What a host says, for the tests of the client."""

from __future__ import annotations

from typing import Any, Dict

ARENA = {
    "device": "cpu:0",
    "in_use_bytes": 90_000_000,
    "reserved_bytes": 160_000_000,
    "peak_in_use_bytes": 150_000_000,
    "limit_bytes": None,
    "regions": 3,
    "shrinkages": 1,
}
SAMPLE = {
    "model": "minilm",
    "at_ms": 12,
    "resident_bytes": 200_000_000,
    "private_bytes": 180_000_000,
    "runs": 3,
    "arenas": [ARENA],
    "pools": [{"name": "kv", "bytes": 7, "droppable": True}],
}
SHRUNK = {
    "model": "minilm",
    "freed_bytes": 70_000_000,
    "reserved_before_bytes": 160_000_000,
    "reserved_after_bytes": 90_000_000,
    "resident_before_bytes": 200_000_000,
    "resident_after_bytes": 130_000_000,
    "private_before_bytes": 180_000_000,
    "private_after_bytes": 110_000_000,
    "took_us": 900,
    "trim_us": 40,
    "targets": ["cpu:0"],
    "dropped": [{"target": "gpu:0", "reason": "no arena here"}],
    "pools_dropped": [{"name": "prefix", "bytes": 5}],
}
OPTION = {
    "scope": "run",
    "key": "memory.enable_memory_arena_shrinkage",
    "requested": "cpu:0;gpu:0",
    "forwarded": "memory.enable_memory_arena_shrinkage=cpu:0",
    "effective": None,
    "note": "gpu:0 has no arena here",
}
INFO = {
    "alias": "minilm",
    "kind": "embeddings",
    "file": "model.onnx",
    "provider": "cpu",
    "arenas": ["cpu:0"],
    "weights_bytes": 90_000_000,
    "inputs": [{"name": "input_ids", "dtype": "int64", "shape": [-1, -1]}],
    "outputs": [],
    "embedding": {
        "dimensions": 2,
        "max_tokens": 256,
        "pooling": "mean",
        "normalized": True,
        "batch_tokens": 1024,
    },
    "chat": None,
    "audio": None,
    "options": [OPTION],
    "runtime_version": "1.31.1",
    "runtime_library": "libonnxruntime.so",
    "load_ms": 210,
}
ENTRY = {
    "alias": "minilm",
    "path": "models/minilm",
    "kind": "embeddings",
    "weights_bytes": 90_000_000,
    "state": "loaded",
    "reason": None,
    "info": INFO,
    "options": {"threads": 2},
}
EMBEDDED = {
    "texts": 3,
    "dimensions": 2,
    "tokens": 12,
    "padding_tokens": 1,
    "batches": 2,
    "truncated": [{"index": 1, "tokens": 300, "exact": True, "used": 256}],
    "cap_retries": 0,
}
GENERATED: Dict[str, Any] = {
    "prompt_tokens": 10,
    "cached_tokens": 4,
    "completion_tokens": 3,
    "finish_reason": "stop",
    "stop": None,
    "seed": 7,
    "first_token_us": 20_000,
    "took_us": 80_000,
    "tokens_per_second": 50,
    "kv_bytes": 4096,
    "peak_arena_bytes": 160_000_000,
    "cap_retries": 0,
}
HEARD = {
    "audio_ms": 10_000,
    "speech_ms": 8_000,
    "segments": 2,
    "tokens": 20,
    "language": "en",
    "first_segment_us": 100_000,
    "took_us": 210_000,
    "peak_arena_bytes": 60_000_000,
    "cap_retries": 0,
}


def segment(index: int, text: str, partial: bool = False) -> Dict[str, Any]:
    """A line with a stretch of speech."""
    start = index * 4_000
    fields = {"index": index, "start_ms": start, "end_ms": start + 4_000, "text": text, "partial": partial}
    return {"segment": fields}
