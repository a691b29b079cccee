"""One model of the host."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Union, cast, overload

from .chat import Answer, ChatStream, generate_body, messages
from .check import OptionsCheck
from .connection import Body, Connection, check_length, to_json
from .embed import Embeddings, as_lists, into_numpy
from .errors import RequestError
from .events import EventStream
from .record import read
from .recording import Recording
from .records import Estimate, LoadReport, ModelEntry, OptionLine, TokenCounts, UnloadReport
from .runtime import Runtime
from .tensor import Outputs, Tensor, received, sent
from .transcribe import MAX_AUDIO_BYTES, Audio, Transcript, TranscribeStream, opened
from .words import GenerateOptions, LoadOptions, Message, RequestOptions, Value, load_options, request_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

Said = Union[str, Sequence[Union[Message, Mapping[str, Any]]]]


class Model:
    """A model, by its alias. Asked to work while it is not loaded, it is loaded first."""

    def __init__(self, way: Connection, alias: str) -> None:
        self._way = way
        #: Its alias.
        self.alias = alias
        #: What can be done to it while it is loaded.
        self.runtime = Runtime(way, alias)

    def __repr__(self) -> str:
        return f"<ebb.Model {self.alias!r} of {self._way.url}>"

    def info(self) -> ModelEntry:
        """What is known of it; whether it is in memory."""
        return read(ModelEntry, self._way.get("models", self.alias))

    def load(self, *, force: bool = False, **options: Unpack[LoadOptions]) -> LoadReport:
        """Loads it. Loaded already with the same options, it stays as it is; with others, that is a conflict, unless
        `force` unloads it first."""
        query = {"force": "true"} if force else {}
        return read(LoadReport, self._way.post(self._path("load"), load_options(options), **query))

    def unload(self) -> UnloadReport:
        """Ends its worker: everything it held comes back."""
        return read(UnloadReport, self._way.post(self._path("unload"), {}))

    def remove(self) -> ModelEntry:
        """Takes it out of the catalogue, unloading it first. Its files stay."""
        return read(ModelEntry, self._way.delete("models", self.alias))

    def estimate(self) -> Estimate:
        """What it will need."""
        return read(Estimate, self._way.get("models", self.alias, "estimate"))

    def check(self, **options: Unpack[LoadOptions]) -> OptionsCheck:
        """What load options would come to: each option's line, every problem, what it would need. Nothing is loaded."""
        return read(OptionsCheck, self._way.post(self._path("check"), load_options(options)))

    def record(self) -> Recording:
        """Records what it holds from now on, until it is unloaded, the host ends or this is closed."""
        return Recording(self._way.lines("GET", self._path("recording"), {}, None))

    def count_tokens(self, texts: Iterable[str]) -> List[int]:
        """Tokens that its own tokenizer makes of each text, special ones not counted."""
        if isinstance(texts, str):
            raise _misused("count_tokens takes a list of texts", "write count_tokens([text])", "texts")
        return read(TokenCounts, self._way.post(self._path("count-tokens"), {"texts": list(texts)})).tokens

    def set_runtime_option(self, key: str, value: Value) -> Sequence[OptionLine]:
        """Short for `runtime.set_option`."""
        return self.runtime.set_option(key, value)

    def events(self) -> EventStream:
        """What happens to it from now on."""
        return EventStream(self._way.lines("GET", ["events"], {"model": self.alias}, None))

    @overload
    def embed(
        self, texts: Iterable[str], *, numpy: Literal[False] = False, **options: Unpack[RequestOptions]
    ) -> Embeddings: ...

    @overload
    def embed(self, texts: Iterable[str], *, numpy: bool, **options: Unpack[RequestOptions]) -> Any: ...

    def embed(
        self, texts: Iterable[str], *, numpy: bool = False, **options: Unpack[RequestOptions]
    ) -> Union[Embeddings, Any]:
        """One vector a text, in order: a list of lists, or with `numpy=True` the rows of an array."""
        if isinstance(texts, str):
            raise _misused("embed takes a list of texts", "write embed([text])", "texts")
        collect = into_numpy() if numpy else as_lists
        body = {"texts": list(texts), "stream": True, **request_options(options)}
        return collect(self._way.lines("POST", self._path("embed"), {}, to_json(body)))

    @overload
    def chat(
        self, said: Said, *, stream: Literal[False] = False, **options: Unpack[GenerateOptions]
    ) -> Answer: ...

    @overload
    def chat(self, said: Said, *, stream: Literal[True], **options: Unpack[GenerateOptions]) -> ChatStream: ...

    @overload
    def chat(
        self, said: Said, *, stream: bool, **options: Unpack[GenerateOptions]
    ) -> Union[Answer, ChatStream]: ...

    def chat(
        self, said: Said, *, stream: bool = False, **options: Unpack[GenerateOptions]
    ) -> Union[Answer, ChatStream]:
        """What it answers to these messages; with `stream=True` piece by piece."""
        return self._generate({"messages": messages(said)}, stream, options)

    @overload
    def complete(
        self, prompt: str, *, stream: Literal[False] = False, **options: Unpack[GenerateOptions]
    ) -> Answer: ...

    @overload
    def complete(
        self, prompt: str, *, stream: Literal[True], **options: Unpack[GenerateOptions]
    ) -> ChatStream: ...

    @overload
    def complete(
        self, prompt: str, *, stream: bool, **options: Unpack[GenerateOptions]
    ) -> Union[Answer, ChatStream]: ...

    def complete(
        self, prompt: str, *, stream: bool = False, **options: Unpack[GenerateOptions]
    ) -> Union[Answer, ChatStream]:
        """How it continues this text, without the chat template."""
        return self._generate({"prompt": prompt}, stream, options)

    @overload
    def transcribe(
        self,
        audio: Audio,
        *,
        language: Optional[str] = None,
        format: Optional[str] = None,
        partial: bool = False,
        stream: Literal[False] = False,
        **options: Unpack[RequestOptions],
    ) -> Transcript: ...

    @overload
    def transcribe(
        self,
        audio: Audio,
        *,
        language: Optional[str] = None,
        format: Optional[str] = None,
        partial: bool = False,
        stream: bool,
        **options: Unpack[RequestOptions],
    ) -> Union[Transcript, TranscribeStream]: ...

    def transcribe(
        self,
        audio: Audio,
        *,
        language: Optional[str] = None,
        format: Optional[str] = None,
        partial: bool = False,
        stream: bool = False,
        **options: Unpack[RequestOptions],
    ) -> Union[Transcript, TranscribeStream]:
        """What is said in an audio file: its path, its bytes, or a file that was opened. With `stream=True` stretch by
        stretch, with `partial=True` also while one still grows."""
        body, ending = opened(audio)
        try:
            transcription = {"language": language, "format": format or ending, "partial": partial}
            request = {"transcription": transcription, "stream": True, "options": request_options(options)}
            pieces = self._transcribe(request, body)
        finally:
            if isinstance(body, io.IOBase):
                body.close()
        return pieces if stream else pieces.answer()

    def run(
        self,
        inputs: Union[Mapping[str, Any], Sequence[Tensor]],
        *,
        outputs: Sequence[str] = (),
        **options: Unpack[RequestOptions],
    ) -> Outputs:
        """Runs it on tensors: NumPy arrays by name, or `Tensor`s."""
        if isinstance(inputs, Mapping):
            inputs = [Tensor.from_numpy(name, values) for name, values in inputs.items()]
        body = {
            "inputs": [sent(tensor) for tensor in inputs],
            "outputs": list(outputs),
            **request_options(options),
        }
        return received(self._way.post(self._path("run"), body))

    def _generate(
        self, start: Dict[str, Any], stream: bool, options: GenerateOptions
    ) -> Union[Answer, ChatStream]:
        body = to_json(generate_body(start, options))
        pieces = ChatStream(self._way.lines("POST", self._path("generate"), {}, body))
        return pieces if stream else pieces.answer()

    def _transcribe(self, request: Dict[str, Any], body: Body) -> TranscribeStream:
        size = len(body) if isinstance(body, bytes) else _size(body)
        check_length(size, MAX_AUDIO_BYTES, "send a shorter file, or one of a format that takes less: FLAC, MP3")
        query = {"request": json.dumps(request, separators=(",", ":"))}
        path = self._path("transcribe")
        return TranscribeStream(self._way.lines("POST", path, query, body, "application/octet-stream"))

    def _path(self, route: str) -> Sequence[str]:
        return ["models", self.alias, route]


def _size(body: Body) -> int:
    file = cast(io.IOBase, body)
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size


def _misused(what: str, hint: str, param: str) -> RequestError:
    return RequestError(what, code="invalid_request", hint=hint, param=param)
