"""Images, sound and files in any format's parts, and what of a part another format can be told.

    OpaquePart of one format ── portable ──▶ Media | text | None ──▶ the part of another format

Everything else (thinking, reasoning, calls the provider ran itself) means something to its own provider alone.

Histories also hold parts of libraries that are no provider's: MCP's {"data", "mimeType"}, the AI SDK's {"image"} and
{"data", "mediaType"}, LangChain's {"base64", "mime_type"}, Anthropic's blocks among those of OpenAI's chat format.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from aaa.messages import OpaquePart

__all__ = ["Media", "data_url", "media_of", "portable"]

Kind = Literal["image", "audio", "video", "document"]

_MIME_TYPES = ("mimeType", "mediaType", "mime_type")


class Media(msgspec.Struct, frozen=True):
    """One image, sound, film or document: its `data` in base64, or a `url`, or the provider's `file_id`."""

    kind: Kind
    mime_type: str = ""
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None


def media_of(part: OpaquePart) -> Media | None:
    """The media in a part of any format; None if it holds none, or none that we can read."""
    read = _READERS.get((part.format, part.type))
    try:
        return read(json.loads(part.json)) if read else None
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None


def portable(part: OpaquePart) -> Media | str | None:
    """What a part says to a model of another provider: its media, the text of a refusal, or nothing."""
    if part.type == "refusal":
        value = json.loads(part.json).get("refusal")
        return value if isinstance(value, str) else None
    return media_of(part)


def data_url(media: Media) -> str:
    """The media as a URL, with its bytes inside where it has them; "" if there is none."""
    return f"data:{media.mime_type};base64,{media.data}" if media.data is not None else media.url or ""


def _from_url(kind: Kind, url: str, name: str | None = None) -> Media:
    if not url.startswith("data:"):
        return Media(kind, url=url, name=name)
    head, _, data = url.partition(",")
    return Media(kind, head.removeprefix("data:").removesuffix(";base64"), data, name=name)


def _chat_image(part: dict[str, Any]) -> Media:
    image = part["image_url"]
    return _from_url("image", image if isinstance(image, str) else image["url"])


def _chat_audio(part: dict[str, Any]) -> Media:
    sound = part["input_audio"]
    return Media("audio", f"audio/{sound['format']}", sound["data"])


def _chat_file(part: dict[str, Any]) -> Media | None:
    if "file" not in part:
        return _of_library("document")(part)
    file = part["file"]
    if file.get("file_data"):
        return _from_url("document", file["file_data"], name=file.get("filename"))
    return Media("document", file_id=file["file_id"])


def _responses_image(part: dict[str, Any]) -> Media:
    if part.get("file_id"):
        return Media("image", file_id=part["file_id"])
    return _from_url("image", part["image_url"])


def _responses_file(part: dict[str, Any]) -> Media:
    if part.get("file_data"):
        return _from_url("document", part["file_data"], name=part.get("filename"))
    return Media("document", url=part.get("file_url"), file_id=part.get("file_id"))


def _anthropic(kind: Kind) -> Callable[[dict[str, Any]], Media | None]:
    def read(part: dict[str, Any]) -> Media | None:
        source = part["source"]
        match source["type"]:
            case "base64":
                return Media(kind, source["media_type"], source["data"], name=part.get("title"))
            case "url":
                return Media(kind, url=source["url"], name=part.get("title"))
            case "file":
                return Media(kind, file_id=source["file_id"], name=part.get("title"))
            case _:
                return None

    return read


def _of_library(kind: Kind) -> Callable[[dict[str, Any]], Media | None]:
    """A reader of parts that name their bytes, or an address, and the type of it."""

    def read(part: dict[str, Any]) -> Media | None:
        if "source" in part:
            return _anthropic(kind)(part)
        given = next(part[key] for key in ("data", "base64", "url", kind) if part.get(key))
        mime_type = next((part[key] for key in _MIME_TYPES if part.get(key)), "")
        of_kind, name = _kind_of(mime_type) if mime_type else kind, part.get("filename")
        if given.startswith(("data:", "http:", "https:")):
            return _from_url(of_kind, given, name)
        return Media(of_kind, mime_type, given, name=name)

    return read


def _gemini_inline(part: dict[str, Any]) -> Media:
    inline = part["inlineData"]
    return Media(_kind_of(inline["mimeType"]), inline["mimeType"], inline["data"])


def _gemini_file(part: dict[str, Any]) -> Media:
    file = part["fileData"]
    return Media(_kind_of(file.get("mimeType", "")), file.get("mimeType", ""), url=file["fileUri"])


def _ollama_image(part: dict[str, Any]) -> Media:
    return Media("image", "", part["image"])


def _kind_of(mime_type: str) -> Kind:
    match mime_type.split("/", maxsplit=1)[0]:
        case "image" | "audio" | "video" as kind:
            return kind
        case _:
            return "document"


_READERS: dict[tuple[str, str], Callable[[dict[str, Any]], Media | None]] = {
    ("", "image_url"): _chat_image,
    ("", "input_audio"): _chat_audio,
    ("", "file"): _chat_file,
    ("", "image"): _of_library("image"),
    ("", "audio"): _of_library("audio"),
    ("", "video"): _of_library("video"),
    ("", "document"): _of_library("document"),
    ("openai-responses", "input_image"): _responses_image,
    ("openai-responses", "input_file"): _responses_file,
    ("anthropic", "image"): _of_library("image"),
    ("anthropic", "document"): _anthropic("document"),
    ("gemini", "inlineData"): _gemini_inline,
    ("gemini", "fileData"): _gemini_file,
    ("ollama", "image"): _ollama_image,
}
