"""In which files a name is defined: an index of hashes, so that a look-up reads the files that have it and few others.

An entry stands for the definitions in one file that have the same short name and the same path, but for what `match`
overlooks in paths. It has the releases in which they are there.
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
    """Definitions of one name in the file of that number. `releases` is a set of bits, `is_body`: see `BODIES`."""

    short: int
    path: int
    file: int
    is_body: bool
    releases: int


def hash_of_short(short_name: str) -> int:
    """32 bits of a short name."""
    return crc32(short_name.encode("utf-8", "replace"))


def hash_of_path(path: tuple[str, ...]) -> int:
    """16 bits of the path of a definition, without what the paths of symbols may lack."""
    return crc32("::".join(_named(path)).encode("utf-8", "replace")) & 0xFFFF


class NameIndex:
    """The entries of a file, in order."""

    def __init__(self, data: bytes) -> None:
        columns = unpack(data)
        if len(columns) != 4 or len({len(column) for column in columns}) != 1:
            raise MalformedError("the index of names is none")
        self._shorts, self._paths, self._files, self._releases = columns

    def has(self, short_name: str) -> bool:
        """Whether something may be defined by this short name, in any release."""
        return bool(self._range(short_name))

    def files(self, short_name: str, key: tuple[str, ...], release: int) -> list[int]:
        """The numbers of the files that in a release define something of this name that a symbol with this key can
        mean; without a key all that define something of this name.
        """
        found = self._range(short_name)
        # A destructor may be written under another name of its class: `match` tells whose it is.
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
    """The data of a `NameIndex`."""
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
    """The hashes of all paths that `match` takes for that of a symbol: its own, that of its class, and ends of them."""
    named = _named(key)
    for path in {named, tuple(part for part in named if not VERSION.fullmatch(part))}:
        for whole in (path, path[:-1]):
            yield hash_of_path(whole)
            yield from (hash_of_path(whole[begin:]) for begin in range(1, len(whole) - 1))


def _named(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in path if part not in (ANONYMOUS, LAMBDA))
