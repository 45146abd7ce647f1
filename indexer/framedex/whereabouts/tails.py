"""The files of source trees whose paths end as one of another machine does."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from framedex.whereabouts.files import is_here

# What a compiler was given but nobody wrote -> what it was made from.
_GENERATED = (
    (re.compile(r"(?:\.grpc)?\.pb\.(?:cc|h)$"), ".proto"),
    (re.compile(r"\.(?:h|cc|cpp)\.inc$"), ".td"),
)


class TreeFiles:
    """The files of source trees by their names, for look-ups in microseconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(path)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def called(self, name: str) -> Sequence[str]:
        """The files of exactly this name, in any folder."""
        return self._by_name.get(name, ())

    def named(self, recorded: str) -> list[str]:
        """The files whose paths end most like `recorded`; all of that name where it is a bare one.

        What a build puts in front (`external/xla/`, `bazel-out/k8-opt/bin/`, a build machine's folder) does not count:
        the longest common tail decides. A generated file stands for what it is made from.
        """
        wanted = recorded.split("/")
        for pattern, source in _GENERATED:
            wanted[-1] = pattern.sub(source, wanted[-1])
        tails = [(common_tail(path.split("/"), wanted), path) for path in self.called(wanted[-1])]
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


def common_tail(path: Sequence[str], wanted: Sequence[str]) -> int:
    """How many names two paths, as lists of names, have in common at their ends."""
    length = 0
    for left, right in zip(reversed(path), reversed(wanted), strict=False):
        if left != right:
            break
        length += 1
    return length


def files_below(path: str, folders: Iterable[str]) -> list[str]:
    """The files below the folders that share the longest end of a path; its name alone only if it is all there is."""
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    for start in range(max(len(parts) - 1, 1)):
        end = "/".join(parts[start:])
        found = {os.path.realpath(file) for folder in folders if is_here(file := f"{folder}/{end}")}
        if found:
            return sorted(found)
    return []
