#!/usr/bin/env python3
"""Vectors of reference_texts.json by a forward pass in plain NumPy, for tests to compare with.

    python reference_vectors.py MODEL_FOLDER

MODEL_FOLDER holds all-MiniLM-L6-v2 as safetensors (any BERT with absolute positions and gelu works). Needs numpy and
tokenizers. Reads the weights by itself, computes in double precision, one text at a time so that no padding is
involved, cuts at the folder's max_seq_length, takes the mean over the tokens and scales to length 1. Writes
reference_vectors.npy beside this file.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

HERE = Path(__file__).parent
KINDS = {"F32": np.float32, "F16": np.float16}


def read_safetensors(path):
    """Name to array, in double precision."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        if info["dtype"] in KINDS:
            start, end = info["data_offsets"]
            values = np.frombuffer(raw[8 + length + start : 8 + length + end], KINDS[info["dtype"]])
            tensors[name] = values.astype(np.float64).reshape(info["shape"])
    return tensors


def layer_norm(x, weights, name, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def dense(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


erf = np.vectorize(math.erf)


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))


def attention(x, weights, layer, heads):
    tokens, width = x.shape

    def split(role):
        projected = dense(x, weights, f"{layer}.attention.self.{role}")
        return projected.reshape(tokens, heads, width // heads).transpose(1, 0, 2)

    query, key, value = split("query"), split("key"), split("value")
    shares = softmax(query @ key.transpose(0, 2, 1) / math.sqrt(width // heads))
    return (shares @ value).transpose(1, 0, 2).reshape(tokens, width)


def encode(ids, weights, config):
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]
    x = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.token_type_embeddings.weight"][0]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
    )
    x = layer_norm(x, weights, "embeddings.LayerNorm", epsilon)
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        attended = dense(attention(x, weights, layer, heads), weights, f"{layer}.attention.output.dense")
        x = layer_norm(x + attended, weights, f"{layer}.attention.output.LayerNorm", epsilon)
        inner = gelu(dense(x, weights, f"{layer}.intermediate.dense"))
        x = layer_norm(x + dense(inner, weights, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm", epsilon)
    return x


def main(folder):
    config = json.loads((folder / "config.json").read_text())
    limit = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    weights = read_safetensors(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # The file asks for padding to 128 tokens and cutting there, which the model's own settings override.
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    vectors = []
    for text in json.loads((HERE / "reference_texts.json").read_text(encoding="utf-8")):
        mean = encode(tokenizer.encode(text).ids, weights, config).mean(0)
        vectors.append(mean / np.linalg.norm(mean))
    np.save(HERE / "reference_vectors.npy", np.array(vectors, np.float32))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
