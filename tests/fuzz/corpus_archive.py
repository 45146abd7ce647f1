"""Corpora in the repository: one archive for each fuzz target, `tests/fuzz/corpus/TARGET.zip`.

An input is named after its SHA-1 digest, as libFuzzer does. The same inputs always give the same bytes: names are
sorted, times and modes are fixed, and nothing is compressed. Compressed bytes differ between versions of zlib, and git
compresses stored archives better than compressed ones.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from hashlib import sha1
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"

_FIRST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_REGULAR_FILE_MODE = 0o100644
# zipfile raises all of these for a damaged archive.
_DAMAGE_ERRORS = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, struct.error, zlib.error)


class CorpusError(Exception):
    """A corpus cannot be read, or has no inputs. The message names the remedy."""


def archive_path(target: str) -> Path:
    """Return the path of a target's archive, which may not exist yet."""
    return CORPUS / f"{target}.zip"


def read_inputs(target: str) -> dict[str, bytes]:
    """Return the inputs of a target by name, in the order of their names. A target without an archive has none.

    Raises CorpusError if the archive is damaged.
    """
    path = archive_path(target)
    if not path.exists():
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            return _named(archive.read(entry) for entry in archive.infolist())
    except _DAMAGE_ERRORS as error:
        relative = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path
        raise CorpusError(
            f"{relative} is damaged or truncated ({error}). Restore it: git checkout -- {relative}\n"
            f"If git has no intact copy, delete the file and run: "
            f"python -m tests.fuzz.make_seeds {target} && python -m tests.fuzz --minimise {target}"
        ) from error


def write_inputs(target: str, inputs: Iterable[bytes]) -> None:
    """Replace a target's archive with one of these inputs. An interrupted write leaves the old archive in place."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in _named(inputs).items():
            entry = zipfile.ZipInfo(name, _FIRST_ZIP_TIME)
            entry.create_system = _UNIX
            entry.external_attr = _REGULAR_FILE_MODE << 16
            archive.writestr(entry, data)
    path = archive_path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".zip.tmp")
    temporary.write_bytes(buffer.getvalue())
    temporary.replace(path)


def unpack_inputs(target: str, folder: Path) -> None:
    """Add the inputs of a target to a folder, one file for each. The folder is created if necessary.

    Raises CorpusError if the archive is damaged; no file is written then.
    """
    inputs = read_inputs(target)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs.items():
        (folder / name).write_bytes(data)


def _named(inputs: Iterable[bytes]) -> dict[str, bytes]:
    """Return each distinct input once, by name and in the order of the names."""
    return dict(sorted((sha1(data, usedforsecurity=False).hexdigest(), data) for data in inputs))
