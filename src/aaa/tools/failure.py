"""What a tool raises to tell the model that, and why, it did not do what was asked."""

__all__ = ["ToolFailure"]


class ToolFailure(Exception):
    """The model reads `message` as it is; `kind` is recorded as the type of the error.

    Any other exception is told to the model with the name of its class in front.
    """

    def __init__(self, message: str, *, kind: str = "ToolFailure") -> None:
        self.message = message
        self.kind = kind
        super().__init__(message)
