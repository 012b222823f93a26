"""The right to drive a database: a lock on a file beside it, which the operating system lets go when the process dies.

`path.lock` says who holds it. It is left in place when the lock is released: deleting it would let two processes hold
locks on two files of one name.
"""

import contextlib
import errno
import os
import socket
import sys
import weakref

from aaa.errors import StoreError, StoreInUseError

__all__ = ["DriveLock"]

_BUSY = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _BYTE = 1 << 30  # beyond the text, which must stay readable: locks are mandatory here

    def _lock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        # flock, not lockf: it excludes a second holder in the same process too.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class DriveLock:
    """Held by at most one object of all processes of this machine."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._path = database + ".lock"
        self._file: int | None = None
        _locks.add(self)

    def acquire(self) -> None:
        """Take the lock, at once or not at all; nothing happens if it is ours.

        Raises:
            StoreInUseError: another holds it.
            StoreError: the file cannot be made, or its file system has no locks.
        """
        if self._file is not None:
            return
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StoreError(f"cannot open the lock file {self._path}: {error.strerror}") from error
        try:
            _lock(file)
            _write(file, f"process {os.getpid()} on {socket.gethostname()}")
        except OSError as error:
            holder = _holder(file)
            os.close(file)
            if error.errno in _BUSY:
                raise StoreInUseError(self._database, holder) from error
            raise StoreError(f"cannot lock {self._path}: {error.strerror}") from error
        self._file = file

    def release(self) -> None:
        """Let go of the lock, if it is ours."""
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError):  # closing releases it anyway
                _write(file, "")
                _unlock(file)
            os.close(file)

    def forget(self) -> None:
        """In a forked child: close the parent's file, which would keep the lock after the parent's death."""
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def _write(file: int, text: str) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.ftruncate(file, 0)
    os.write(file, text.encode())


def _holder(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    holder = os.read(file, 4096).decode(errors="replace")
    if holder == f"process {os.getpid()} on {socket.gethostname()}":
        return f"another store in this process ({os.getpid()})"
    return holder or "another process"


_locks: "weakref.WeakSet[DriveLock]" = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_locks):
        lock.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
