"""Ebb's own Python client with the real host: memory controls, chat, speech, events, keys, errors.

    ebb_client.py PART [WAV]
"""

import json
import sys

import numpy

import ebb

client = ebb.connect()


def memory():
    model = client.model("minilm")
    loaded = model.load(arena_options={"arena_extend_strategy": "kSameAsRequested"}, shrink_every=0)
    lists = model.embed(["a short text"])
    rows = model.embed(["a short text", "another"], numpy=True)
    model.embed(["a long text " * 200] * 8)
    used = model.runtime.stats()
    shrunk = model.runtime.shrink_arena("cpu:0")
    with client.model("minilm").events() as events:
        armed = model.runtime.shrink_after_next_run()
        model.embed(["a long text " * 200] * 8)
        after_run = next(event for event in events if event.event == "shrink")
    held = model.set_runtime_option("memory.enable_memory_arena_shrinkage", "cpu:0;gpu:0")
    model.runtime.set_option("memory.enable_memory_arena_shrinkage", "")
    gone = model.unload()
    return {
        "provider": loaded.info.provider,
        "dimensions": [len(lists[0]), rows.shape[1], str(rows.dtype)],
        "same": float(numpy.abs(numpy.array(lists[0]) - rows[0]).max()),
        "slack": used.now.reserved_bytes - used.now.arenas[0].in_use_bytes,
        "freed": shrunk.freed_bytes,
        "targets": shrunk.targets,
        "armed": armed.run,
        "cause": after_run.fields["cause"],
        "after_run_freed": after_run.report.freed_bytes,
        "held": [[line.key, line.requested] for line in held],
        "options": len(model.info().options),
        "gone": gone.worker_gone,
    }


def chat():
    model = client.model("smollm2")
    model.load(shrink_every=0)
    said = [{"role": "user", "content": "Write one sentence about the sea."}]
    with model.events() as events:
        runs = (event for event in events if event.event == "run")
        whole = model.chat(said, max_tokens=24, temperature=0)
        stream = model.chat(said, stream=True, max_tokens=24, temperature=0)
        streamed = "".join(stream)
        for _ in model.chat("Count to a thousand.", stream=True, max_tokens=1000, temperature=0):
            break
        # A run is told of once its answer is out.
        outcomes = [next(runs).fields["outcome"] for _ in range(3)]
        model.runtime.shrink_after_next_run()
        model.chat(said, max_tokens=8)
        told = (event.event for event in events if event.event in ("run", "shrink"))
        order = [next(told), next(told)]
    tokens = model.complete("Once upon a time", max_tokens=6, temperature=0, logprobs=2)
    pattern = model.chat("A date.", response_format={"regex": "[0-9]{4}-[0-9]{2}-[0-9]{2}"}, max_tokens=32)
    return {
        "text": whole.text,
        "figures": [whole.figures.prompt_tokens, whole.figures.completion_tokens, whole.figures.kv_bytes],
        "streamed": streamed,
        "answer": stream.answer().text,
        "outcomes": outcomes,
        "order": order,
        "logprobs": [[one.token_id, one.logprob, len(one.top)] for one in tokens.logprobs],
        "completion_tokens": tokens.figures.completion_tokens,
        "regex": pattern.text,
    }


def speech(path):
    model = client.model("moonshine")
    whole = model.transcribe(path)
    with open(path, "rb") as file:
        segments = list(model.transcribe(file.read(), stream=True))
    shrunk = model.runtime.shrink_arena()
    return {
        "text": whole.text,
        "segments": [[one.index, one.start_ms, one.end_ms] for one in segments],
        "audio_ms": whole.figures.audio_ms,
        "freed": shrunk.freed_bytes,
        "arenas": len(model.runtime.stats().now.arenas),
    }


def doors():
    key = client.add_key("peer", ["infer"])
    app = ebb.connect(client.url, key.key)
    vectors = len(app.model("minilm").embed(["x"]))
    refused = []
    for act in (
        lambda: ebb.connect(client.url, "wrong").status(),
        lambda: app.model("minilm").load(threads=1),
        lambda: client.model("not-there").load(),
        lambda: client.model("minilm").load(sesion_options={}),
        lambda: client.model("minilm").embed([]),
    ):
        try:
            act()
            refused.append(None)
        except ebb.EbbError as error:
            refused.append([type(error).__name__, error.code])
    names = [one.name for one in client.keys()]
    client.remove_key("peer")
    return {
        "vectors": vectors,
        "refused": refused,
        "keys": names,
        "keys_left": [one.name for one in client.keys()],
        "models": sorted(one.alias for one in client.models()),
        "running": client.status().running,
        "checks": [check.name for check in client.doctor()],
        "options": [entry.key for entry in client.options("arena extend")],
        "profiles": [profile.name for profile in client.profiles()],
        "fits": client.model("minilm").estimate().fits,
    }


PARTS = {part.__name__: part for part in (memory, chat, speech, doors)}
print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
