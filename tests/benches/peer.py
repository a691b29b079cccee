"""What Ebb is compared with: plain onnxruntime in Python, as its users run it. A batch is padded whole, the session has
its defaults but for the number of threads.

    peer.py MODEL_FOLDER BATCHES_JSON THREADS

BATCHES_JSON holds lists of texts. Says what it holds after load, then answers each line `N` on stdin with the time that
batch N took and what the process holds then, one JSON object a line.
"""

import json
import os
import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    folder, batches_file, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(batches_file, encoding="utf-8") as file:
        batches = json.load(file)
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"]
    )

    def embed(texts):
        encodings = tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(["last_hidden_state"], inputs)[0]
        weights = mask[..., None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    embed(["warm up"])
    print(json.dumps({"resident_bytes": resident_bytes()}), flush=True)
    for line in sys.stdin:
        started = time.perf_counter_ns()
        embed(batches[int(line)])
        took_us = (time.perf_counter_ns() - started) // 1000
        print(json.dumps({"took_us": took_us, "resident_bytes": resident_bytes()}), flush=True)


main()
