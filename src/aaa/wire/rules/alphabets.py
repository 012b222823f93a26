"""What ids of calls and names of tools are made of, by provider."""

import re

from aaa.wire.rules.call_ids import CallIds, nine_letters, readable

__all__ = [
    "IDS_AT_ALL",
    "IDS_OF_ANTHROPIC",
    "IDS_OF_BEDROCK",
    "IDS_OF_MISTRAL",
    "IDS_OF_RESPONSES",
    "IDS_UP_TO_40",
    "NAMES_OF_COHERE",
    "NAMES_OF_GEMINI",
    "NAMES_UP_TO_64",
    "NAMES_UP_TO_128",
]

IDS_AT_ALL = CallIds(re.compile(r".+", re.DOTALL), readable)
IDS_UP_TO_40 = CallIds(re.compile(r".{1,40}", re.DOTALL), readable)
IDS_OF_RESPONSES = CallIds(re.compile(r".{1,64}", re.DOTALL), readable)
IDS_OF_ANTHROPIC = CallIds(re.compile(r"[a-zA-Z0-9_-]+"), readable)
IDS_OF_BEDROCK = CallIds(re.compile(r"[a-zA-Z0-9_-]{1,64}"), readable)
IDS_OF_MISTRAL = CallIds(re.compile(r"[a-zA-Z0-9]{9}"), nine_letters)

NAMES_UP_TO_64 = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAMES_UP_TO_128 = re.compile(r"[a-zA-Z0-9_-]{1,128}")
NAMES_OF_COHERE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NAMES_OF_GEMINI = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")  # google-genai 3.6, FunctionDeclaration.name
