"""An index of hashed names, so that a look-up reads only the files that define a name, and few others.

An entry represents the definitions in one file with the same short name and the same path, except for the path
differences that `match` ignores. It lists the releases that have them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

from framedex.binaries.names import ANONYMOUS, LAMBDA
from framedex.releasemaps.columns import pack, unpack
from framedex.sourcemap import MalformedError
from framedex.sources.matching import VERSION

MOST_RELEASES = 31
_IS_BODY = 1 << MOST_RELEASES


@dataclass(frozen=True, slots=True, order=True)
class NameEntry:
    """Definitions of one name in the file of that number. `releases` is a bit set; `is_body`: see `BODIES`."""

    short: int
    path: int
    file: int
    is_body: bool
    releases: int


def hash_of_short(short_name: str) -> int:
    """A 32-bit hash of a short name."""
    return crc32(short_name.encode("utf-8", "replace"))


def hash_of_path(path: tuple[str, ...]) -> int:
    """A 16-bit hash of a definition's path, without the parts that symbol paths may lack."""
    return crc32("::".join(_named(path)).encode("utf-8", "replace")) & 0xFFFF


class NameIndex:
    """The name entries of a release map file, in order."""

    def __init__(self, data: bytes) -> None:
        columns = unpack(data)
        if len(columns) != 4 or len({len(column) for column in columns}) != 1:
            raise MalformedError("the index of names is none")
        self._shorts, self._paths, self._files, self._releases = columns

    def has(self, short_name: str) -> bool:
        """Whether any release may define this short name."""
        return bool(self._range(short_name))

    def files(self, short_name: str, key: tuple[str, ...], release: int) -> list[int]:
        """The numbers of the files that define this name in a release.

        With a symbol's key, only the files with a definition that may match the symbol.
        """
        found = self._range(short_name)
        # A destructor may use another name of its class: `match` finds the right class.
        is_told = found and key and not key[-1].startswith("~")
        wanted = frozenset(_paths_meant(key)) if is_told else None
        bit = 1 << release
        return sorted(
            {self._files[i] for i in found if self._releases[i] & bit and (wanted is None or self._paths[i] in wanted)}
        )

    def files_with_bodies(self, short_name: str, release: int) -> list[int]:
        """The numbers of the files that define a function or macro of this name in a release."""
        wanted = 1 << release | _IS_BODY
        return sorted({self._files[i] for i in self._range(short_name) if self._releases[i] & wanted == wanted})

    def _range(self, short_name: str) -> range:
        wanted = hash_of_short(short_name)
        return range(bisect_left(self._shorts, wanted), bisect_right(self._shorts, wanted))


def encode_names(entries: Iterable[NameEntry]) -> bytes:
    """Encode the data of a `NameIndex`."""
    ordered = sorted(entries)
    return b"".join(
        (
            pack([entry.short for entry in ordered]),
            pack([entry.path for entry in ordered]),
            pack([entry.file for entry in ordered]),
            pack([entry.releases | _IS_BODY * entry.is_body for entry in ordered]),
        )
    )


def _paths_meant(key: tuple[str, ...]) -> Iterator[int]:
    """The hashes of all paths that `match` accepts for a symbol: its own, its class's, and their endings."""
    named = _named(key)
    for path in {named, tuple(part for part in named if not VERSION.fullmatch(part))}:
        for whole in (path, path[:-1]):
            yield hash_of_path(whole)
            yield from (hash_of_path(whole[begin:]) for begin in range(1, len(whole) - 1))


def _named(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in path if part not in (ANONYMOUS, LAMBDA))
