"""What a tool returned or raised, as text and as data."""

import dataclasses
import datetime
import uuid
from collections import namedtuple
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath

import msgspec
import pytest
from pydantic import BaseModel

from aaa.tools import ToolFailure
from aaa.tools.results import as_text, failed, failed_with


class Color(Enum):
    RED = "red"


class Level(str, Enum):  # noqa: UP042 - the older spelling is the case
    LOW = "low"


class Model(BaseModel):
    x: int
    when: datetime.date | None = None


@dataclasses.dataclass
class Point:
    x: int
    inner: Model | None = None


class Struct(msgspec.Struct):
    x: int


class Plain:
    def __str__(self) -> str:
        return "plain"


class Silent:
    def __str__(self) -> str:
        return ""


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        ("", "(no output)"),
        (" \n", "(no output)"),
        (None, "(no output)"),
        (True, "true"),
        (3, "3"),
        (2.5, "2.5"),
        (10**30, str(10**30)),
        ([], "[]"),
        ({}, "{}"),
        ({"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'),
        ({1: Color.RED}, '{"1":"red"}'),
        ((1, "x"), '[1,"x"]'),
        ({3}, "[3]"),
        (Pair(1, 2), "[1,2]"),
        (Color.RED, "red"),
        (Level.LOW, "low"),
        (Model(x=1, when=datetime.date(2026, 1, 2)), '{"x":1,"when":"2026-01-02"}'),
        (Point(1, Model(x=2)), '{"x":1,"inner":{"x":2,"when":null}}'),
        ([Struct(1), Plain(), Point(1)], '[{"x":1},"plain",{"x":1,"inner":null}]'),
        (Struct(1), '{"x":1}'),
        ({"p": PurePosixPath("a/b"), "d": Decimal("1.50")}, '{"p":"a/b","d":"1.50"}'),
        (["bad\udc80name"], '["bad\\udc80name"]'),
        ("bad\udc80name", "bad\udc80name"),
        (Plain(), "plain"),
        (Silent(), "(no output)"),
        (PurePosixPath("a/b"), "a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (Point, str(Point)),
        (ValueError("x"), "x"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_returned_becomes_text(value, text):
    assert as_text(value) == text


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"x", "bytes"),
        (bytearray(b"x"), "bytes"),
        (memoryview(b"x"), "bytes"),
        ((x for x in "ab"), "a generator"),
        ({"x": b"\xff"}, "cannot be written as JSON"),
        (CIRCLE, "cannot be written as JSON"),
    ],
)
def test_what_has_no_text_is_a_failure(value, problem):
    with pytest.raises(ToolFailure, match=problem) as caught:
        as_text(value)
    assert caught.value.kind == "ToolResultError"


def test_a_failure_has_one_shape():
    assert failed("Kind", "why") == {"content": "Error: why", "error": {"type": "Kind", "message": "why"}}


def test_an_exception_is_told_with_its_class_and_a_deliberate_failure_as_it_is():
    assert failed_with(KeyError("x")) == {
        "content": "Error: KeyError: 'x'",
        "error": {"type": "KeyError", "message": "'x'"},
    }
    assert failed_with(ToolFailure("No such user.")) == {
        "content": "Error: No such user.",
        "error": {"type": "ToolFailure", "message": "No such user."},
    }
    assert failed_with(ToolFailure("No.", kind="NotFound"))["error"]["type"] == "NotFound"
    assert failed_with(ValueError())["content"] == "Error: ValueError: (no message)"


def test_an_exception_without_a_text_is_still_told():
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert failed_with(Broken())["content"] == "Error: Broken: (no message)"


def test_a_long_message_is_cut():
    data = failed_with(ValueError("x" * 5_000))
    assert data["error"]["message"] == "x" * 2_000 + "… [cut, 5,000 characters]"
    assert data["content"] == "Error: ValueError: " + data["error"]["message"]
