"""Hostile files: each is refused with a clear message, and leaves no data."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from framedex.base.errors import FramedexError
from framedex.index import Index
from framedex.shared.archive import ArchiveWriter
from framedex.shared.columns import BatchDecoder, DefinitionCounts
from tests.indexer.sharing.project import framedex, imported_project, project

_CALLS_OF_TOTALS = 6  # the position of that column
_DEEP = '{"a":' * 100 + "7" + "}" * 100
_GROWING = 5_000_000  # empty objects: 15 MB, which would become a gigabyte
_ZEROS = 40 << 20  # bytes that compress to a thousandth

Parts = dict[str, bytes]


def _parts() -> Parts:
    with zipfile.ZipFile(project().files["plain"]) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _signed(parts: Parts) -> Parts:
    """The parts with a manifest with valid digests, as an attacker can write."""
    manifest = json.loads(parts["manifest.json"])
    others = {name: data for name, data in parts.items() if name != "manifest.json"}
    manifest["parts"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in others.items()
    }
    return {**others, "manifest.json": json.dumps(manifest).encode()}


def _manifest(**changed: object) -> Parts:
    parts = _parts()
    return {**parts, "manifest.json": json.dumps({**json.loads(parts["manifest.json"]), **changed}).encode()}


def _defined(change: Callable[[Any], object]) -> Parts:
    """The parts with other definitions: a list of the fields of `Definitions`, in order."""
    parts = _parts()
    told = json.loads(parts["definitions.json"])
    change(told)
    return _signed({**parts, "definitions.json": json.dumps(told).encode()})


def _batch(change: Callable[[dict[str, Any]], object]) -> Parts:
    """The parts with another head of the first batch."""
    parts = _parts()
    data = parts["calls/000000"]
    end = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:end])
    change(head)
    told = json.dumps(head).encode()
    return _signed({**parts, "calls/000000": len(told).to_bytes(4, "little") + told + data[end:]})


def _head(head: bytes) -> bytes:
    """A batch with this head, and no columns."""
    return len(head).to_bytes(4, "little") + head


def _column(number: int, change: Callable[[list[int]], list[int]]) -> Parts:
    """The parts with another column of the first batch, of as many values."""
    parts = _parts()
    data = parts["calls/000000"]
    end = 4 + int.from_bytes(data[:4], "little")
    columns = json.loads(data[4:end])["columns"]
    at = end + sum(width * length for width, length in columns[:number])
    width, length = columns[number]
    places = range(at, at + width * length, width)
    values = change([int.from_bytes(data[place : place + width], "little", signed=True) for place in places])
    changed = b"".join(value.to_bytes(width, "little", signed=True) for value in values)
    return _signed({**parts, "calls/000000": data[:at] + changed + data[at + width * length :]})


def _with(name: str, data: bytes = b"x") -> Parts:
    return _with_all({name: data})


def _with_all(parts: Parts) -> Parts:
    return _signed({**_parts(), **parts})


REFUSED: dict[str, tuple[Callable[[], Parts], str]] = {
    "no manifest": (lambda: {"a.txt": b"x"}, "not written by `framedex share`"),
    "another manifest": (lambda: _manifest(format="other"), "not written by `framedex share`"),
    "a newer version": (lambda: _manifest(version=2), "this framedex reads version 1"),
    "no version": (lambda: _manifest(version=None), "an unknown version"),
    "a part of a folder above": (lambda: _with("../../evil"), "an unknown part"),
    "an absolute part": (lambda: _with("/etc/evil"), "an unknown part"),
    "a part of another name": (lambda: _with("sources/evil.py"), "an unknown part"),
    "a part that is not told": (lambda: {**_parts(), "sources/999999": b"x"}, "those in its manifest"),
    "another digest": (lambda: {**_parts(), "calls/000000": b"x"}, "does not match its digest"),
    "a bomb": (lambda: _with("sources/999999", bytes(_ZEROS)), "larger"),
    "many bombs": (lambda: _with_all({f"sources/{9 * 10**5 + n}": bytes(15 << 20) for n in range(9)}), "larger"),
    "deep JSON": (lambda: _signed({**_parts(), "definitions.json": b"[" * 100_000}), "cannot be read"),
    "no JSON": (lambda: _signed({**_parts(), "definitions.json": b"\xff{"}), "cannot be read"),
    "JSON that grows": (lambda: _signed({**_parts(), "definitions.json": b"[" + b"{}," * _GROWING}), "more memory"),
    "a head that grows": (lambda: _with("calls/000000", _head(b"[" + b"{}," * _GROWING)), "more memory"),
    "no definitions": (lambda: _signed({**_parts(), "definitions.json": b"[]"}), "Definitions is malformed"),
    "a path that is none": (lambda: _defined(lambda told: told[1].append(7)), "not of type str"),
    "a frame without function": (lambda: _defined(lambda told: told[3][0][0].__setitem__(0, 10**6)), "inconsistent"),
    "a stack without frame": (lambda: _defined(lambda told: told[4][0][0].append(10**9)), "a missing frame"),
    "a line beyond all": (lambda: _defined(lambda told: told[3][0][0].__setitem__(1, 1 << 70)), "not of type int"),
    "another component": (lambda: _defined(lambda told: told[12][0].__setitem__(0, "evil")), "unknown component"),
    "other calls": (lambda: _defined(lambda told: told.__setitem__(7, told[7] + 1)), "calls than it declares"),
    "metadata that are none": (lambda: _defined(lambda told: told.__setitem__(0, "{")), "cannot be read"),
    "a kind without stack": (lambda: _batch(lambda head: head["kinds"].__setitem__(0, [0, 0, 10**6, 0])), "missing"),
    "a column that is cut": (lambda: _batch(lambda head: head["columns"][0].__setitem__(1, 10**9)), "truncated"),
    "fewer columns": (lambda: _batch(lambda head: head["columns"].pop()), "head of a batch"),
    "totals of no calls": (lambda: _column(_CALLS_OF_TOTALS, lambda of: [0] * len(of)), "do not match its calls"),
    "arguments of no JSON": (lambda: _batch(lambda head: head["arguments"].__setitem__(0, "{")), "cannot be read"),
    "arguments of another kind": (lambda: _batch(lambda head: head["arguments"].__setitem__(0, "[]")), "a JSON object"),
    "deep arguments": (lambda: _batch(lambda head: head["arguments"].__setitem__(0, _DEEP)), "too deeply"),
    "arguments that are none": (lambda: _batch(lambda head: head["arguments"].__setitem__(0, 7)), "list of strings"),
}  # fmt: skip

_IN_EACH_RUN = [
    *("another manifest", "a part of a folder above", "another digest", "a bomb", "JSON that grows"),
    *("a stack without frame", "a column that is cut", "arguments of another kind"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an empty index."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(file: Path, parts: Parts) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def _is_refused(here: Path, file: Path, told: str) -> None:
    result = framedex("import", file)
    assert result.exit_code == 1, result.output
    assert told in result.stderr and "Traceback" not in result.stderr, result.stderr
    assert {each.name for each in here.iterdir()} <= {file.name, ".framedex"}
    assert not list((here / ".framedex").rglob("capture.json"))
    assert not list((here / ".framedex").rglob("foreign"))
    if (here / ".framedex" / "index.db").exists():
        with Index.open(here / ".framedex" / "index.db") as index:
            assert index.captures() == []


def test_a_file_too_large_to_import_is_not_written() -> None:
    with ArchiveWriter(io.BytesIO()) as writing, pytest.raises(FramedexError, match="too large for one file"):
        writing.add("definitions.json", b"[" + b"{}," * _GROWING)


def test_columns_that_expand_to_too_much_memory_are_refused() -> None:
    data = _parts()["calls/000000"]
    columns = len(json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["columns"])
    many = (1 << 26) + 1
    head = json.dumps({"columns": [[1, many], *([[1, 0]] * (columns - 1))]}).encode()
    with pytest.raises(ValueError, match="longer than a shared capture allows"):
        BatchDecoder(DefinitionCounts(1, 1, 1, 1)).decode(_head(head) + bytes(many))


@pytest.mark.exhaustive(keep=_IN_EACH_RUN)
@pytest.mark.parametrize("what", REFUSED)
def test_a_hostile_file_is_refused_without_leftovers(what: str, here: Path) -> None:
    make, told = REFUSED[what]
    file = here / "a.fdx.zip"
    _write(file, make())
    _is_refused(here, file, told)


@pytest.mark.exhaustive(keep=["1000"])
@pytest.mark.parametrize("left", [30, 1_000, -1])
def test_a_truncated_file_is_refused(left: int, here: Path) -> None:
    file = here / "a.fdx.zip"
    file.write_bytes(project().files["plain"].read_bytes()[:left])
    _is_refused(here, file, "its end is missing")


def test_a_duplicate_part_is_refused(here: Path) -> None:
    file = here / "a.fdx.zip"
    _write(file, _parts())
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("definitions.json", b"[]")
    _is_refused(here, file, "a part twice")


def test_the_file_of_the_previous_capture_stays(here: Path) -> None:
    """Re-importing a file that was damaged after its first import leaves the old data in place."""
    file = here / "a.fdx.zip"
    file.write_bytes(project().files["plain"].read_bytes())
    assert framedex("import", file).exit_code == 0
    before = framedex("summary").stdout
    _write(file, _batch(lambda head: head["kinds"].__setitem__(0, [0, 0, 10**6, 0])))
    assert framedex("import", file).exit_code == 1
    assert framedex("summary").stdout == before


def test_hostile_names_are_shown_as_text_and_not_opened(here: Path) -> None:
    """Hostile names and paths never become written paths, and no control characters reach a terminal."""

    def change(told: Any) -> None:
        own = next(number for number, path in enumerate(told[1]) if path.endswith("model train.py"))
        told[1][own] = "/tmp/../../x\x1b]8;;javascript:alert(1)\x07/\x1b[2Jevil\n.py"
        for function in told[2]:
            function[1] = f"\x1b[31m{function[1]}\x00<script>"

    file = here / "a.fdx.zip"
    _write(file, _defined(change))
    assert framedex("import", file).exit_code == 0
    assert {each.name for each in here.iterdir()} == {file.name, ".framedex"}
    capture = next((here / ".framedex" / "captures").iterdir())
    assert {each.name for each in (capture / "sources" / "0").iterdir()} == {"source.py"}
    for verb in ("compiles", "trace 40", "waits", "memory"):
        shown = framedex(*verb.split()).stdout
        assert not {"\x1b", "\x07", "\x00"} & set(shown)


def test_local_files_are_not_named_by_a_shared_file() -> None:
    """A shared capture never names local binaries: names of own captures come from own binaries."""
    with closing(sqlite3.connect(imported_project() / ".framedex" / "index.db")) as connection:
        assert connection.execute("SELECT count(*) FROM modules").fetchone() == (0,)
