"""Files in a capture's folder beside its streams: programs, sources, buffers, binary digests, and notebook cells.

The names of programs, source files and buffers are digests of their content. The digests of binaries prove that a
rewritten or moved file has the recorded content. The recorder only samples a binary, because reading all of it would
delay the program. So `framedex run` reads whole binaries after the program has ended, if their file states are
unchanged.

Notebook cells are stored because the file names in their code objects are not real files. The folder `cells/` has a
file for each cell: `In[3].py` or, if the notebook is known, `train.ipynb.In[3].py`. `names.json` maps recorded names to
these files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.base.nativepart import _native
from framedex.base.regularfile import open_regular, read_regular_text
from framedex.captures.metadata import read_metadata
from framedex.captures.state import raise_if_disk_failed
from framedex.model import BinaryState

SOURCE = "source"
"""The kind of source file descriptions."""

_BYTECODE = b"ML\xefR"  # the magic bytes of MLIR bytecode
_CONTENT_NAME = re.compile(r"[0-9a-f]{16}-([0-9a-f]{1,8})")


def read_stored_program(capture: Path, name: str) -> bytes | None:
    """The compiled program of this name; None if it is missing or its content has changed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read it.
    """
    return _read_stored_file(capture / _native.PROGRAMS, name)


def read_stored_source(capture: Path, name: str) -> bytes | None:
    """The source file of this name; None if it is missing or its content has changed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read it.
    """
    return _read_stored_file(capture / _native.SOURCES, name)


def read_stored_buffer(capture: Path, name: str) -> bytes | None:
    """The content of a buffer of this name; None if it is missing or has changed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read it.
    """
    return _read_stored_file(capture / _native.BUFFERS, name)


def list_stored_programs(capture: Path) -> set[str]:
    """The names of the programs that a process passed to the runtime so far; empty if they are unreadable."""
    try:
        files = list((capture / _native.PROGRAMS).iterdir())
        return {each.name for each in files if _CONTENT_NAME.fullmatch(each.name) and _is_bytecode(each)}
    except OSError:
        return set()


def _is_bytecode(path: Path) -> bool:
    """Whether a stored file is a program in MLIR's bytecode, not options or a note."""
    with open_regular(path) as file:
        return file.read(len(_BYTECODE)) == _BYTECODE


def stored_program_path(capture: Path, name: str) -> Path:
    """The path of a compiled program, or of its options, in a capture's folder."""
    return capture / _native.PROGRAMS / name


def write_stored_program(capture: Path, content: bytes) -> str:
    """Store a program or its options in a capture's folder, and return the name of the file."""
    return _write_stored_file(capture / _native.PROGRAMS, content)


def write_stored_buffer(capture: Path, content: bytes) -> str:
    """Store the content of a buffer in a capture's folder, and return the name of the file."""
    return _write_stored_file(capture / _native.BUFFERS, content)


def _write_stored_file(folder: Path, content: bytes) -> str:
    name = content_name(content)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return name


def _read_stored_file(folder: Path, name: str) -> bytes | None:
    if (size := read_content_size(name)) is None:
        return None
    path = folder / name
    try:
        with open_regular(path) as file:
            content = file.read(size + 1)
    except OSError as error:
        raise_if_disk_failed(path, error)
        return None
    return content if len(content) == size and matches_content_name(content, name) else None


def matches_content_name(content: bytes, name: str) -> bool:
    """Whether bytes match the name of a stored file, by size and checksum."""
    return content_name(content) == name


def read_content_size(name: str) -> int | None:
    """The size in bytes in the name of a stored file; None if it is not such a name."""
    match = _CONTENT_NAME.fullmatch(name)
    return None if match is None else int(match[1], 16)


def content_name(content: bytes) -> str:
    """The name under which these bytes are stored."""
    return _native.content_name(content)


DIGESTS_FILE = "contents.json"
_DIGESTS_FORMAT = "framedex-contents"


def write_digests(capture: Path, digest_of: Callable[[Path, BinaryState], str]) -> None:
    """Write the digests of the binaries in the capture of a finished program.

    `digest_of` returns the digest of a file, empty if the file is no longer in this state. Raises OSError if writing
    fails.
    """
    digests = {}
    for path, *_, file in _native.read_modules(os.fsencode(capture)):
        state = BinaryState(*file)
        if any(file) and (digest := digest_of(Path(path), state)):
            digests[_binary_key(path, state)] = digest
    temporary_path = capture / f"{DIGESTS_FILE}.tmp"
    temporary_path.write_text(json.dumps({"format": _DIGESTS_FORMAT, "sha256": digests}) + "\n", encoding="utf-8")
    temporary_path.replace(capture / DIGESTS_FILE)


def read_digests(capture: Path) -> Mapping[str, str]:
    """The stored digests, for `find_digest`; empty if missing or malformed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read them.
    """
    try:
        document = json.loads(read_regular_text(capture / DIGESTS_FILE))
        entries: Iterable[tuple[object, object]] = document["sha256"].items()
    except OSError as error:
        raise_if_disk_failed(capture / DIGESTS_FILE, error)
        return {}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def find_digest(digests: Mapping[str, str], path: str, state: BinaryState | None) -> str:
    """The digest of a binary in its recorded state; empty if unknown."""
    return digests.get(_binary_key(path, state), "") if state is not None else ""


def _binary_key(path: str, state: BinaryState) -> str:
    return f"{state.size} {state.inode} {state.modified_ns} {state.changed_ns} {os.fsencode(path).hex()}"


_CELLS_FOLDER = "cells"
_CELL_NAMES = "names.json"
_CELL_FILE = re.compile(r"(?:[^/\0]{1,100}\.)?In\[\d{1,9}\](?:-\d{1,9})?\.py")
_UNSAFE_NAME_CHARACTERS = re.compile(r"[^\w. +@-]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it ran: the file name in its code objects, its name in the notebook (`In[3]`), and its text.

    `notebook` is the file name of the notebook, empty if unknown.
    """

    recorded_name: str
    name: str
    text: str
    notebook: str = ""


def write_cells(capture: Path, cells: Sequence[Cell]) -> None:
    """Store cells in a capture, replacing its previous cells. Raises OSError.

    The files get the time of the recording: a newer file would count as changed since.
    """
    began = read_metadata(capture).started_unix_ns or 0
    folder = capture / _CELLS_FOLDER
    folder.mkdir(exist_ok=True)
    names: dict[str, str] = {}
    for cell in cells:
        notebook = _UNSAFE_NAME_CHARACTERS.sub("_", cell.notebook)[-100:]
        name = f"{notebook}.{cell.name}" if notebook else cell.name
        file = f"{name}.py"
        if file in names.values():  # code run outside the notebook's own cells has the number of the next cell
            file = f"{name}-{len(names)}.py"
        names[cell.recorded_name] = file
        (folder / file).write_text(cell.text, "utf-8", errors="surrogateescape")
        os.utime(folder / file, ns=(began, began))
    (folder / _CELL_NAMES).write_text(json.dumps(names))


def read_cells(capture: Path) -> dict[str, str]:
    """The paths of the stored cells, by file name in code objects; empty if `names.json` is missing or damaged."""
    folder = capture / _CELLS_FOLDER
    try:
        names = json.loads(read_regular_text(folder / _CELL_NAMES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(names, dict):
        return {}
    kept = {name: file for name, file in names.items() if isinstance(file, str) and _CELL_FILE.fullmatch(file)}
    return {name: os.fspath(folder / file) for name, file in kept.items()}
