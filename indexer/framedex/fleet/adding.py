"""Captures into a store: each there with all that its calls refer to or not at all, and once however often it is added.

All files but one only matter once that one is there: the capture's own, which is written last. Their names follow from
what they hold, so who adds the same again, or at the same time, writes the same. docs/fleet.md has the whole of it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex import words
from framedex.captures import CaptureStream, capture_state, is_being_written, read_metadata
from framedex.errors import FramedexError
from framedex.fleet.calls import CallsFile
from framedex.fleet.committed import Committed, read_committed
from framedex.fleet.identities import id_of
from framedex.fleet.libraries import pa, parquet
from framedex.fleet.naming import Names
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import captures_in, part_of
from framedex.fleet.rows import Row, StackTables
from framedex.fleet.schema import CALL_KINDS, CAPTURES, FRAMES, STACKS
from framedex.index.file.values import storable
from framedex.missing import all_problems

if TYPE_CHECKING:
    from framedex.fleet.place import Place
    from framedex.progress import Progress

CALLS_AT_ONCE = 1 << 17
"""Calls that are read at once, which are a group of rows in the file: some 40 MB."""


@dataclass(frozen=True, slots=True)
class Added:
    """A capture that is in the store now. `is_new`: it was not before, or with fewer calls.

    `problems` are sentences: what it lacks, and which frames that it brought have no names here.
    """

    path: Path
    origin: Origin
    calls: int
    stacks: int
    is_new: bool
    problems: tuple[str, ...] = ()


def add_captures(
    place: Place, captures: Sequence[Path], names: Names, progress: Progress
) -> Iterator[tuple[Path, Added | FramedexError]]:
    """Add captures one after the other; those that cannot be added come with the reason.

    Raises FramedexError where there is no store, and none can be made.
    """
    place.begin()
    with (
        tempfile.TemporaryDirectory(prefix="framedex-fleet-") as folder,
        progress.task("Adding captures", len(captures)) as advance,
    ):
        adding = Adding(place, names, Path(folder))
        for path in captures:
            added = adding.added(path)
            advance(1, calls=added.calls if isinstance(added, Added) else 0)
            yield path, added


class Adding:
    """What adding several captures has in common: names of frames, and what the store is known to have.

    `folder` is for files that are being written.
    """

    def __init__(self, place: Place, names: Names, folder: Path) -> None:
        self._place = place
        self._names = names
        self._folder = folder
        self._known: dict[str, set[str]] = {}
        self._cleaned: set[str] = set()

    def added(self, path: Path) -> Added | FramedexError:
        """Add a capture; the reason where it cannot be added."""
        try:
            return self.add(path)
        except FramedexError as error:
            return error
        except OSError as error:
            kept = f"What is kept in {tempfile.gettempdir()} meanwhile"
            said = error.strerror or str(error)
            return FramedexError(f"{kept} could not be written: {said}.", "Set TMPDIR to a folder with more room.")

    def add(self, path: Path) -> Added:
        """Add a capture. Raises FramedexError where it cannot be read, or the store not be written."""
        metadata = read_metadata(path)
        if metadata.foreign is not None:
            raise FramedexError(
                f"{path} is not a recording of framedex's own, but the copy of an imported file.",
                "Add the captures of your own recordings: `framedex run SCRIPT` makes them.",
            )
        if is_being_written(path, metadata):
            raise FramedexError(f"{path} is still being written.", "Add it when its program has ended.")
        state = capture_state(path)
        origin = Origin.of(metadata)
        name = f"{captures_in(origin.day)}/{origin.capture}.parquet"
        before = read_committed(self._place, name)
        if before is not None and before.signature == state.signature:
            return Added(path, origin, before.calls, before.stacks, is_new=False)
        return self._write(path, origin, state.signature, name, before)

    def _write(self, path: Path, origin: Origin, signature: str, name: str, before: Committed | None) -> Added:
        place, partition = self._place, part_of(origin)
        stream = CaptureStream(path)
        if before is not None and before.calls > stream.calls:
            raise FramedexError(
                f"{path} has {words.count(stream.calls, 'call')}; the store has this capture already, with"
                f" {before.calls:,}.",
                "It was cut short since, or is another one that claims to be the same. What the store has stays.",
            )
        named, unnamed = self._names.of(stream.capture)
        tables = StackTables(stream.capture, named)
        calls, kinds = self._folder / "calls.parquet", self._folder / "call_kinds.parquet"
        file = CallsFile(calls, origin, stream.capture, tables.ids)
        _read_all(stream, file)
        _write_table(kinds, CALL_KINDS, file.kinds())
        self._put_new(f"frames/{partition}", FRAMES, tables.frames(), "description")
        self._put_new(f"stacks/{partition}", STACKS, {key: [row] for key, row in tables.stacks().items()}, "id")
        part = f"{origin.capture}-{id_of(signature)[:8]}.parquet"
        place.put(f"call_kinds/{partition}/{part}", kinds)
        place.put(f"calls/{partition}/{part}", calls)
        problems = all_problems(stream.stops, tuple(dict.fromkeys((*stream.capture.problems, *stream.problems))))
        row = _capture_row(stream, origin, file.misuse, problems)
        committed = self._folder / "capture.parquet"
        _write_table(committed, CAPTURES, [row | {"signature": signature, "part": f"{partition}/{part}"}])
        place.put(name, committed)
        if before is not None and before.part != f"{partition}/{part}":
            place.remove(f"calls/{before.part}")
            place.remove(f"call_kinds/{before.part}")
        for folder in {captures_in(origin.day), *(f"{table}/{partition}" for table in _TABLES)} - self._cleaned:
            place.clean(folder)
            self._cleaned.add(folder)
        return Added(path, origin, stream.row, len(stream.capture.stacks), is_new=True, problems=(*problems, *unnamed))

    def _put_new(self, folder: str, schema: Any, rows: dict[str, list[Row]], key: str) -> None:
        """Put the rows that the store does not have into a file whose name is a hash of what it holds."""
        known = self._known_in(folder, key)
        new = sorted(rows.keys() - known)
        if not new:
            return
        file = self._folder / "rows.parquet"
        _write_table(file, schema, [row for each in new for row in rows[each]])
        self._place.put(f"{folder}/{id_of(*new)}.parquet", file)
        known.update(new)

    def _known_in(self, folder: str, key: str) -> set[str]:
        """The keys of the rows that a folder had when it was looked at first, and of those put there since."""
        if folder not in self._known:
            found: set[str] = set()
            for name in self._place.names(folder):
                found |= set(_column(self._place, name, key))
            self._known[folder] = found
        return self._known[folder]


def _read_all(stream: CaptureStream, file: CallsFile) -> None:
    """Write all calls of a capture."""
    with file:
        while stream.row < stream.calls:
            batch = stream.next(CALLS_AT_ONCE)
            if not len(batch):  # the capture was cut off meanwhile
                break
            file.add(batch)


_TABLES = ("frames", "stacks", "call_kinds", "calls")


def _column(place: Place, name: str, key: str) -> list[str]:
    """A column of texts of a file; nothing where it is none of a store's: queries say so."""
    content = place.read(name)
    try:
        table = parquet.read_table(pa.BufferReader(content or b""), columns=[key], partitioning=None)
        return [str(value) for value in table.column(key).to_pylist()]
    except (pa.ArrowException, KeyError, OSError):
        return []


def _write_table(path: Path, schema: Any, rows: list[Row]) -> None:
    table = pa.Table.from_pylist(rows, schema)
    parquet.write_table(table, path, compression="zstd", store_schema=False)


def _capture_row(stream: CaptureStream, origin: Origin, misuse: dict[str, int], problems: Sequence[str]) -> Row:
    metadata = stream.capture.metadata
    packages = {} if metadata.launch is None else dict(metadata.launch.packages)
    return {
        "capture": origin.capture,
        "day": origin.day,
        "job": storable(origin.job),
        "rank": origin.rank,
        "host": storable(metadata.host or ""),
        "pid": metadata.pid,
        "started": origin.began,
        "command": storable(" ".join(metadata.argv)),
        "path": storable(str(stream.capture.path.absolute())),
        "calls": stream.row,
        "stacks": len(stream.capture.stacks),
        "misuse": json.dumps(misuse, sort_keys=True),
        "problems": json.dumps(list(problems)),
        "packages": json.dumps(packages, sort_keys=True),
        "metadata": storable(metadata.text),
    }
