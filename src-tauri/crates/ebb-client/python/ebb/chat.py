"""Generated text, as it comes in and all together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .connection import Lines
from .errors import protocol
from .record import read
from .records import GenerateFigures, TokenLogprob, ToolCall
from .stream import PartStream
from .words import GenerateOptions, Message, own_request_options


@dataclass(frozen=True)
class Answer:
    """What the model said."""

    text: str
    tool_calls: List[ToolCall]
    figures: GenerateFigures
    logprobs: List[TokenLogprob] = field(default_factory=list)

    @property
    def message(self) -> Message:
        """The answer as a message, to go on with."""
        message = Message(role="assistant", content=self.text)
        if self.tool_calls:
            message["tool_calls"] = [asdict(call) for call in self.tool_calls]
        return message


class Piece(str):
    """The next piece of a text: never half a character, never a part of a stop text. It is the text itself."""

    logprobs: List[TokenLogprob]

    @property
    def text(self) -> str:
        return str(self)


class ChatStream(PartStream[Piece]):
    """The pieces of a text as they come in. Leaving it before its end cancels the generation."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self._text: List[str] = []
        self._tool_calls: List[ToolCall] = []
        self._logprobs: List[TokenLogprob] = []
        self._figures: Optional[GenerateFigures] = None

    def answer(self) -> Answer:
        """Waits for the rest and gives all of it; also once every piece was read."""
        for _ in self:
            pass
        if self._figures is None:
            raise protocol("the answer was left before its end")
        return Answer("".join(self._text), self._tool_calls, self._figures, self._logprobs)

    def _take(self, tag: str, value: Any) -> Optional[Piece]:
        if tag == "piece":
            piece = Piece(value["text"])
            piece.logprobs = [read(TokenLogprob, one) for one in value.get("logprobs", [])]
            self._text.append(piece)
            self._logprobs.extend(piece.logprobs)
            return piece
        if tag == "tool_call":
            self._tool_calls.append(read(ToolCall, value))
        return None

    def _end(self, figures: Any) -> None:
        self._figures = read(GenerateFigures, figures)


def generate_body(start: Mapping[str, Any], options: GenerateOptions) -> Dict[str, Any]:
    """The body of a request for text: what to start from, and how to go on."""
    arguments: Dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    own = own_request_options(arguments)
    if isinstance(arguments.get("stop"), str):
        arguments["stop"] = [arguments["stop"]]
    if "tools" in arguments:
        arguments["tools"] = [_tool(tool) for tool in arguments["tools"]]
    return {"generation": {**start, **arguments}, "stream": True, "options": own}


def messages(said: Union[str, Sequence[Union[Message, Mapping[str, Any]]]]) -> List[Dict[str, Any]]:
    """A conversation as it is sent; a text alone is what the user says."""
    if isinstance(said, str):
        return [{"role": "user", "content": said}]
    return [{name: value for name, value in message.items() if value is not None} for message in said]


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """As OpenAI's clients write a tool, its function lies one level deeper."""
    function = tool.get("function")
    return function if isinstance(function, Mapping) else tool
