"""Release maps: names, files and lines are consistent, or the map is refused."""

from __future__ import annotations

from itertools import accumulate

from framedex.model import SourceMapInfo
from framedex.sources.release_maps import ReleaseMap, open_release_maps
from framedex.sources.release_maps.format import MapComponent, MapContent, compress, write_content
from framedex.sources.source_map import SourceMapError
from tests.fuzz.inputs import Input, scratch

MAX_SIZE = 1 << 14
RELEASES = ("0.10.2", "0.11.0")
INFO = SourceMapInfo("xla", "https://example.org/xla", "0" * 40, False, "fuzzed")


def run(data: bytes) -> None:
    """The first byte selects a file, or the parts of one, which get correct checksums."""
    path = scratch() / "maps.fdmaps"
    path.write_bytes(data if data[:1] == b"\x8b" else _file(Input(data[1:])))
    try:
        maps = open_release_maps(path)
    except SourceMapError as error:
        assert str(path) in str(error)
        return
    for component in ("xla", "jaxlib"):
        for release in maps.releases:
            found = maps.nearest(component, release)
            if found is not None:
                try:
                    _query(found)
                except SourceMapError as error:
                    assert str(path) in str(error)


def _file(parts: Input) -> bytes:
    names = parts.take(parts.number(2))
    dictionary = parts.take(parts.number())
    files, paths, languages = [], [], []
    for number in range(parts.number() % 8):
        languages.append(parts.number() % 4)
        paths.append(f"xla/{number}.cc")
        files.append(compress(parts.take(parts.number(2)), dictionary))
    ends = list(accumulate(map(len, files)))
    components = {"xla": MapComponent((INFO, None), 0, len(files))}
    return write_content(
        MapContent(RELEASES, components, names, tuple(paths), languages, ends, dictionary, b"".join(files))
    )


def _query(found: ReleaseMap) -> None:
    for path in found.paths():
        file = found.file(path)
        assert all(1 <= row[4] <= row[5] for row in file.definitions)
        calling = {(row[4], row[5]) for row in file.definitions if row[8] and row[2] != "macro"}
        assert dict(found.calls_in_file(path)).keys() == calling
        for name, key, *_ in file.definitions[:20]:
            assert {path for path, _ in found.definitions(key, (name,))} <= {path for path, _ in found.definitions(key)}
            assert len(found.calls_in_bodies(key, False, 12, 400)) <= 12
