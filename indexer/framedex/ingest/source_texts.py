"""The Python files of a capture as they were when they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from framedex.captures import SOURCE, has_content_name, read_kept_source
from framedex.index.write.records import RecordedSource
from framedex.ingest.paths import Paths
from framedex.model import Capture


def recorded_sources(capture: Capture, paths: Paths) -> Mapping[str, RecordedSource]:
    """The recorded source files of a capture, by their real paths."""
    found = {}
    for description in capture.descriptions:
        if description.kind != SOURCE:
            continue
        path, content, modified = (description.content.get(key) for key in ("path", "content", "modified_ns"))
        if isinstance(path, str) and isinstance(content, str) and isinstance(modified, int):
            real = paths.real(path)
            if real is not None:
                read = partial(read_kept_source, capture.path, content)
                found[real] = RecordedSource(modified, read, partial(has_content_name, name=content))
    return found
