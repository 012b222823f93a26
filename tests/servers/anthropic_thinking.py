"""Anthropic's signed thinking: what is issued, and when what comes back is refused or dropped.

A signature vouches for the text of its block and, where thinking is bound, for everything before it: system, tools,
and every earlier block, thinking included. That is on the strict side: one thinking block left out breaks the later
ones, whichever it was. Source: Claude documentation, "Preserved thinking" and "Prefix checks", November 2026.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.servers.anthropic_blocks import invalid, text_blocks
from tests.servers.counting import rendered
from tests.servers.replies import Reply
from tests.servers.signing import Signer, digest

__all__ = ["BINDING_BETA", "ThinkingGuard"]

BINDING_BETA = "thinking-binding-controls-2026-08-01"
_THINKING = ("thinking", "redacted_thinking")


class ThinkingGuard:
    """Signs thinking blocks, and reads them when they come back."""

    def __init__(self, signer: Signer, binds: bool) -> None:
        self._signer = signer
        self._binds = binds
        self._issued: dict[str, list[dict[str, Any]]] = {}  # by the id of each tool call that came with them

    def blocks(self, body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
        """The thinking of a reply, signed; none if the request turned thinking off."""
        if reply.thinking is None or (body.get("thinking") or {}).get("type") == "disabled":
            return []
        *_, prefix = [self._start(body), *(after for *_, after in self._walk(body))]
        claims = {"text": digest(reply.thinking), "prefix": prefix}
        if reply.is_redacted:
            return [{"type": "redacted_thinking", "data": self._signer.seal(kind="redacted", **claims)}]
        signature = self._signer.seal(kind="thinking", **claims)
        return [{"type": "thinking", "thinking": reply.thinking, "signature": signature}]

    def remember(self, blocks: Sequence[dict[str, Any]]) -> None:
        """Note which thinking came with which calls."""
        thinking = [block for block in blocks if block["type"] in _THINKING]
        self._issued.update((block["id"], thinking) for block in blocks if block["type"] == "tool_use")

    def check(self, body: dict[str, Any], betas: str) -> list[dict[str, str]]:
        """The blocks that are dropped from what the model sees, as `input_transformations`."""
        drops = self._drops(body, betas)
        latest = max((i for i, m in enumerate(body["messages"]) if m["role"] == "assistant"), default=-1)
        self._check_latest(body, latest)
        dropped: list[dict[str, str]] = []
        before = self._start(body)
        for index, number, block, after in self._walk(body):
            if block["type"] in _THINKING and not self._is_bound_here(block, (index, number), before, latest):
                path = f"messages.{index}.content.{number}"
                if not drops:
                    raise invalid(
                        f"{path}: Invalid `{_seal_key(block)}` in `{block['type']}` block. The block is bound to a "
                        "different conversation. Remove the block, or set "
                        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
                    )
                dropped.append({"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"})
            before = after
        return dropped

    @staticmethod
    def _drops(body: dict[str, Any], betas: str) -> bool:
        thinking = body.get("thinking") or {}
        if "block_binding" in thinking and BINDING_BETA not in betas:
            raise invalid(f"thinking.{thinking.get('type')}.block_binding: Extra inputs are not permitted")
        return (thinking.get("block_binding") or {}).get("prefix_mismatch_behavior") == "drop_block"

    def _is_bound_here(self, block: dict[str, Any], at: tuple[int, int], prefix: str, latest: int) -> bool:
        path = f"messages.{at[0]}.content.{at[1]}"
        claims = self._signer.open(block[_seal_key(block)])
        if claims is None and self._signer.accepts_foreign:
            return True
        if claims is None or (block["type"] == "thinking") != (claims["kind"] == "thinking"):
            raise invalid(f"{path}: Invalid `{_seal_key(block)}` in `{block['type']}` block")
        if block["type"] == "thinking" and claims["text"] != digest(block["thinking"]):
            if at[0] == latest:
                raise _modified(path)
            raise invalid(f"{path}: Invalid `signature` in `thinking` block")
        return not self._binds or claims["prefix"] == prefix

    def _check_latest(self, body: dict[str, Any], latest: int) -> None:
        """While a tool turn is open, its thinking is all there, at its beginning and as it was."""
        if latest < 0 or not _answers_tools(body["messages"][latest + 1 :]):
            return
        blocks = text_blocks(body["messages"][latest]["content"])
        if (body.get("thinking") or {}).get("type") == "enabled" and blocks[0]["type"] not in _THINKING:
            raise invalid(
                f"messages.{latest}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
                "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you "
                "include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
            )
        issued = next(
            (self._issued[b["id"]] for b in blocks if b["type"] == "tool_use" and b["id"] in self._issued), []
        )
        returned = [block for block in blocks if block["type"] in _THINKING]
        if issued and returned and returned != issued:
            raise _modified(f"messages.{latest}.content.0")

    def _start(self, body: dict[str, Any]) -> str:
        head = [body.get("tools") or [], text_blocks(body.get("system") or [])]
        return digest(rendered(head)) if self._binds else ""

    def _walk(self, body: dict[str, Any]) -> Iterator[tuple[int, int, dict[str, Any], str]]:
        """Every block as (message, number, block, digest of everything up to and with it, where that is bound)."""
        before = self._start(body)
        for index, message in enumerate(body["messages"]):
            for number, block in enumerate(text_blocks(message["content"])):
                before = digest(before + rendered([message["role"], block])) if self._binds else ""
                yield index, number, block, before


def _modified(path: str) -> Exception:
    return invalid(
        f"{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These "
        "blocks must remain as they were in the original response."
    )


def _seal_key(block: dict[str, Any]) -> str:
    return "signature" if block["type"] == "thinking" else "data"


def _answers_tools(messages: Sequence[dict[str, Any]]) -> bool:
    return any(block["type"] == "tool_result" for m in messages for block in text_blocks(m["content"]))
