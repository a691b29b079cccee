"""LiteLLM with Ebb as an OpenAI-compatible provider."""

import json
import os

# Its table of prices is fetched from the net otherwise.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

ADDRESS = {"api_base": os.environ["EBB_URL"] + "/v1", "api_key": os.environ["EBB_KEY"], "num_retries": 0}
ASK = [{"role": "user", "content": "Write one sentence about the sea."}]
HOW = {"model": "openai/smollm2", "messages": ASK, "max_tokens": 24, "temperature": 0, **ADDRESS}

whole = litellm.completion(**HOW)
pieces = [chunk.choices[0].delta.content or "" for chunk in litellm.completion(stream=True, **HOW)]
vectors = litellm.embedding(model="openai/minilm", input=["one", "two"], encoding_format="float", **ADDRESS)
try:
    litellm.completion(**{**HOW, "model": "openai/not-there"})
    refused = None
except litellm.exceptions.NotFoundError as error:
    refused = type(error).__name__

print(
    json.dumps(
        {
            "text": whole.choices[0].message.content,
            "tokens": whole.usage.completion_tokens,
            "streamed": "".join(pieces),
            "vectors": [len(one["embedding"]) for one in vectors.data],
            "refused": refused,
        }
    )
)
