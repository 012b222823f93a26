"""Recorded conversations and provider bodies from the `shared` folder beside the repository, where there is one.

They are no part of the repository: a test that needs them is skipped where they are missing. Tests take a sample;
with the environment variable AAA_ALL_DATA set they take everything.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["data_folder", "sample_step", "trajectories", "wire_bodies"]

_SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def data_folder(name: str) -> Path:
    """The folder `shared/data/<name>`; the calling test is skipped where it is absent."""
    folder = _SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip(f"needs recorded data: no folder ../shared/data/{name} beside the repository")
    return folder


def sample_step(step: int) -> int:
    """Every how many items a test takes: `step`, or 1 where all data was asked for."""
    return 1 if os.environ.get("AAA_ALL_DATA") else step


def trajectories(every: int = 1) -> Iterator[dict[str, Any]]:
    """Recorded conversations: `id`, `messages` in the OpenAI chat format, `tools`, `usage`; of each file every n-th."""
    for path in sorted(data_folder("trajectories").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % every == 0:
                    yield json.loads(line)


def wire_bodies(api: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Recorded exchanges of one API as (file name, exchange): `request` and `response` with a `body` or a stream."""
    for path in sorted(data_folder("wire").glob("*.json")):
        exchange = json.loads(path.read_text(encoding="utf-8"))
        if exchange.get("api") == api:
            yield path.name, exchange
