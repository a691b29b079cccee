"""What callers say: the words of load options, messages and requests, and their form in JSON."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict, Union

#: The value of an option. ONNX Runtime takes text; True and False become 1 and 0.
Value = Union[str, int, float]

#: How long a model that nobody uses stays: "5m", seconds, 0 for not at all, -1 for ever.
KeepAlive = Union[str, int, float]

#: Shrink targets: "cpu:0;gpu:0" or a list of them.
Targets = Union[str, Sequence[str]]


class LoadOptions(TypedDict, total=False):
    """How a model is loaded. The same names as in JSON, on the command line and in profiles."""

    provider: str
    device: int
    profile: str
    session_options: Mapping[str, Value]
    arena_options: Mapping[str, Value]
    provider_options: Mapping[str, Mapping[str, Value]]
    runtime_options: Mapping[str, Value]
    shrink_every: int
    threads: int
    batch_tokens: int
    context_tokens: int
    prefill_tokens: int
    prefix_cache_bytes: int
    keep_alive: KeepAlive
    variant: str
    queue: int
    restart: bool
    sample_ms: int


class RequestOptions(TypedDict, total=False):
    """What every request may ask for besides."""

    #: Shrink once the answer is out: True for every arena, or the targets.
    shrink_after: Union[bool, Targets, None]
    #: Run options of this request alone.
    run_options: Mapping[str, Value]
    #: Give up, with `TimedOutError`, if the answer is not complete by then.
    timeout_ms: Optional[int]
    #: From this request on.
    keep_alive: Optional[KeepAlive]


class _Role(TypedDict):
    role: str


class Message(_Role, total=False):
    """A message of a conversation. `role`: system, developer, user, assistant or tool."""

    content: str
    name: str
    tool_calls: Sequence[Mapping[str, str]]
    tool_call_id: str


class _Name(TypedDict):
    name: str


class Tool(_Name, total=False):
    """A function that the model may ask to be called; `parameters` is the JSON schema of its arguments."""

    description: str
    parameters: Mapping[str, Any]


class GenerateOptions(RequestOptions, total=False):
    """How to generate. What is not given is the model's own, else greedy."""

    #: Functions that the model may ask to be called; as OpenAI's clients write them, too.
    tools: Sequence[Union[Tool, Mapping[str, Any]]]
    #: "auto", "none", "required", or {"tool": name}.
    tool_choice: Union[str, Mapping[str, str]]
    max_tokens: Optional[int]
    stop: Union[str, Sequence[str]]
    temperature: Optional[float]
    top_k: Optional[int]
    top_p: Optional[float]
    min_p: Optional[float]
    repetition_penalty: Optional[float]
    frequency_penalty: Optional[float]
    presence_penalty: Optional[float]
    seed: Optional[int]
    #: Added to the scores of tokens, by id.
    logit_bias: Mapping[int, float]
    #: Give the log-probability of each token, and of so many of the likeliest besides.
    logprobs: Optional[int]
    #: "text", "json_object", {"json_schema": schema} or {"regex": pattern}.
    response_format: Union[str, Mapping[str, Any], None]
    #: Values handed to the chat template besides, by name.
    template_options: Mapping[str, Any]


def text(value: Value) -> str:
    """An option's value as ONNX Runtime takes it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)


def texts(pairs: Mapping[str, Value]) -> Dict[str, str]:
    return {key: text(value) for key, value in pairs.items()}


def load_options(options: LoadOptions) -> Dict[str, Any]:
    """Load options as they are sent: without those that are None, values of options as text."""
    sent: Dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in ("session_options", "arena_options", "runtime_options"):
        if name in sent:
            sent[name] = texts(sent[name])
    if "provider_options" in sent:
        providers = sent["provider_options"]
        sent["provider_options"] = {name: texts(pairs) for name, pairs in providers.items()}
    return sent


def targets(named: Targets) -> List[str]:
    """A list of targets, also where they were written as the run option takes them."""
    if isinstance(named, str):
        return [target for target in named.replace(",", ";").split(";") if target.strip()]
    return list(named)


def request_options(options: RequestOptions) -> Dict[str, Any]:
    """Request options as they are sent."""
    sent: Dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    after = sent.pop("shrink_after", False)
    if after is True:
        sent["shrink_after"] = []
    elif after is not False:
        sent["shrink_after"] = targets(after)
    if "run_options" in sent:
        sent["run_options"] = texts(sent["run_options"])
    return sent


def own_request_options(arguments: Dict[str, Any]) -> Dict[str, Any]:
    """Takes the request options out of other keyword arguments."""
    names = [name for name in RequestOptions.__annotations__ if name in arguments]
    own: Dict[str, Any] = {name: arguments.pop(name) for name in names}
    return request_options(RequestOptions(**own))  # type: ignore[typeddict-item]
