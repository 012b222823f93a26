"""Reading a provider's JSON without losing any of it.

    given ── read ──▶ fields we know ── write ──▶ written;   extra = difference(given, written)
    written + extra ── overlay ──▶ given

`extra` is JSON text beside what was read. Its keys are those of OpenAI's chat format, in which most histories are
kept; what another format needs to write its own again stands under a key of its own, `native`, and no other format
looks there.
"""

import json
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from aaa.errors import WireError

__all__ = ["Fields", "compact", "difference", "errors_at", "mapping", "native", "overlay", "string_of", "with_native"]

Fields = dict[str, Any]

_OURS = "aaa:"
_ABSENT = "aaa:absent"  # the list of keys that we would write and the original does not have


def difference(given: Mapping[str, Any], written: Fields) -> str:
    """What must be laid over `written` to get `given`, as JSON text; "" if nothing.

    Raises:
        WireError: a key of `given` begins like ours.
    """
    if ours := [key for key in given if key.startswith(_OURS)]:
        raise WireError(f"the key {ours[0]!r} is reserved")
    over = {key: given[key] for key in sorted(given) if key not in written or written[key] != given[key]}
    if absent := [key for key in written if key not in given]:
        over[_ABSENT] = absent
    return compact(over) if over else ""  # sorted: one text, whatever order the keys came in


def overlay(fields: Fields, extra: str) -> Fields:
    """`fields`, changed in place to what they were read from."""
    if extra:
        over = json.loads(extra)
        for key in over.pop(_ABSENT, ()):
            fields.pop(key, None)
        fields.update((key, value) for key, value in over.items() if not key.startswith(_OURS))
    return fields


def native(extra: str, format: str) -> Fields:
    """What `format` ("anthropic", "gemini", …) keeps in `extra`; empty if nothing."""
    key = _OURS + format
    return json.loads(extra).get(key, {}) if key in extra else {}


def with_native(extra: str, format: str, fields: Fields) -> str:
    """`extra` with `fields` as what `format` keeps in it; empty fields take it out."""
    all_fields: Fields = json.loads(extra) if extra else {}
    all_fields.pop(_OURS + format, None)
    if fields:
        all_fields[_OURS + format] = fields
    return compact(all_fields, sort_keys=True) if all_fields else ""


def compact(value: Any, *, allow_nan: bool = True, sort_keys: bool = False) -> str:
    """JSON text without spaces; SDK objects (pydantic models) inside are dumped.

    Raises:
        TypeError, ValueError, RecursionError: not JSON.
    """
    return json.dumps(
        value,
        separators=(",", ":"),
        ensure_ascii=False,
        default=_dump,
        allow_nan=allow_nan,
        sort_keys=sort_keys,
    )


def string_of(value: Any) -> str | None:
    """Ids and names of a wrong type are read as their JSON text; `extra` keeps what they were."""
    return value if value is None or isinstance(value, str) else compact(value, sort_keys=True)


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """`value`, which must be an object; an SDK's own (a pydantic model) is dumped.

    Raises:
        WireError: saying that `what` must be an object.
    """
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    if hasattr(value, "model_dump"):
        return _dump(value)
    raise WireError(f"{what} must be an object, not {type(value).__name__}")


@contextmanager
def errors_at(index: int | None, item: str) -> Generator[None, None, None]:
    """Every failure to read becomes a `WireError` that says where."""
    try:
        yield
    except WireError as error:
        raise WireError(error.problem, index=index, item=item) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"a value is not JSON: {error}", index=index, item=item) from error


def _dump(value: Any) -> Any:
    if not hasattr(value, "model_dump"):
        raise TypeError(f"{type(value).__name__} is not JSON")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's warnings quote values
        return value.model_dump(exclude_unset=True)
