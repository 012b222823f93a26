"""What a model wrote, checked and coerced; what it is told when it is wrong."""

import datetime
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from aaa.tools import ToolFailure, tool


class Color(Enum):
    RED = "red"


class Filter(BaseModel):
    name: str
    values: list[int] = []

    @field_validator("name")
    @classmethod
    def _check(cls, value: str) -> str:
        if value == "bad":
            raise ValueError("must not be bad")
        if value == "worse":
            raise KeyError("worse")
        return value


@tool
def find(
    text: str,
    limit: int = 3,
    mode: Literal["fast", "slow"] = "fast",
    color: Color | None = None,
    filters: list[Filter] = [],  # noqa: B006
    when: datetime.date | None = None,
    size: int = Field(default=7, ge=1),
) -> Any: ...


@tool
def now() -> str: ...


DEFAULTS = {"limit": 3, "mode": "fast", "color": None, "filters": [], "when": None, "size": 7}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ('{"text":"x"}', {}),
        (' {"text" : "x"}\n', {}),
        ('{"text":"x","limit":"5"}', {"limit": 5}),
        ('{"text":"x","limit":5.0}', {"limit": 5}),
        ('{"text":"x","color":"red"}', {"color": Color.RED}),
        ('{"text":"x","when":"2026-01-02"}', {"when": datetime.date(2026, 1, 2)}),
        ('{"text":"x","filters":[{"name":"n","values":["1"]}]}', {"filters": [Filter(name="n", values=[1])]}),
        ('{"text":"x","size":1}', {"size": 1}),
    ],
)
def test_arguments_are_coerced_and_defaults_filled(text, changed):
    assert find.read_arguments(text) == {"text": "x", **DEFAULTS, **changed}


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_no_text_is_no_arguments(text):
    assert now.read_arguments(text) == {}


def test_defaults_are_not_shared_between_calls():
    find.read_arguments('{"text":"x"}')["filters"].append(1)
    assert find.read_arguments('{"text":"x"}')["filters"] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "text: it is missing"),
        ('{"limit":1}', "text: it is missing"),
        ('{"text":1}', "text: it should be a valid string"),
        ('{"text":"x","limit":"many"}', "limit: it should be a valid integer, unable to parse string as an integer"),
        ('{"text":"x","limit":null}', "limit: it should be a valid integer"),
        ('{"text":"x","mode":"medium"}', "mode: it should be 'fast' or 'slow'"),
        ('{"text":"x","color":"blue"}', "color: it should be 'red'"),
        ('{"text":"x","size":0}', "size: it should be greater than or equal to 1"),
        ('{"text":"x","filters":[{}]}', "filters[0].name: it is missing"),
        ('{"text":"x","filters":[{"name":"bad"}]}', "filters[0].name: Value error, must not be bad"),
        (
            '{"text":"x","filters":[{"name":"n","values":[1,"z"]}]}',
            "filters[0].values[1]: it should be a valid integer",
        ),
        ('{"text":"x","limits":1}', "limits: there is no such parameter"),
        ('{"text":1,"limit":"z"}', "text: it should be a valid string; limit: it should be a valid integer"),
        ('{"text":', "they are not valid JSON: EOF while parsing a value at line 1 column 8"),
        ("text=x", "they are not valid JSON: "),
        ("[]", "they are not a JSON object"),
        ('"x"', "they are not a JSON object"),
        ("null", "they are not a JSON object"),
        ('{"text":"\ud800"}', "they hold half a surrogate pair"),
    ],
)
def test_wrong_arguments_are_told_by_name_and_expectation(text, problem):
    with pytest.raises(ToolFailure) as caught:
        find.read_arguments(text)
    assert problem in caught.value.message
    assert "'find'" in caught.value.message
    assert caught.value.kind == "ToolArgumentsError"


def test_the_parameters_are_listed_for_the_next_try():
    with pytest.raises(ToolFailure) as caught:
        find.read_arguments("[]")
    assert caught.value.message == (
        "the arguments of 'find' do not fit: they are not a JSON object. Parameters: text (string), limit (integer, "
        "optional), mode (string, optional), color (Color or null, optional), filters (array, optional), "
        "when (string or null, optional), size (integer, optional)."
    )
    with pytest.raises(ToolFailure, match=r"x: there is no such parameter\. It takes no parameters\."):
        now.read_arguments('{"x":1}')


def test_the_input_is_not_repeated():
    with pytest.raises(ToolFailure) as caught:
        find.read_arguments('{"text":["' + "secret" * 1000 + '"],"' + "k" * 5000 + '":1}')
    assert "secret" not in caught.value.message
    assert len(caught.value.message) < 1000


def test_only_the_first_problems_are_told():
    with pytest.raises(ToolFailure) as caught:
        find.read_arguments('{"text":"x","filters":[' + ",".join(["{}"] * 9) + "]}")
    assert caught.value.message.count("it is missing") == 5
    assert "; and 4 more. " in caught.value.message
