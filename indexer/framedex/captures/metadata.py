"""The metadata of a capture folder. A folder is a capture if it has metadata of a supported version.

`framedex run` adds the exit status or the signal after the program has ended, because a program may be killed at any
instruction. An imported capture is a folder with the unchanged file of another recorder, and generated metadata.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.nativepart import _native
from framedex.base.regularfile import read_regular_text
from framedex.base.words import signal_name
from framedex.model import ImportOrigin, Metadata


def read_metadata(path: Path) -> Metadata:
    """The metadata of the capture in folder `path`.

    Raises FramedexError if the folder is not a capture or its version is unsupported.
    """
    file = path / _native.METADATA_FILE
    try:
        metadata = Metadata.parse(read_regular_text(file))
    except FileNotFoundError:
        raise FramedexError(
            f"{path} is not a capture: it has no {_native.METADATA_FILE}.",
            "Name a folder that framedex recorded into, for example one below .framedex/captures.",
        ) from None
    except OSError as error:
        raise FramedexError(
            f"{file} cannot be read: {error.strerror or error}.",
            "Check the permissions of the folder and of the files in it, then run `framedex index` again.",
        ) from None
    except ValueError as error:
        raise FramedexError(f"{file} cannot be read: {error}.", "Record the program again.") from None
    if metadata.format != _native.FORMAT:
        raise FramedexError(f"{path} is not a framedex capture.", "Name a folder that framedex recorded into.")
    if metadata.version not in _native.FORMAT_VERSIONS:
        readable = f"{_native.FORMAT_VERSIONS[0]} to {_native.FORMAT_VERSIONS[-1]}"
        written = "no capture format" if metadata.version is None else f"capture format {metadata.version}"
        raise FramedexError(
            f"{path} has {written}; this framedex reads {readable}.",
            "Read it with the framedex that recorded it, or record the program again.",
        )
    return metadata


END_FILE = "end.json"
_END_FORMAT = "framedex-end"


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """The end of a program: its exit status, or the name of the signal that killed it, and the time on both clocks.

    Each is None if unknown, as in captures recorded by earlier framedex versions.
    """

    status: int | None
    signal: str | None
    ended_unix_ns: int | None
    ended_clock_ns: int | None

    @property
    def text(self) -> str:
        """The end in words, such as `was killed by SIGKILL`; empty if unknown."""
        if self.signal is not None:
            return f"was killed by {self.signal}"
        return "" if self.status is None else f"exited with status {self.status}"


def write_program_end(capture: Path, status: int) -> None:
    """Write that the capture's program has just ended. Raises OSError if writing fails.

    `status` is the exit status, or the negative number of the signal that killed the program.
    """
    how = {"status": status} if status >= 0 else {"signal": signal_name(-status)}
    end = {
        "format": _END_FORMAT,
        **how,
        "ended_unix_ns": time.time_ns(),
        "ended_clock_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC),
    }
    temporary_path = capture / f"{END_FILE}.tmp"
    temporary_path.write_text(json.dumps(end) + "\n", encoding="utf-8")
    temporary_path.replace(capture / END_FILE)


def read_program_end(capture: Path) -> ProgramEnd | None:
    """The end of the capture's program; None if missing or malformed."""
    try:
        end = json.loads(read_regular_text(capture / END_FILE))
        signal = end.get("signal")
        numbers = [end.get(key) for key in ("status", "ended_unix_ns", "ended_clock_ns")]
    except (OSError, ValueError, RecursionError, AttributeError):
        return None
    status, ended_unix_ns, ended_clock_ns = (number if type(number) is int else None for number in numbers)
    signal = signal if isinstance(signal, str) and signal else None
    return ProgramEnd(status, signal, ended_unix_ns, ended_clock_ns)


def read_end_signal(capture: Path) -> str | None:
    """The name of the signal that killed the capture's program; None if it exited or if unknown."""
    end = read_program_end(capture)
    return end.signal if end is not None else None


def add_program_end(metadata: Metadata, end: ProgramEnd | None, *, has_all_calls: bool) -> Metadata:
    """The metadata with the signal that killed the program, which is also added to the text that the index stores.

    If all calls until its end were recorded, the text also has `ended_after_ns`, the time since the recording began.
    Unfinished calls and waits lasted until then.
    """
    if end is None:
        return metadata
    added: dict[str, object] = {} if end.signal is None else {"ended_by": end.signal}
    if has_all_calls and end.ended_clock_ns is not None and metadata.started_clock_ns is not None:
        added["ended_after_ns"] = end.ended_clock_ns - metadata.started_clock_ns
    return replace(metadata, ended_by=end.signal, text=json.dumps({**json.loads(metadata.text), **added}))


_FOREIGN_FILE = "foreign"
"""The fixed name of the imported file: its original name could be special to the operating system or to framedex."""


def foreign_file(folder: Path) -> Path:
    """The path of the imported file in a capture's folder."""
    return folder / _FOREIGN_FILE


def write_foreign(folder: Path, foreign: ImportOrigin, started_unix_ns: int) -> None:
    """Turn a folder with `foreign_file` into a capture that starts at `started_unix_ns`. Raises OSError.

    The program's command is `imported FORMAT FILE`, which marks the capture as imported wherever the command is shown.
    """
    metadata = {
        "started_unix_ns": started_unix_ns,
        "argv": ["imported", foreign.format, foreign.origin.rpartition("/")[2]],
        "foreign": asdict(foreign),
    }
    write_foreign_metadata(folder, metadata)


def write_foreign_metadata(folder: Path, fields: Mapping[str, object]) -> None:
    """Turn a folder into a capture with this metadata, in the current version of the format. Raises OSError."""
    metadata = {**fields, "format": _native.FORMAT, "version": _native.FORMAT_VERSIONS[-1]}
    (folder / _native.METADATA_FILE).write_text(json.dumps(metadata, indent=1), "utf-8")
