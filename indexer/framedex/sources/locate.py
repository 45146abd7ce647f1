"""The files of a tree that are likely to define a function: its translation unit, and files named after its class."""

from __future__ import annotations

import re
from collections.abc import Sequence

from framedex.binaries.names import ANONYMOUS, LAMBDA, parse_name
from framedex.path_resolution.tails import TreeFiles

_HEADERS = (".h", ".hpp", ".hh", ".inl", ".cuh", "_internal.h", "-inl.h", "_base.h")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def likely_to_define(files: TreeFiles, symbol: str, unit: str) -> list[str]:
    """The files that may define a function, most likely first.

    They are its translation unit, the unit's header, and files named after its class or namespace by convention
    (`PjRtClient` -> `pjrt_client.h`).
    """
    folders, stems = _name_parts(symbol)
    unit_files = _nearest(files.named(unit), folders) if unit else []
    found = dict.fromkeys(unit_files)
    stem = unit.rpartition("/")[2].partition(".")[0]
    for candidate in (stem, *stems):
        for ending in (*_HEADERS, ".cc", ".cpp"):
            if candidate and (same := files.called(candidate + ending)):
                found.update(dict.fromkeys(_nearest(same, folders)))
    return list(found)


def _name_parts(symbol: str) -> tuple[frozenset[str], list[str]]:
    """The words of a symbol's path as folder names, and its classes and namespaces as file names, innermost first."""
    key = [part for part in parse_name(symbol).key[:-1] if part not in (ANONYMOUS, LAMBDA)]
    scopes = [_HUMP.sub("_", part).lower() for part in reversed(key)]
    # PjRt and StableHLO are one word in file names.
    joined = [name.replace("pj_rt", "pjrt").replace("stable_hlo", "stablehlo") for name in scopes]
    return frozenset(part.lower() for part in key), list(dict.fromkeys(joined + scopes))


def _nearest(files: Sequence[str], folders: frozenset[str]) -> list[str]:
    """Among files with one name, those in folders named after the function's namespaces."""
    if len(files) < 2:
        return list(files)
    scores = [len(folders.intersection(path.split("/"))) for path in files]
    return [path for score, path in zip(scores, files, strict=True) if score == max(scores)]
