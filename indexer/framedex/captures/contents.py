"""Digests of a capture's binaries, stored in a file next to its streams.

They prove that a rewritten or moved file has the recorded content. The recorder only samples a binary, because reading
all of it would delay the program. So `framedex run` reads the whole binary after the program has ended, if the file
state is still the recorded one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from framedex.captures.unreadable import raise_if_failing
from framedex.model import BinaryState
from framedex.nativepart import _native
from framedex.regularfile import read_regular_text

CONTENTS_FILE = "contents.json"
_FORMAT = "framedex-contents"


def write_contents(capture: Path, digest_of: Callable[[Path, BinaryState], str]) -> None:
    """Write the digests of the binaries in the capture of a finished program.

    `digest_of` returns the digest of a file, empty if the file is no longer in this state. Raises OSError if writing
    fails.
    """
    digests = {}
    for path, *_, file in _native.read_modules(os.fsencode(capture)):
        state = BinaryState(*file)
        if any(file) and (digest := digest_of(Path(path), state)):
            digests[_key(path, state)] = digest
    unfinished = capture / f"{CONTENTS_FILE}.tmp"
    unfinished.write_text(json.dumps({"format": _FORMAT, "sha256": digests}) + "\n", encoding="utf-8")
    unfinished.replace(capture / CONTENTS_FILE)


def read_contents(capture: Path) -> Mapping[str, str]:
    """The stored digests, for `content_of`; empty if missing or malformed.

    Raises SystemLimitError or UnreadableCaptureError if the system fails to read them.
    """
    try:
        document = json.loads(read_regular_text(capture / CONTENTS_FILE))
        entries: Iterable[tuple[object, object]] = document["sha256"].items()
    except OSError as error:
        raise_if_failing(capture / CONTENTS_FILE, error)
        return {}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def content_of(contents: Mapping[str, str], path: str, state: BinaryState | None) -> str:
    """The digest of a binary in its recorded state; empty if unknown."""
    return contents.get(_key(path, state), "") if state is not None else ""


def _key(path: str, state: BinaryState) -> str:
    return f"{state.size} {state.inode} {state.modified_ns} {state.changed_ns} {os.fsencode(path).hex()}"
