"""What is written to the tables, as functions of a connection that stands in a transaction.

A function that raises has perhaps written a part: the writer undoes it.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence

from aaa.errors import ConflictError, SupersededError, UnknownRunError
from aaa.runtime.stores.encoding import Row, is_storable
from aaa.runtime.stores.status import RUNNING

__all__ = ["BLOB_BYTES", "append_rows", "claim_run", "delete_run", "submit_run"]

# Above this, data goes to its own table, once for equal data. Source: pages of 4 KB overflow either way; what counts
# is that a log can be listed and searched without passing over megabytes.
BLOB_BYTES = 64 * 1024


def submit_run(connection: sqlite3.Connection, run_id: str, row: Row) -> bool:
    """Make the run with its first event; False if it exists."""
    made = connection.execute(
        "INSERT INTO runs (run_id, status, head, epoch, started_at, updated_at) VALUES (?, ?, 1, 0, ?, ?)"
        " ON CONFLICT (run_id) DO NOTHING",
        (run_id, RUNNING, row.at, row.at),
    )
    if not made.rowcount:
        return False
    _insert(connection, run_id, 1, 0, [row])
    return True


def claim_run(connection: sqlite3.Connection, run_id: str, token: int | None) -> int:
    """Raise the epoch and return it."""
    _, epoch = _position(connection, run_id)
    if token is not None and token <= epoch:
        raise SupersededError(run_id, token=token, epoch=epoch)
    new = epoch + 1 if token is None else token
    connection.execute("UPDATE runs SET epoch = ? WHERE run_id = ?", (new, run_id))
    return new


def append_rows(
    connection: sqlite3.Connection,
    run_id: str,
    expected_seq: int,
    *,
    epoch: int | None,
    rows: Sequence[Row],
    status: str | None,
) -> int:
    """Add the rows if head and epoch are as expected, and return the new head."""
    head, current_epoch = _position(connection, run_id)
    if head != expected_seq or epoch not in (None, current_epoch):
        raise ConflictError(run_id, expected_seq=expected_seq, head=head, epoch=epoch, current_epoch=current_epoch)
    if not rows:
        return head
    _insert(connection, run_id, head + 1, current_epoch, rows)
    connection.execute(
        "UPDATE runs SET head = ?, status = COALESCE(?, status), updated_at = ? WHERE run_id = ?",
        (head + len(rows), status, rows[-1].at, run_id),
    )
    return head + len(rows)


def delete_run(connection: sqlite3.Connection, run_id: str) -> bool:
    """Delete the run, its events, and the blobs that no other run uses; False if there is none."""
    if not is_storable(run_id):
        return False
    blobs = connection.execute("SELECT DISTINCT blob FROM events WHERE run_id = ? AND blob IS NOT NULL", (run_id,))
    hashes = blobs.fetchall()
    connection.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
    connection.executemany(
        "DELETE FROM blobs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE blob = ?1)", hashes
    )
    return bool(connection.execute("DELETE FROM runs WHERE run_id = ?", (run_id,)).rowcount)


def _position(connection: sqlite3.Connection, run_id: str) -> tuple[int, int]:
    if not is_storable(run_id):
        raise UnknownRunError(run_id)
    found = connection.execute("SELECT head, epoch FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if found is None:
        raise UnknownRunError(run_id)
    return found


def _insert(connection: sqlite3.Connection, run_id: str, first: int, epoch: int, rows: Sequence[Row]) -> None:
    connection.executemany(
        "INSERT INTO events (run_id, seq, id, epoch, type, at, version, data, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        _columns(connection, run_id, first, epoch, rows),
    )


def _columns(
    connection: sqlite3.Connection, run_id: str, first: int, epoch: int, rows: Sequence[Row]
) -> Iterator[tuple[object, ...]]:
    for seq, row in enumerate(rows, first):
        place = (run_id, seq, row.id, epoch, row.type, row.at, row.version)
        if len(row.data) > BLOB_BYTES:
            yield (*place, None, _keep_blob(connection, row.data))
        else:
            yield (*place, row.data.decode(), None)


def _keep_blob(connection: sqlite3.Connection, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    connection.execute("INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING", (digest, data))
    return digest
