"""The `openai` client, pointed at Ebb as its users would: chat, tools, formats, embeddings, speech, responses, errors."""

import io
import json
import os
import sys

import openai

URL, KEY = os.environ["EBB_URL"] + "/v1", os.environ["EBB_KEY"]
client = openai.OpenAI(base_url=URL, api_key=KEY, max_retries=0, timeout=120)
ASK = [{"role": "user", "content": "Write one sentence about the sea."}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


def chat():
    whole = client.chat.completions.create(model="smollm2", messages=ASK, max_tokens=24, temperature=0)
    pieces, usage, finish = [], None, None
    stream = client.chat.completions.create(
        model="smollm2",
        messages=ASK,
        max_tokens=24,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            pieces.append(choice.delta.content or "")
            finish = choice.finish_reason or finish
    seeded = [
        client.chat.completions.create(model="smollm2", messages=ASK, max_tokens=12, temperature=1.0, seed=seed)
        .choices[0]
        .message.content
        for seed in (7, 7, 8)
    ]
    stopped = client.chat.completions.create(model="smollm2", messages=ASK, max_tokens=24, temperature=0, stop=["sea"])
    likely = client.chat.completions.create(
        model="smollm2", messages=ASK, max_tokens=4, temperature=0, logprobs=True, top_logprobs=3
    )
    limited = client.chat.completions.create(model="smollm2", messages=ASK, max_completion_tokens=3, temperature=0)
    return {
        "id": whole.id,
        "object": whole.object,
        "model": whole.model,
        "role": whole.choices[0].message.role,
        "text": whole.choices[0].message.content,
        "finish": whole.choices[0].finish_reason,
        "usage": whole.usage.model_dump(),
        "streamed": "".join(pieces),
        "pieces": len([piece for piece in pieces if piece]),
        "stream_finish": finish,
        "stream_usage": usage.model_dump(),
        "seeded": seeded,
        "stopped": [stopped.choices[0].message.content, stopped.choices[0].finish_reason],
        "logprobs": [[one.token, one.logprob, len(one.top_logprobs)] for one in likely.choices[0].logprobs.content],
        "likely_text": likely.choices[0].message.content,
        "limited": [limited.usage.completion_tokens, limited.choices[0].finish_reason],
    }


def tools():
    asked = client.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "What is the weather in Paris?"}],
        tools=[WEATHER],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
        max_tokens=64,
        temperature=0,
    )
    message = asked.choices[0].message
    call = message.tool_calls[0]
    answered = client.chat.completions.create(
        model="smollm2",
        messages=[
            {"role": "user", "content": "What is the weather in Paris?"},
            message,
            {"role": "tool", "tool_call_id": call.id, "content": "sunny, 20 degrees"},
        ],
        tools=[WEATHER],
        tool_choice="none",
        max_tokens=24,
        temperature=0,
    )
    streamed, arguments = [], ""
    for chunk in client.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "What is the weather in Paris?"}],
        tools=[WEATHER],
        tool_choice="required",
        max_tokens=64,
        temperature=0,
        stream=True,
    ):
        for choice in chunk.choices:
            for part in choice.delta.tool_calls or []:
                arguments += part.function.arguments or ""
                if part.function.name:
                    streamed.append(part.function.name)
    return {
        "finish": asked.choices[0].finish_reason,
        "name": call.function.name,
        "id": call.id,
        "type": call.type,
        "arguments": json.loads(call.function.arguments),
        "answer": answered.choices[0].message.content,
        "streamed": streamed,
        "streamed_arguments": json.loads(arguments),
    }


def formats():
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green", "blue"]}, "count": {"type": "integer"}},
        "required": ["colour", "count"],
        "additionalProperties": False,
    }
    said = client.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "Give a colour and a count as JSON."}],
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}},
        max_tokens=64,
        temperature=0,
    )
    return {"json_schema": json.loads(said.choices[0].message.content)}


def text():
    done = client.completions.create(model="smollm2", prompt="Once upon a time", max_tokens=8, temperature=0)
    pieces = [
        choice.text
        for chunk in client.completions.create(
            model="smollm2", prompt="Once upon a time", max_tokens=8, temperature=0, stream=True
        )
        for choice in chunk.choices
    ]
    response = client.responses.create(
        model="smollm2", input="Write one sentence about the sea.", max_output_tokens=24, temperature=0
    )
    events, deltas, final = [], [], None
    for event in client.responses.create(
        model="smollm2",
        input=[{"role": "user", "content": "Write one sentence about the sea."}],
        max_output_tokens=24,
        temperature=0,
        stream=True,
    ):
        events.append(event.type)
        if event.type == "response.output_text.delta":
            deltas.append(event.delta)
        if event.type in ("response.completed", "response.incomplete"):
            final = event.response
    return {
        "completion": done.choices[0].text,
        "completion_streamed": "".join(pieces),
        "response": response.output_text,
        "response_status": response.status,
        "response_usage": response.usage.model_dump(),
        "response_streamed": "".join(deltas),
        "response_final": final.output_text,
        "events": list(dict.fromkeys(events)),
    }


def embeddings():
    texts = ["the cat sleeps", "a kitten naps", "interest rates rose"]
    as_floats = client.embeddings.create(model="minilm", input=texts, encoding_format="float")
    # Without a format, this client asks for base64 and reads it.
    plain = client.embeddings.create(model="minilm", input=texts)
    single = client.embeddings.create(model="minilm", input=texts[0])
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    rows = [one.embedding for one in as_floats.data]
    return {
        "dimensions": len(rows[0]),
        "indexes": [one.index for one in as_floats.data],
        "same": max(abs(x - y) for a, b in zip(rows, plain.data) for x, y in zip(a, b.embedding)),
        "single": max(abs(x - y) for x, y in zip(rows[0], single.data[0].embedding)),
        "alike": dot(rows[0], rows[1]),
        "unlike": dot(rows[0], rows[2]),
        "prompt_tokens": as_floats.usage.prompt_tokens,
    }


def speech(path):
    with open(path, "rb") as file:
        sound = file.read()
    ask = lambda **more: client.audio.transcriptions.create(model="moonshine", file=("a.wav", io.BytesIO(sound)), **more)
    verbose = ask(response_format="verbose_json")
    return {
        "text": ask().text,
        "plain": ask(response_format="text"),
        "verbose": verbose.text,
        "duration": float(verbose.duration),
        "segments": [[one.start, one.end, one.text] for one in verbose.segments],
        "srt": ask(response_format="srt"),
        "vtt": ask(response_format="vtt"),
    }


def errors():
    def failed(act):
        try:
            act()
        except openai.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            return [type(error).__name__, error.status_code, error.code, body.get("type"), error.param]
        return None

    say = lambda who=client, **more: who.chat.completions.create(**{"model": "smollm2", "messages": ASK, **more})
    wrong = openai.OpenAI(base_url=URL, api_key="wrong", max_retries=0)
    return {
        "wrong_key": failed(lambda: say(wrong)),
        "unknown_model": failed(lambda: say(model="not-there")),
        "unknown_role": failed(lambda: say(messages=[{"role": "oracle", "content": "x"}])),
        "no_tokens": failed(lambda: say(max_tokens=0)),
        "not_chat": failed(lambda: say(model="minilm")),
        "too_long": failed(lambda: say(messages=[{"role": "user", "content": "word " * 20_000}])),
        "bad_dimensions": failed(lambda: client.embeddings.create(model="minilm", input="x", dimensions=100_000)),
        "bad_audio": failed(lambda: client.audio.transcriptions.create(model="moonshine", file=("a.wav", b"no sound"))),
    }


def models():
    return {"ids": sorted(one.id for one in client.models.list()), "one": client.models.retrieve("minilm").id}


def left():
    """Leaves a stream in the middle."""
    stream = client.chat.completions.create(
        model="smollm2", messages=[{"role": "user", "content": "Count to a thousand."}], max_tokens=1000, stream=True
    )
    for count, _ in enumerate(stream):
        if count == 3:
            break
    stream.close()
    return {"left": True}


PARTS = {part.__name__: part for part in (chat, tools, formats, text, embeddings, speech, errors, models, left)}
print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
