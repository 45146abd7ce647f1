"""Which files of a tree a recorded name may mean: a translation unit's, a build machine's path, a class's header."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from framedex.binaries.names import ANONYMOUS, LAMBDA, parse_name

# What a compiler was given but nobody wrote -> what it was made from.
_GENERATED = (
    (re.compile(r"(?:\.grpc)?\.pb\.(?:cc|h)$"), ".proto"),
    (re.compile(r"\.(?:h|cc|cpp)\.inc$"), ".td"),
)
_HEADERS = (".h", ".hpp", ".hh", ".inl", ".cuh", "_internal.h", "-inl.h", "_base.h")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class TreeFiles:
    """The files of source trees by their names, for look-ups in microseconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(path)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def named(self, recorded: str) -> list[str]:
        """The files whose paths end most like `recorded`; all of that name where it is a bare one.

        What a build puts in front (`external/xla/`, `bazel-out/k8-opt/bin/`, a build machine's folder) does not count:
        the longest common tail decides. A generated file stands for what it is made from.
        """
        wanted = recorded.split("/")
        for pattern, source in _GENERATED:
            wanted[-1] = pattern.sub(source, wanted[-1])
        tails = [(common_tail(path.split("/"), wanted), path) for path in self._by_name.get(wanted[-1], ())]
        longest = max((length for length, _ in tails), default=0)
        return [path for length, path in tails if length == longest]

    def same_file(self, recorded: str) -> str | None:
        """The one file with the longest common tail; None where several have it, or where it proves nothing.

        A name alone proves nothing, unless nothing but the name was recorded: `util.cc` is in every tree.
        """
        wanted = recorded.split("/")
        found = [path for path in self.named(recorded) if path.rpartition("/")[2] == wanted[-1]]
        if len(found) != 1:
            return None
        length = common_tail(found[0].split("/"), wanted)
        return found[0] if length > 1 or length == len(wanted) else None

    def ending_in(self, recorded: str) -> list[str]:
        """The files whose paths end in the whole of `recorded`."""
        wanted = recorded.split("/")
        return [path for path in self.named(recorded) if common_tail(path.split("/"), wanted) == len(wanted)]

    def alike(self, recorded: str) -> list[str]:
        """The files that have the longest common tail, several of them, where that is more than the name."""
        wanted = recorded.split("/")
        return [path for path in self.named(recorded) if common_tail(path.split("/"), wanted) > 1]

    def likely_to_define(self, symbol: str, unit: str) -> list[str]:
        """The files that may define a function, the likelier first: its translation unit, that one's header, and the
        files that are named for its class or namespace as is the custom (`PjRtClient` -> `pjrt_client.h`).
        """
        folders, stems = _name_parts(symbol)
        unit_files = _nearest(self.named(unit), folders) if unit else []
        found = dict.fromkeys(unit_files)
        stem = unit.rpartition("/")[2].partition(".")[0]
        for candidate in (stem, *stems):
            for ending in (*_HEADERS, ".cc", ".cpp"):
                if candidate and (files := self._by_name.get(candidate + ending)):
                    found.update(dict.fromkeys(_nearest(files, folders)))
        return list(found)


def common_tail(path: Sequence[str], wanted: Sequence[str]) -> int:
    """How many names two paths, as lists of names, have in common at their ends."""
    length = 0
    for left, right in zip(reversed(path), reversed(wanted), strict=False):
        if left != right:
            break
        length += 1
    return length


def _name_parts(symbol: str) -> tuple[frozenset[str], list[str]]:
    """The words of a symbol's path as folders may have them, and its classes and namespaces, innermost first, as files
    may."""
    key = [part for part in parse_name(symbol).key[:-1] if part not in (ANONYMOUS, LAMBDA)]
    scopes = [_HUMP.sub("_", part).lower() for part in reversed(key)]
    # PjRt and StableHLO are one word in file names.
    joined = [name.replace("pj_rt", "pjrt").replace("stable_hlo", "stablehlo") for name in scopes]
    return frozenset(part.lower() for part in key), list(dict.fromkeys(joined + scopes))


def _nearest(files: list[str], folders: frozenset[str]) -> list[str]:
    """Of several files of one name, those in folders that are named like the function's namespaces."""
    if len(files) < 2:
        return list(files)
    scores = [len(folders.intersection(path.split("/"))) for path in files]
    return [path for score, path in zip(scores, files, strict=True) if score == max(scores)]
