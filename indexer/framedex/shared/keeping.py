"""Unpacks a shared file in its folder, which makes the folder a capture: writes its metadata and source texts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

from framedex.base.regularfile import read_regular_text
from framedex.base.untrusted import DamagedArchiveError
from framedex.captures import foreign_file, write_foreign_metadata
from framedex.model import ImportOrigin, Metadata
from framedex.shared.archive import ArchiveReader
from framedex.shared.reading import converting_read_errors, read_definitions

EXCERPTS = "excerpts.json"
"""Maps recorded files to their texts below `sources/`, as JSON."""

_FOLDER = "sources"
_NAME = re.compile(r"\w[\w .+-]{0,99}\.\w{1,9}", re.ASCII)


def unpack_shared(folder: Path, foreign: ImportOrigin) -> None:
    """Turn a folder with a shared file into a capture. Raises FramedexError if the file is malformed, and OSError.

    No path in the file becomes a path here. Each text gets a numbered folder, and keeps its file name if that is plain.
    """
    with converting_read_errors(Path(foreign.origin)):
        metadata, texts = _read(foreign_file(folder))
    is_of_samples = metadata.get("is_of_samples") is True
    told = {**metadata, "foreign": asdict(replace(foreign, is_of_samples=is_of_samples))}
    written: dict[str, str] = {}
    for number, (path, text) in enumerate(texts.items()):
        name = path.rpartition("/")[2]
        file = folder / _FOLDER / str(number) / (name if _NAME.fullmatch(name) else "source.py")
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
        file.chmod(0o444)  # a recorded text must not be edited
        written[path] = str(file.relative_to(folder))
    (folder / EXCERPTS).write_text(json.dumps(written), "utf-8")
    write_foreign_metadata(folder, told)


def read_stored_excerpts(folder: Path) -> dict[str, str]:
    """The local copies of recorded files, by recorded path; empty for a capture that is not shared."""
    try:
        told = json.loads(read_regular_text(folder / EXCERPTS))
    except (OSError, ValueError, RecursionError):
        return {}
    return {path: str(folder / file) for path, file in told.items()} if isinstance(told, dict) else {}


def _read(path: Path) -> tuple[dict[str, object], dict[str, bytes]]:
    archive = ArchiveReader(path)
    definitions = read_definitions(archive)
    Metadata.parse(definitions.metadata)
    metadata = json.loads(definitions.metadata)
    if not isinstance(metadata, dict):
        raise DamagedArchiveError("its metadata is malformed")
    if any(source.path < 0 or not source.member.startswith("sources/") for source in definitions.sources):
        raise DamagedArchiveError("one of its source texts has no file")
    contents = archive.read_all(source.member for source in definitions.sources)
    paths = (definitions.paths[source.path] for source in definitions.sources)
    return metadata, {path: content for path, (_, content) in zip(paths, contents, strict=True)}
