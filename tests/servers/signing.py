"""Opaque strings that only a server of the same account can read: signatures of thinking, encrypted reasoning.

They carry what they vouch for, so that a server started later accepts what an earlier one issued, as a provider does.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

__all__ = ["Signer", "digest"]


_TO_STANDARD = str.maketrans("-_", "+/")  # some clients write bytes in the alphabet for URLs


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Signer:
    """Seals claims for one account; `accepts_foreign` lets through what another sealed, unread."""

    def __init__(self, account: str, *, accepts_foreign: bool = False) -> None:
        self.accepts_foreign = accepts_foreign
        self._secret = f"secret of {account}".encode()

    def seal(self, **claims: str) -> str:
        payload = json.dumps(claims, sort_keys=True).encode()
        return base64.b64encode(self._mark(payload) + payload).decode()

    def open(self, sealed: Any) -> dict[str, str] | None:
        """The claims, or None if this account did not seal them."""
        try:
            data = base64.b64decode(sealed.translate(_TO_STANDARD), validate=True)
        except (AttributeError, ValueError):
            return None
        mark, payload = data[:16], data[16:]
        return json.loads(payload) if hmac.compare_digest(mark, self._mark(payload)) else None

    def _mark(self, payload: bytes) -> bytes:
        return hmac.digest(self._secret, payload, "sha256")[:16]
