"""Ends of a run that an algorithm can not catch by accident: they are no `Exception`."""

from aaa.runtime.outcome import Status

__all__ = ["RunStop"]


class RunStop(BaseException):
    """The run is over with `status`; `problem` says why, with numbers."""

    def __init__(self, status: Status, problem: str) -> None:
        self.status: Status = status
        self.problem = problem
        super().__init__(problem)
