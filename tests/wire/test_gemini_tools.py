"""The tools of Gemini's requests: read, written, the same again."""

import pytest

from aaa.messages import LLMRequest, ToolSpec
from aaa.wire import openai_chat
from aaa.wire.gemini import request_from_body, request_to_body


def read(tools):
    """The specs of tools that come back as they were."""
    given = {"contents": [], "tools": tools}
    request = request_from_body(given)
    assert request_to_body(request) == given
    return request.tools


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = {
    "json schema": [{"functionDeclarations": [{"name": "read", "parametersJsonSchema": SCHEMA}]}],
    "openapi schema": [{"functionDeclarations": [{"name": "read", "description": "Reads.", "parameters": SCHEMA}]}],
    "types in capitals": [
        {
            "functionDeclarations": [
                {
                    "name": "read",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"type": {"type": "STRING", "enum": ["STRING"]}},
                        "anyOf": [{"type": "NULL"}],
                    },
                }
            ]
        }
    ],
    "types in capitals, some of them": [
        {
            "functionDeclarations": [
                {"name": "read", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "string"}}}}
            ]
        }
    ],
    "no schema": [
        {"functionDeclarations": [{"name": "a"}, {"name": "b", "parameters": None}, {"name": "c", "parameters": {}}]}
    ],
    "empty description": [
        {"functionDeclarations": [{"name": "a", "description": ""}, {"name": "b", "description": None}]}
    ],
    "more in a declaration": [
        {"functionDeclarations": [{"name": "a", "response": {"type": "STRING"}, "behavior": "BLOCKING"}]}
    ],
    "groups": [{"functionDeclarations": [{"name": "a"}]}, {"functionDeclarations": [{"name": "b"}, {"name": "c"}]}],
    "what the provider runs": [{"googleSearch": {}}, {"urlContext": {}, "codeExecution": {}}, {}],
    "both in one": [
        {"functionDeclarations": [{"name": "a"}], "googleSearch": {}},
        {"functionDeclarations": [{"name": "b"}]},
    ],
    "no declarations": [{"functionDeclarations": []}, {"functionDeclarations": [{"name": "b"}]}],
    "spelled with underscores": [
        {"function_declarations": [{"name": "a", "parameters_json_schema": SCHEMA}], "google_search": {}}
    ],
    "one for a list of one": {"functionDeclarations": [{"name": "a", "parametersJsonSchema": SCHEMA}]},
}


@pytest.mark.parametrize("name", TOOLS)
def test_tools_come_back_as_they_were(name):
    read(TOOLS[name])


def test_types_in_capitals_are_read_as_other_providers_write_them():
    [spec] = read(TOOLS["types in capitals"])
    assert spec.parameters == {
        "type": "object",
        "properties": {"type": {"type": "string", "enum": ["STRING"]}},
        "anyOf": [{"type": "null"}],
    }


def test_tools_of_ours_are_declared_together_with_json_schemas():
    schema = '{"type":"object","additionalProperties":false}'
    specs = (
        ToolSpec("read", "Reads.", schema),
        openai_chat.tool_from_dict({"type": "web_search", "filters": {}}),
        ToolSpec("run"),
    )
    assert request_to_body(LLMRequest((), specs))["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "read",
                    "description": "Reads.",
                    "parametersJsonSchema": {"type": "object", "additionalProperties": False},
                },
                {"name": "run"},
            ]
        }
    ]


def test_what_gemini_runs_is_no_function_to_other_formats():
    [search] = read([{"googleSearch": {}}])
    assert search.name == "googleSearch"
    assert openai_chat.tool_to_dict(search) == {"type": "googleSearch"}
