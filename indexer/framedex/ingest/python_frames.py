"""Python frames as index records."""

from __future__ import annotations

from framedex.binaries.roles import python_role
from framedex.index.file.values import storable
from framedex.index.write.records import FrameRecord, FunctionRecord
from framedex.ingest.paths import Paths
from framedex.model import How, Language, Location
from framedex.sources import short_name


def python_record(
    paths: Paths, filename: str, qualname: str, first_line: int, instruction: int, line: int, returning: bool = False
) -> FrameRecord:
    """Return a frame at `line` (0: unknown) of the Python code that begins at `first_line` of a file."""
    name, filename = storable(qualname), storable(filename)
    path = paths.real(filename)
    function = FunctionRecord(
        language=Language.PYTHON,
        role=python_role(filename, qualname),
        name=name,
        short_name=short_name(name),
        symbol=name,
        mangled="",
        module=filename if path is None or filename.startswith("<") else path,
        unit="",
        first_line=first_line,
        location=None if path is None else Location(path, first_line, How.EXACT),
    )
    location = None if path is None or line <= 0 else Location(path, line, How.EXACT)
    return FrameRecord(function, None, instruction, 0, location, returning, max(line, 0))
