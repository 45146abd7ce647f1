"""Converts frames to the form of a shared file, which stores each path and function once, and back."""

from __future__ import annotations

from dataclasses import replace

from framedex.binaries import classify_native_frame
from framedex.binaries.roles import classify_python_frame
from framedex.index.write.records import FrameRecord, FunctionRecord
from framedex.model import Language, Location, LocationEvidence
from framedex.shared.contents import Definitions, SharedFrame, SharedFunction, SharedSourceLine
from framedex.sources import short_name
from framedex.sources.releases import NO_ORIGIN, FunctionOrigins


class FrameTables:
    """Numbers the paths and functions of frames."""

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._functions: dict[FunctionRecord, int] = {}
        self._shared: list[SharedFunction] = []

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths, ordered by number."""
        return tuple(self._paths)

    @property
    def functions(self) -> tuple[SharedFunction, ...]:
        """The functions, ordered by number."""
        return tuple(self._shared)

    def number_path(self, path: str) -> int:
        """Return the number of a path, adding it if new."""
        return self._paths.setdefault(path, len(self._paths))

    def convert_frame(self, record: FrameRecord) -> SharedFrame:
        """Convert a frame, and number its function and files."""
        return SharedFrame(
            function=self._number_function(record.function),
            offset=record.offset,
            depth=record.depth,
            recorded=self._convert_location(record.location),
            found=self._convert_location(record.stored_location),
            is_returning=record.is_returning,
            line=record.line,
            candidates=tuple(filter(None, map(self._convert_location, record.candidates))),
        )

    def _number_function(self, record: FunctionRecord) -> int:
        known = self._functions.get(record)
        if known is not None:
            return known
        self._shared.append(
            SharedFunction(
                language=record.language,
                name=record.name,
                symbol=record.symbol,
                mangled=record.mangled,
                module=self.number_path(record.module),
                unit=record.unit,
                first_line=record.first_line,
            )
        )
        return self._functions.setdefault(record, len(self._functions))

    def _convert_location(self, location: Location | None) -> SharedSourceLine | None:
        return (
            None if location is None else SharedSourceLine(self.number_path(location.path), location.line, location.how)
        )


class FrameRecords:
    """Converts the frames of a shared file to records. Raises LookupError for a reference out of range."""

    def __init__(self, definitions: Definitions) -> None:
        self._paths = definitions.paths
        self._origins = FunctionOrigins(definitions.builds)
        self._functions = tuple(map(self._build_function, definitions.functions))

    def build_record(self, frame: SharedFrame) -> FrameRecord:
        """Convert a frame to a record without a binary, since a local binary may be a different one."""
        function = self._functions[_position(frame.function)]
        recorded = self._location(frame.recorded)
        if function.language is Language.PYTHON and function.location is None and recorded is not None:
            # A frozen module, such as `<frozen runpy>`: its lines are in the file of the standard library.
            function = replace(function, location=replace(recorded, line=max(function.first_line, 1)))
        return FrameRecord(
            function=function,
            module=None,
            offset=frame.offset,
            depth=frame.depth,
            location=recorded,
            is_returning=frame.is_returning,
            line=frame.line,
            stored_location=self._location(frame.found),
            candidates=tuple(filter(None, map(self._location, frame.candidates))),
        )

    def _build_function(self, function: SharedFunction) -> FunctionRecord:
        module = self._paths[_position(function.module)]
        is_python = function.language is Language.PYTHON
        is_of_file = is_python and module.startswith("/")
        return FunctionRecord(
            language=function.language,
            role=classify_python_frame(module, function.name)
            if is_python
            else classify_native_frame(module, function.symbol and function.name),
            name=function.name,
            short_name=short_name(function.name),
            symbol=function.symbol,
            mangled=function.mangled,
            module=module,
            unit=function.unit,
            first_line=function.first_line,
            location=Location(module, max(function.first_line, 1), LocationEvidence.EXACT) if is_of_file else None,
            origin=NO_ORIGIN if is_python else self._origins.origin_of(module, function.symbol),
        )

    def _location(self, line: SharedSourceLine | None) -> Location | None:
        if line is None:
            return None
        return Location(self._paths[_position(line.path)], max(line.line, 1), line.how)


def _position(number: int) -> int:
    if number < 0:
        raise LookupError(number)
    return number
