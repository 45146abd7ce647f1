"""Match recorded paths with files of source trees by their common path ends."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from framedex.path_resolution.files import is_here

# Generated file -> its source.
_GENERATED = (
    (re.compile(r"(?:\.grpc)?\.pb\.(?:cc|h)$"), ".proto"),
    (re.compile(r"\.(?:h|cc|cpp)\.inc$"), ".td"),
)


class TreeFiles:
    """The files of source trees by name, for look-ups in microseconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(path)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def called(self, name: str) -> Sequence[str]:
        """Return the files of exactly this name, in any folder."""
        return self._by_name.get(name, ())

    def named(self, recorded: str) -> list[str]:
        """Return the files that share the longest path end with `recorded`; all files of that name for a bare name.

        Prefixes added by a build do not count (`external/xla/`, `bazel-out/k8-opt/bin/`, a build machine's folder): the
        longest common tail decides. A generated file is replaced by its source.
        """
        wanted = recorded.split("/")
        for pattern, source in _GENERATED:
            wanted[-1] = pattern.sub(source, wanted[-1])
        tails = [(common_tail(path.split("/"), wanted), path) for path in self.called(wanted[-1])]
        longest = max((length for length, _ in tails), default=0)
        return [path for length, path in tails if length == longest]

    def same_file(self, recorded: str) -> str | None:
        """Return the one file with the longest common tail; None if it is not unique or not conclusive.

        A name alone is not conclusive unless only the name was recorded: `util.cc` is in every tree.
        """
        wanted = recorded.split("/")
        found = [path for path in self.named(recorded) if path.rpartition("/")[2] == wanted[-1]]
        if len(found) != 1:
            return None
        length = common_tail(found[0].split("/"), wanted)
        return found[0] if length > 1 or length == len(wanted) else None

    def ending_in(self, recorded: str) -> list[str]:
        """Return the files whose paths end in the whole of `recorded`."""
        wanted = recorded.split("/")
        return [path for path in self.named(recorded) if common_tail(path.split("/"), wanted) == len(wanted)]

    def alike(self, recorded: str) -> list[str]:
        """Return the files with the longest common tail, if it is longer than the name."""
        wanted = recorded.split("/")
        return [path for path in self.named(recorded) if common_tail(path.split("/"), wanted) > 1]


def common_tail(path: Sequence[str], wanted: Sequence[str]) -> int:
    """Return the number of last components that two paths, as lists, have in common."""
    length = 0
    for left, right in zip(reversed(path), reversed(wanted), strict=False):
        if left != right:
            break
        length += 1
    return length


def files_below(path: str, folders: Iterable[str]) -> list[str]:
    """Return the files in the folders that share the longest end of a path.

    The name alone counts only if it is the whole path.
    """
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    for start in range(max(len(parts) - 1, 1)):
        end = "/".join(parts[start:])
        found = {os.path.realpath(file) for folder in folders if is_here(file := f"{folder}/{end}")}
        if found:
            return sorted(found)
    return []
