"""The provider's last word on a prompt's size.

While a prompt only extends the one last sent, its size is what the provider reported for that plus our estimate of
what was added: the estimate's error stays with the new messages.
"""

import msgspec

__all__ = ["Anchor"]


class Anchor(msgspec.Struct, frozen=True):
    """What the provider said about the last prompt sent.

    Of the transcript's first `length` messages, whose digest is `digest`, it made a prompt of `raw` raw tokens, with
    the summary of the first `upto` (0: none), and `reported` is what the provider counted.
    """

    length: int
    digest: str
    upto: int
    raw: int
    reported: int
    model: str | None
    tools_raw: int
