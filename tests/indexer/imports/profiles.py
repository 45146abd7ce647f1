"""Profiles for import tests: recorders' files in tests/fixtures/profiles, and pprof's, built field by field."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from framedex.base.nativepart import protobuf
from framedex.commands.main import cli

FIXTURES = Path(__file__).parents[2] / "fixtures" / "profiles"
PROFILED = "/srv/profiled"
"""The recorded folder of the fixtures' program."""

Stack = Sequence[tuple[str, str, int]]
"""Function, file and line of each frame, outermost first."""


def framedex(*arguments: str | Path) -> Result:
    """Run framedex in the working folder."""
    return CliRunner().invoke(cli, list(map(str, arguments)))


def fixture(name: str, folder: Path) -> Path:
    """A recorder's profile, with its program in a local folder."""
    (folder / "busy.py").write_bytes((FIXTURES / "busy.py").read_bytes())
    profile = folder / name
    profile.write_text((FIXTURES / name).read_text().replace(PROFILED, str(folder)))
    return profile


def pprof(
    samples: Sequence[tuple[Stack, Sequence[int], Mapping[str, str | int]]],
    types: Sequence[tuple[str, str]] = (("samples", "count"), ("cpu", "nanoseconds")),
    started: int = 1_700_000_000_000_000_000,
    packed: bool = True,
) -> bytes:
    """A profile in pprof's form: stacks with their values and labels."""
    strings = [""]

    def text(value: str) -> int:
        if value not in strings:
            strings.append(value)
        return strings.index(value)

    whole, integer, several = protobuf.message_field, protobuf.integer_field, protobuf.packed_field
    content = [whole(1, integer(1, text(name)) + integer(2, text(unit))) for name, unit in types]
    locations: dict[tuple[str, str, int], int] = {}
    for stack, values, labels in samples:
        ids = [locations.setdefault(frame, len(locations) + 1) for frame in reversed(stack)]
        told = b"".join(
            whole(3, integer(1, text(key)) + (integer(2, text(value)) if isinstance(value, str) else integer(3, value)))
            for key, value in labels.items()
        )
        content.append(whole(2, several(1, ids) + several(2, [value & (1 << 64) - 1 for value in values]) + told))
    for (function, file, line), number in locations.items():
        content.append(whole(4, integer(1, number) + whole(4, integer(1, number) + integer(2, line))))
        content.append(whole(5, integer(1, number) + integer(2, text(function)) + integer(4, text(file))))
    content += [whole(6, each.encode()) for each in strings]
    content.append(integer(9, started))
    return gzip.compress(b"".join(content)) if packed else b"".join(content)
