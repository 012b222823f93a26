"""What a provider said when it refused or failed, read from any body.

    {"error": {"message", "code", …}}      OpenAI, OpenRouter, Gemini, Groq, …
    {"type": "error", "error": {…}}        Anthropic; `error` and `response.failed` events of streams
    {"message", "type", "code"}            Cohere, vLLM, DashScope, boto3's {"Error": {"Message", "Code"}}
    {"error": "text", "code": "text"}      xAI, Ollama, LM Studio, TGI
    [{"error": {…}}]                       Gemini Code Assist
    {"metadata": {"raw": "{\\"error\\": …}"}}  JSON inside a text: OpenRouter, LiteLLM, an exception's text
    event: error\\ndata: {…}               a stream, as text
    text                                   anything else

Only what stands under a key of errors is read: replies and quoted requests are not, since they may hold any words.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import force_setattr

__all__ = ["Fault", "fault_from"]

_TEXT_KEYS = (
    {"message", "msg", "error", "errors", "error_message", "error_msg", "errormessage", "error_description"}
    | {"detail", "details", "title", "description", "failure", "innererror", "inner_error", "previous_errors"}
    | {"raw", "metadata", "response", "base_resp", "status_msg", "exception"}
)
_CODE_KEYS = {"code", "type", "status", "reason", "name"} | {
    f"{start}{end}" for start in ("error_", "error", "__") for end in ("type", "code")
}
_STATUS_KEYS = {"code", "status", "status_code", "statuscode", "httpstatuscode", "error_code"}
_COUNTS = {"n_ctx", "n_prompt_tokens"}  # llama-server's own numbers
_REPLY_KEYS = ("result", "text", "content", "assistant_text")  # of tools that say `is_error`

_LONGEST_TEXT = 32_768  # of one message; an error stands at the start or the end of a text, not in its middle
_LONGEST_CODE = 100
_LARGEST_NUMBER = 2**53
_MOST_VALUES = 2_000
_DEEPEST = 12


class Fault(msgspec.Struct, frozen=True):
    """A refusal or a failure. `status` is the HTTP status, or the one the body names; None if there is neither.

    `text` is all that was said, one message a line, outermost first; `messages` the same apart; `codes` the provider's
    words for it (types, codes, the exception's name) as it writes them; `numbers` its counts by their names.
    """

    status: int | None
    headers: Mapping[str, str]
    body: Any
    text: str
    type_name: str = ""
    messages: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    numbers: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    @property
    def words(self) -> tuple[str, ...]:
        """The codes in lower case, to compare."""
        return tuple(code.lower() for code in self.codes)

    def __post_init__(self) -> None:
        if self.text and not self.messages:
            force_setattr(self, "messages", (self.text,))


def fault_from(status: int | None, headers: Mapping[str, str] | None, body: Any, *, type_name: str = "") -> Fault:
    """Read any body: decoded JSON, text, bytes, None, or the exception of a library in this process.

    Never raises, whatever `body` is. `type_name` is the class of the SDK's exception.
    """
    if isinstance(body, BaseException):
        type_name, body = type_name or type(body).__name__, str(body)
    body = _decoded(body)
    found = _Reading()
    found.read(body)
    if not found.messages and (status is None or status >= 400):
        found.read_anything(body)
    codes = [*found.codes, *([type_name] if type_name else [])]
    plain = {str(key).lower(): str(value) for key, value in (headers or {}).items()}
    named = status if status is not None and status >= 400 else found.status or status
    messages = tuple(dict.fromkeys(found.messages))
    return Fault(
        named, plain, body, "\n".join(messages), type_name, messages, tuple(dict.fromkeys(codes)), found.numbers
    )


class _Reading:
    """One walk over a body, bounded in depth and in the number of values."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.codes: list[str] = []
        self.numbers: dict[str, int] = {}
        self.status: int | None = None
        self._left = _MOST_VALUES

    def read(self, value: Any, depth: int = 0) -> None:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return
        if isinstance(value, str):
            self._read_text(value, depth)
        elif isinstance(value, list | tuple):
            for item in cast("Iterable[Any]", value):
                self.read(item, depth + 1)
        elif isinstance(value, Mapping):
            self._read_fields(cast("Mapping[Any, Any]", value), depth)

    def read_anything(self, body: Any) -> None:
        """The texts at the top of a body of no known shape."""
        fields: Mapping[Any, Any] = cast("Mapping[Any, Any]", body) if isinstance(body, Mapping) else {}
        if fields.get("is_error") is not False:
            self.messages += [_shortened(value) for value in fields.values() if isinstance(value, str) and value]

    def _read_fields(self, fields: Mapping[Any, Any], depth: int) -> None:
        for key, value in fields.items():
            name = str(key).lower()
            if name in _CODE_KEYS | _STATUS_KEYS | _COUNTS:
                self._read_code(name, value)
            if name.endswith("exception"):  # events of AWS: {"throttlingException": {"message": …}}
                self.codes.append(str(key))
            if name in _TEXT_KEYS or name.endswith("exception"):
                self.read(value, depth + 1)
        if fields.get("is_error") is True:
            for name in _REPLY_KEYS:
                self.read(fields.get(name), depth + 1)

    def _read_code(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value and len(value) <= _LONGEST_CODE and name in _CODE_KEYS:
            self.codes.append(value)
        number = _integer(value)
        if number is None:
            return
        if name in _COUNTS:
            self.numbers[name] = number
        elif name in _STATUS_KEYS and 400 <= number < 600 and self.status is None:
            self.status = number
        elif name in _STATUS_KEYS and not isinstance(value, str):
            self.codes.append(str(number))

    def _read_text(self, text: str, depth: int) -> None:
        """A text is a message, unless it is a stream of events or holds JSON that has messages."""
        if events := _events(text):
            self.read(events, depth + 1)
            return
        known = len(self.messages)
        before, inner = _split(text)
        if inner is not None:
            self.read(inner, depth + 1)
        if len(self.messages) == known:
            before = text
        if before.strip():
            self.messages.insert(known, _shortened(before.strip()))


def _integer(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _LARGEST_NUMBER else None


def _decoded(body: Any) -> Any:
    if isinstance(body, bytes | bytearray):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _json(body) or body
    is_json = body is None or isinstance(body, list | tuple | Mapping)
    return cast("Any", body) if is_json else type(body).__name__  # pyright: ignore[reportUnknownArgumentType]


def _split(text: str) -> tuple[str, Any]:
    """The words before the JSON in a text, and what it is; None if there is no JSON."""
    start = text.find("{")
    if start < 0 or start > _LONGEST_TEXT:
        return text, None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return text, None
    return text[:start].strip(" \n-:["), value


def _events(text: str) -> list[Any]:
    """The JSON of each `data:` line, if the text is a stream of events."""
    if not text.lstrip().startswith(("data:", "event:", "id:", ":")):
        return []
    values = (_json(line.removeprefix("data:")) for line in text.splitlines() if line.startswith("data:"))
    return [value for value in values if value is not None]


def _json(text: str) -> Any:
    """The object or list that a text is; None if it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _shortened(text: str) -> str:
    half = _LONGEST_TEXT // 2
    return text if len(text) <= _LONGEST_TEXT else f"{text[:half]} [...] {text[-half:]}"
