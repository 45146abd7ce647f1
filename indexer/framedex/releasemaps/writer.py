"""Write release maps. Equal sources give equal bytes, with one version of zlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from framedex.model import SourceMapInfo
from framedex.releasemaps.encoding import ReleasedFile, encode_versions, texts_of
from framedex.releasemaps.format import LANGUAGES, Component, Content, compressed, write_content
from framedex.releasemaps.names import NameEntry, encode_names, hash_of_path, hash_of_short
from framedex.sources.calls import BODIES
from framedex.sources.names import path_of

_LARGEST_DICTIONARY = 1 << 15  # the window of zlib, in bytes
_SHORTEST = 4  # bytes of a text worth a reference


@dataclass(frozen=True, slots=True)
class ReleaseSources:
    """A component's sources in all releases.

    `infos` has an entry for each release, None if the release does not have the component. `files` has its files for
    each release by path, relative to the repository.
    """

    infos: Sequence[SourceMapInfo | None]
    files: Sequence[Mapping[str, ReleasedFile]]


def write_release_maps(releases: Sequence[str], sources: Sequence[ReleaseSources]) -> bytes:
    """The file with the maps of these releases, oldest first; `sources` has one entry per component."""
    paths: list[str] = []
    languages: list[int] = []
    entries: list[NameEntry] = []
    files: list[bytes] = []
    components = {}
    for each in sources:
        first = len(paths)
        for path in sorted(set().union(*each.files)):
            versions = [found.get(path) for found in each.files]
            if any(version.definitions for version in versions if version):
                entries.extend(_entries(len(paths), versions))
                paths.append(path)
                languages.append(_language(versions))
                files.append(encode_versions(versions))
        info = next(filter(None, each.infos))
        components[info.component] = Component(tuple(each.infos), first, len(paths))
    dictionary = _dictionary(files)
    streams = [compressed(data, dictionary) for data in files]
    ends = list(accumulate(map(len, streams)))
    names = encode_names(entries)
    return write_content(
        Content(tuple(releases), components, names, tuple(paths), languages, ends, dictionary, b"".join(streams))
    )


def _language(versions: Sequence[ReleasedFile | None]) -> int:
    (language,) = {version.language for version in versions if version}
    return LANGUAGES.index(language)


def _entries(number: int, versions: Sequence[ReleasedFile | None]) -> Iterator[NameEntry]:
    releases: dict[tuple[int, int, bool], int] = {}
    for release, version in enumerate(versions):
        for (name, key, kind, *_), _ in version.definitions if version else ():
            entry = hash_of_short(key), hash_of_path(path_of(name)), kind in BODIES
            releases[entry] = releases.get(entry, 0) | 1 << release
    for (short, path, is_body), found in releases.items():
        yield NameEntry(short, path, number, is_body, found)


def _dictionary(files: Sequence[bytes]) -> bytes:
    """A zlib dictionary of the texts shared by most files.

    The most frequent texts come last, because zlib refers to them in the fewest bits.
    """
    used = Counter(text for data in files for text in texts_of(data))
    texts, size = [], 0
    for text in sorted(used, key=lambda text: (-used[text], text)):
        if len(text) >= _SHORTEST and used[text] > 1:
            size += len(text) + 1
            if size > _LARGEST_DICTIONARY:
                break
            texts.append(text)
    return b"\0".join(reversed(texts))
