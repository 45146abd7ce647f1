"""Addresses without a binary, in a text with the process's memory map."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.text_stacks import read

LIBRARY = """\
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
extern "C" __attribute__((noinline)) int inner(int x) {
  void* found[16];
  int n = backtrace(found, 16);
  puts("*** Check failure stack trace: ***");
  for (int i = 0; i < n; i++) printf("    @ %18p  (unknown)\\n", found[i]);
  return x * 3 + atoi("1");
}
extern "C" int outer(int x) {
  int y = inner(x);
  return y + inner(y + 1) + 1;
}
"""
MAIN = """\
#include <cstdio>
extern "C" int outer(int);
int main() {
  int y = outer(2);
  puts("");
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c; (c = fgetc(maps)) != EOF;) putchar(c);
  return y == 3;
}
"""
SEGMENT = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) \S+ \d+ +(/.*)")


@dataclass(frozen=True)
class Program:
    """A library, a program's printed stacks of bare addresses in it, and its memory map."""

    library: Path
    stacks: str
    maps: str

    @property
    def segments(self) -> list[tuple[int, int, str, int, str]]:
        """Start, end, permissions, file offset and path of file mappings."""
        found = [match.groups() for match in map(SEGMENT.match, self.maps.splitlines()) if match]
        return [(int(s, 16), int(e, 16), perms, int(at, 16), path) for s, e, perms, at, path in found]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("mapped")
    library = folder / "libmapped.so"
    library.with_suffix(".cc").write_text(LIBRARY)
    (folder / "main.cc").write_text(MAIN)
    build = ["-g", "-O0", "-Wl,--build-id=none"]
    subprocess.run(["g++", *build, "-fPIC", "-shared", folder / "libmapped.cc", "-o", library], check=True)
    subprocess.run(["g++", *build, folder / "main.cc", "-o", folder / "main", library], check=True)
    printed = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    stacks, maps = printed.split("\n\n", 1)
    return Program(library, stacks + "\n\n", maps)


def places(text: str) -> list[tuple[str, str, int]]:
    """The function, file and line of each frame with a source in a text's stacks."""
    result = CliRunner().invoke(cli, ["explain", "--json"], input=text)
    assert result.exit_code == 0, result.output
    frames = [frame for stack in json.loads(result.stdout)["stacks"] for frame in stack["frames"]]
    return [
        (frame["function"], Path(frame["location"]["path"]).name, frame["location"]["line"])
        for frame in frames
        if frame["location"]
    ]


EXPECTED = [
    *[("inner", "libmapped.cc", 6), ("outer", "libmapped.cc", 12), ("main", "main.cc", 4)],
    *[("inner", "libmapped.cc", 6), ("outer", "libmapped.cc", 13), ("main", "main.cc", 4)],
]


def test_the_process_map_resolves_bare_addresses(program: Program) -> None:
    assert places(program.stacks) == []
    assert places(program.stacks + program.maps) == EXPECTED
    assert places(program.maps + program.stacks) == EXPECTED


def test_a_map_with_log_prefixes_is_used(program: Program) -> None:
    logged = "".join(f"2024-01-01T00:00:00.123456789Z stderr F {line}\n" for line in program.maps.splitlines())
    assert places(program.stacks + logged) == EXPECTED


def test_gdb_mappings_resolve_bare_addresses(program: Program) -> None:
    rows = [
        f"      {start:#18x} {end:#18x} {end - start:#10x} {offset:#10x}  {perms}  {path}\n"
        for start, end, perms, offset, path in program.segments
    ]
    older = [
        row.replace(f"  {perms}  ", "   ") for row, (_, _, perms, _, _) in zip(rows, program.segments, strict=True)
    ]
    assert places("".join([program.stacks, *rows])) == EXPECTED
    assert places("".join([program.stacks, *older])) == EXPECTED


def test_gdb_shared_libraries_resolve_bare_addresses(program: Program) -> None:
    sections = subprocess.run(
        ["objdump", "-h", "-j", ".text", program.library], capture_output=True, text=True, check=True
    ).stdout
    size, address = (int(word, 16) for word in sections.partition(" .text")[2].split()[:2])
    base = next(start for start, _, _, offset, path in program.segments if path == str(program.library) and not offset)
    start = base + address
    row = f"0x{start:016x}  0x{start + size:016x}  Yes (*)     {program.library}\n"
    assert places(program.stacks + row) == [each for each in EXPECTED if each[0] != "main"]


def test_contradictory_maps_resolve_nothing(program: Program) -> None:
    shifted = "".join(
        f"{start - 0x1000:x}-{end - 0x1000:x} {perms} {offset:08x} 08:01 1 {path}\n"
        for start, end, perms, offset, path in program.segments
    )
    assert places(program.stacks + program.maps + shifted) == []


def test_a_replaced_file_resolves_nothing(program: Program) -> None:
    deleted = program.maps.replace("libmapped.so\n", "libmapped.so (deleted)\n")
    assert {name for name, *_ in places(program.stacks + deleted)} == {"main"}


def test_addresses_are_relative_to_the_binary_unless_it_is_fixed() -> None:
    text = (
        "*** SIGSEGV received at time=1 on cpu 3 ***\n"
        "    @           0x401136  (unknown)  (unknown)\n"
        "    @     0x7f0000029e40         32  (unknown)\n"
        "    @     0x7f0000900000         32  (unknown)\n\n"
        "00400000-00401000 r--p 00000000 08:01 1 /opt/program\n"
        "00401000-00402000 r-xp 00001000 08:01 1 /opt/program\n"
        "7f0000000000-7f0000028000 r--p 00000000 08:01 2 /lib/libc.so.6\n"
        "7f0000028000-7f00001bd000 r-xp 00028000 08:01 2 /lib/libc.so.6\n"
    )
    (stack,) = read(text).stacks
    assert [(frame.module, frame.offset) for frame in stack.frames] == [
        ("/opt/program", 0x401136),
        ("/lib/libc.so.6", 0x29E40),
        ("", None),
    ]
