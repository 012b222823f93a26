"""What the Responses server knows of the items it gave out, and when it refuses them in another order.

A reasoning item is bound to the item that came after it: neither is taken without the other, unless the other was
stripped of its id. Items live on in the server only if the response was stored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.servers.openai_checks import invalid
from tests.servers.signing import Signer

__all__ = ["ItemMemory", "encrypted"]

_ANSWERS = {"function_call_output", "custom_tool_call_output", "computer_call_output", "item_reference"}


def encrypted(signer: Signer, id: str) -> str:
    """The encrypted content of the reasoning item `id`."""
    return "gAAAAA" + signer.seal(id=id)


class ItemMemory:
    """Items of stored responses, and which reasoning each item came with."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self._responses: dict[str, list[dict[str, Any]]] = {}
        self._items: dict[str, dict[str, Any]] = {}
        self._reasoning_of: dict[str, str] = {}

    def keep(self, response_id: str, sent: Sequence[dict[str, Any]], output: Sequence[dict[str, Any]]) -> None:
        """Store a response: what led to it, and its items."""
        self._responses[response_id] = [*sent, *output]
        self._items.update((item["id"], item) for item in output)

    def bind(self, output: Sequence[dict[str, Any]]) -> None:
        """Note which items came with which reasoning, stored or not."""
        reasoning = next((item["id"] for item in output if item["type"] == "reasoning"), None)
        if reasoning is not None:
            self._reasoning_of.update((item["id"], reasoning) for item in output if item["id"] != reasoning)

    def before(self, response_id: Any) -> list[dict[str, Any]]:
        if response_id is None:
            return []
        if response_id not in self._responses:
            message = f"Previous response with id '{response_id}' not found."
            raise invalid(message, "previous_response_id", "previous_response_not_found")
        return self._responses[response_id]

    def resolved(self, items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """References replaced by what they name."""
        return [self._stored(item["id"]) if item.get("type") == "item_reference" else item for item in items]

    def _stored(self, id: str) -> dict[str, Any]:
        if id not in self._items:
            raise invalid(
                f"Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with "
                "`store` set to true, or remove this item from your input.",
                "input",
                status=404,
            )
        return self._items[id]

    def check(self, items: Sequence[dict[str, Any]]) -> None:
        _check_unique(items)
        _check_pairing(items)
        self._check_reasoning(items)

    def _check_reasoning(self, items: Sequence[dict[str, Any]]) -> None:
        seen: set[str] = set()
        for index, item in enumerate(items):
            if item.get("type") == "reasoning":
                seen.add(self._check_sealed(item))
                self._check_follower(item, items[index + 1] if index + 1 < len(items) else {})
            else:
                self._check_preceded(item, seen)

    def _check_sealed(self, item: Mapping[str, Any]) -> str:
        """The id of a reasoning item, which its encrypted content knows too."""
        content = item.get("encrypted_content")
        if content is None:
            return self._stored(str(item.get("id")))["id"]
        claims = self._signer.open(content.removeprefix("gAAAAA"))
        if claims is None and self._signer.accepts_foreign:
            return str(item.get("id"))
        if claims is None:
            message = (
                f"The encrypted content {content[:4]}...{content[-4:]} could not be verified. Reason: Encrypted "
                "content could not be decrypted or parsed."
            )
            raise invalid(message, code="invalid_encrypted_content")
        if item.get("id") not in (None, claims["id"]):
            raise invalid(
                f"The encrypted content for item {item['id']} could not be verified. Reason: Encrypted content item_id "
                "did not match the target item id.",
                code="invalid_encrypted_content",
            )
        return claims["id"]

    def _check_follower(self, reasoning: Mapping[str, Any], follower: Mapping[str, Any]) -> None:
        is_output = follower.get("type") not in _ANSWERS and follower.get("role", "assistant") == "assistant"
        owner = self._reasoning_of.get(str(follower.get("id")), reasoning.get("id"))
        if not follower or not is_output or reasoning.get("id") not in (None, owner):
            raise invalid(
                f"Item '{reasoning.get('id')}' of type 'reasoning' was provided without its required following item.",
                "input",
            )

    def _check_preceded(self, item: Mapping[str, Any], seen: set[str]) -> None:
        reasoning = self._reasoning_of.get(str(item.get("id")))
        if reasoning is not None and reasoning not in seen:
            raise invalid(
                f"Item '{item['id']}' of type '{item.get('type', 'message')}' was provided without its required "
                f"'reasoning' item: '{reasoning}'.",
                "input",
            )


def _check_unique(items: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.get("id") is not None:
            if item["id"] in seen:
                raise invalid(
                    f"Duplicate item found with id {item['id']}. Remove duplicate items from your input and try again.",
                    "input",
                )
            seen.add(item["id"])


def _check_pairing(items: Sequence[Mapping[str, Any]]) -> None:
    """Each call has its output somewhere after it, each output its call before it."""
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    called: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            called.add(item["call_id"])
            if item["call_id"] not in answered:
                raise invalid(f"No tool output found for function call {item['call_id']}.", "input")
        elif item.get("type") == "function_call_output" and item["call_id"] not in called:
            message = f"No tool call found for function call output with call_id {item['call_id']}."
            raise invalid(message, "input")
