"""Makes the folder that a shared file was copied into a capture: its metadata, and the texts that it has of sources."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

from framedex.captures import foreign_file, write_foreign_metadata
from framedex.model import Foreign, Metadata
from framedex.regularfile import read_regular_text
from framedex.shared.archive import Archive, DamagedError
from framedex.shared.reading import read_definitions, refusing

EXCERPTS = "excerpts.json"
"""Which files below `sources/` hold what of which recorded files."""

_FOLDER = "sources"
_NAME = re.compile(r"\w[\w .+-]{0,99}\.\w{1,9}", re.ASCII)


def keep_shared(folder: Path, foreign: Foreign) -> None:
    """Make a folder that has the shared file a capture. Raises FramedexError where the file is refused, and OSError.

    No name in the file is a path here: a text lies below a number, and has the name of its file where that is plain.
    """
    with refusing(Path(foreign.origin)):
        metadata, texts = _read(foreign_file(folder))
    is_of_samples = metadata.get("is_of_samples") is True
    told = {**metadata, "foreign": asdict(replace(foreign, is_of_samples=is_of_samples))}
    written: dict[str, str] = {}
    for number, (path, text) in enumerate(texts.items()):
        name = path.rpartition("/")[2]
        file = folder / _FOLDER / str(number) / (name if _NAME.fullmatch(name) else "source.py")
        file.parent.mkdir(parents=True)
        file.write_bytes(text)
        file.chmod(0o444)  # it is what was recorded, and nobody's to edit
        written[path] = str(file.relative_to(folder))
    (folder / EXCERPTS).write_text(json.dumps(written), "utf-8")
    write_foreign_metadata(folder, told)


def kept_excerpts(folder: Path) -> dict[str, str]:
    """The files here that hold the texts of recorded files, by their paths; none where it is no shared capture."""
    try:
        told = json.loads(read_regular_text(folder / EXCERPTS))
    except (OSError, ValueError, RecursionError):
        return {}
    return {path: str(folder / file) for path, file in told.items()} if isinstance(told, dict) else {}


def _read(path: Path) -> tuple[dict[str, object], dict[str, bytes]]:
    archive = Archive(path)
    definitions = read_definitions(archive)
    Metadata.parse(definitions.metadata)
    metadata = json.loads(definitions.metadata)
    if not isinstance(metadata, dict):
        raise DamagedError("it does not say what was recorded")
    texts = {}
    for source in definitions.sources:
        if source.path < 0 or not source.member.startswith("sources/"):
            raise DamagedError("a text of it is of no file")
        texts[definitions.paths[source.path]] = archive.read(source.member)
    return metadata, texts
