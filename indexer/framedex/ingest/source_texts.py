"""The recorded texts of a capture's Python files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

from framedex.captures import SOURCE, has_content_name, read_kept_source
from framedex.index.write.records import RecordedSource
from framedex.ingest.paths import Paths
from framedex.model import Capture
from framedex.path_resolution.moves import Moves


class RecordedSources:
    """The recorded source files of a capture. Their descriptions are read when the first file is requested."""

    def __init__(self, capture: Capture, former: Moves) -> None:
        """`former` maps the project's former folders to its present one."""
        self._capture = capture
        self._former = former

    def source(self, path: str) -> RecordedSource | None:
        """Return the file at a real path; None if the capture does not describe it."""
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> Mapping[str, RecordedSource]:
        paths = Paths.of(self._capture, self._former)
        found = {}
        for description in self._capture.descriptions:
            if description.kind != SOURCE:
                continue
            path, content, modified = (description.content.get(key) for key in ("path", "content", "modified_ns"))
            if isinstance(path, str) and isinstance(content, str) and isinstance(modified, int):
                real = paths.real(path)
                if real is not None:
                    read = partial(read_kept_source, self._capture.path, content)
                    found[real] = RecordedSource(modified, read, partial(has_content_name, name=content))
        return found
