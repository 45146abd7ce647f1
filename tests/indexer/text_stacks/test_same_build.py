"""Offsets in a local binary that may be a different build from the text's: proven, refuted, or doubtful."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.binaries import Binary
from framedex.commands.main import cli
from framedex.model import LocationEvidence

LIBRARY = """\
#include <cstdlib>
#include <execinfo.h>
extern "C" __attribute__((noinline)) int first(int x) {
  void* found[16];
  int n = backtrace(found, 16);
  backtrace_symbols_fd(found, n, 1);
  return x * 3 + atoi("1");
}
extern "C" int second(int x) {
  int y = first(x);
  return y + first(y + 1) + 1;
}
"""
ZERO = 'extern "C" int zero(int x) { if (x > 3) { return atoi("3"); } return atoi("4") + atoi("5"); }\n'
REBUILT = LIBRARY.replace('extern "C" __attribute__', f'{ZERO}extern "C" __attribute__', 1)
MAIN = 'extern "C" int second(int);\nint main() { return second(2) == 3; }\n'


@dataclass(frozen=True)
class Program:
    """A program with its own library, and its printed stack."""

    library: Path
    text: str

    def build(self, source: str) -> None:
        """Recompile the library in place from another source."""
        _compile(self.library, source)

    def offset_in(self, function: str) -> int:
        """An address in a function of the library: its second byte."""
        symbols = Binary.open(self.library).symbols
        assert symbols is not None
        (symbol,) = symbols.functions_named(function)
        return symbol.start + 1


def _compile(library: Path, source: str, *flags: str) -> None:
    library.with_suffix(".cc").write_text(source)
    command = ["g++", "-g", "-O0", "-fPIC", "-shared", "-Wl,--build-id=none", *flags]
    subprocess.run([*command, str(library.with_suffix(".cc")), "-o", str(library)], check=True)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.chdir(tmp_path)
    library = tmp_path / "libk.so"
    _compile(library, LIBRARY)
    (tmp_path / "main.cc").write_text(MAIN)
    subprocess.run(["g++", str(tmp_path / "main.cc"), "-o", "main", str(library)], check=True)
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True)
    return Program(library, done.stdout)


def explained(text: str, *options: str) -> Result:
    result = CliRunner().invoke(cli, ["explain", *options], input=text)
    assert result.exit_code == 0, result.output
    return result


def known(text: str) -> list[tuple[str, bool, int, str]]:
    """The function of each frame, whether it is doubtful, its line, and the evidence."""
    (stack,) = json.loads(explained(text, "--json").stdout)["stacks"]
    places = [frame["location"] or {"line": 0, "how": ""} for frame in stack["frames"]]
    frames = zip(stack["frames"], places, strict=True)
    return [(frame["function"], frame["is_doubtful"], place["line"], place["how"]) for frame, place in frames]


def test_a_stack_printed_by_this_program_matches_the_local_builds(program: Program) -> None:
    result = explained(program.text)
    assert "doubtful" not in result.output
    assert {name for name, *_ in known(program.text)} >= {"first", "second", "main"}
    assert ("first", False, 5, LocationEvidence.EXACT) in known(program.text)


def test_an_offset_of_an_earlier_build_is_at_most_doubtful(program: Program) -> None:
    offset = program.offset_in("second")
    program.build(REBUILT)
    ((function, is_doubtful, line, how),) = known(f"{program.library}(+{offset:#x})[0x7f1e1a001115]\n")
    assert (is_doubtful or not function) and (how == LocationEvidence.DOUBTFUL or not line)


def test_a_single_offset_is_doubtful_even_in_the_same_build(program: Program) -> None:
    text = f"{program.library}(+{program.offset_in('second'):#x})[0x7f1e1a001115]\n"
    assert known(text) == [("second", True, 9, LocationEvidence.DOUBTFUL)]
    result = explained(text)
    assert f"Names in {program.library} are marked [doubtful]" in result.stderr


def test_a_name_with_its_address_proves_the_offsets_of_its_library(program: Program) -> None:
    first = next(line for line in program.text.splitlines() if "(first+" in line)
    alone = f"{program.library}(+{program.offset_in('second'):#x})[0x7f1e1a001115]\n"
    assert known(f"{first}\n{alone}")[1] == ("second", False, 9, LocationEvidence.EXACT)


def test_a_moved_name_refutes_the_offsets_of_its_library(program: Program) -> None:
    first = next(line for line in program.text.splitlines() if "(first+" in line)
    alone = f"{program.library}(+{program.offset_in('second'):#x})[0x7f1e1a001115]\n"
    program.build(REBUILT)
    assert known(f"{first}\n{alone}") == [("first", False, 0, ""), ("", False, 0, "")]
    assert f"{program.library} is a different build from the one in the text" in explained(f"{first}\n{alone}").stderr


def test_offsets_without_any_return_address_have_no_names(program: Program) -> None:
    program.build(REBUILT)
    offsets = [program.offset_in(name) for name in ("zero", "first", "second")]
    text = "".join(f"{program.library}(+{offset:#x}) [0x79bbf20{offset:05x}]\n" for offset in offsets)
    assert known(text) == [("", False, 0, "")] * 3


def test_a_build_id_proves_or_refutes(program: Program) -> None:
    _compile(program.library, LIBRARY, "-Wl,--build-id=sha1")
    own, offset = Binary.open(program.library).build_id, program.offset_in("second")
    form = "    #0 0x7f1e1a001115  ({library}+{offset:#x}) (BuildId: {build_id})\n"
    text = form.format(library=program.library, offset=offset, build_id=own)
    assert known(text) == [("second", False, 9, LocationEvidence.EXACT)]
    assert known(form.format(library=program.library, offset=offset, build_id="0" * 40)) == [("", False, 0, "")]


def test_a_library_of_another_release_resolves_nothing(program: Program, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.13" / "site-packages"
    (site / "jaxlib-0.12.0.dist-info").mkdir(parents=True)
    (site / "jaxlib").mkdir()
    installed = site / "jaxlib" / "libk.so"
    program.library.rename(installed)
    (frame,) = known(f"jaxlib==0.9.1\n{installed}(+0x1139)[0x7f1e1a001115]\n")
    assert frame == ("", False, 0, "")
