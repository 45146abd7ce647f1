"""Archives of fuzz inputs: the same inputs give the same bytes, and damage is reported with a remedy."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fuzz import __main__ as fuzzing
from tests.fuzz import corpus_archive, make_seeds
from tests.fuzz.corpus_archive import CorpusError, archive_path, read_inputs, unpack_inputs, write_inputs

INPUTS = [b"", b"\0" * 30, b"text\n"]


@pytest.fixture(autouse=True)
def empty_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_archive, "ROOT", tmp_path)
    monkeypatch.setattr(corpus_archive, "CORPUS", tmp_path / "corpus")


def test_written_inputs_are_read_back_without_duplicates() -> None:
    write_inputs("paths", [*INPUTS, INPUTS[0]])
    assert sorted(read_inputs("paths").values()) == sorted(INPUTS)


def test_an_archive_does_not_depend_on_order_and_time_of_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    write_inputs("paths", INPUTS)
    before = archive_path("paths").read_bytes()
    monkeypatch.setattr(time, "time", lambda: 2e9)
    write_inputs("paths", reversed(INPUTS))
    assert archive_path("paths").read_bytes() == before


def test_unpacking_adds_the_inputs_to_a_folder(tmp_path: Path) -> None:
    write_inputs("paths", INPUTS)
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "new").write_bytes(b"new")
    unpack_inputs("paths", tmp_path / "unpacked")
    unpacked = {path.name: path.read_bytes() for path in (tmp_path / "unpacked").iterdir()}
    assert unpacked == {**read_inputs("paths"), "new": b"new"}


def test_a_target_without_an_archive_has_no_inputs() -> None:
    assert read_inputs("paths") == {}


def test_an_interrupted_write_keeps_the_old_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    write_inputs("paths", INPUTS)
    monkeypatch.setattr(Path, "replace", fail)
    with suppress(KeyboardInterrupt):
        write_inputs("paths", [b"new"])
    assert sorted(read_inputs("paths").values()) == sorted(INPUTS)


def test_a_truncated_archive_is_reported_at_every_length() -> None:
    write_inputs("paths", INPUTS)
    whole = archive_path("paths").read_bytes()
    for length in range(len(whole)):
        archive_path("paths").write_bytes(whole[:length])
        with pytest.raises(CorpusError, match="damaged or truncated"):
            read_inputs("paths")


@pytest.mark.exhaustive
def test_a_changed_byte_is_reported_or_harmless() -> None:
    write_inputs("paths", INPUTS)
    whole = archive_path("paths").read_bytes()
    for position in range(len(whole)):
        for bits in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[position] ^= bits
            archive_path("paths").write_bytes(damaged)
            with suppress(CorpusError):
                assert set(read_inputs("paths").values()) <= set(INPUTS)


def test_damage_is_reported_with_the_commands_that_repair_it() -> None:
    write_inputs("paths", INPUTS)
    os.truncate(archive_path("paths"), 100)
    with pytest.raises(CorpusError) as raised:
        read_inputs("paths")
    assert "Restore it: git checkout -- corpus/paths.zip\n" in str(raised.value)
    assert "python -m tests.fuzz.make_seeds paths && python -m tests.fuzz --minimise paths" in str(raised.value)


@pytest.mark.parametrize("options", [["--seconds", "1"], ["--minimise"]])
def test_fuzzing_reports_damage_without_a_traceback(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzzing, "BUILD", tmp_path / "build")
    write_inputs("paths", INPUTS)
    os.truncate(archive_path("paths"), 100)
    assert fuzzing.main([*options, "paths"]) == 1
    assert capsys.readouterr().err.startswith("fuzz: corpus/paths.zip is damaged or truncated (")


def test_minimising_a_target_without_inputs_names_the_command_that_adds_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzzing, "BUILD", tmp_path / "build")
    assert fuzzing.main(["--minimise", "paths"]) == 1
    assert capsys.readouterr().err == (
        "fuzz: paths has no inputs to minimise. Add its seeds: python -m tests.fuzz.make_seeds paths\n"
    )
    assert not archive_path("paths").exists()


def test_seeds_are_added_to_an_archive_once() -> None:
    write_inputs("paths", INPUTS)
    assert make_seeds.main(["paths"]) == 0
    with_seeds = archive_path("paths").read_bytes()
    assert set(read_inputs("paths").values()) == {*INPUTS, *make_seeds.paths()}
    assert make_seeds.main(["paths"]) == 0
    assert archive_path("paths").read_bytes() == with_seeds


def test_seeds_are_not_added_to_a_damaged_archive(capsys: pytest.CaptureFixture[str]) -> None:
    archive_path("paths").parent.mkdir()
    archive_path("paths").touch()
    assert make_seeds.main(["paths"]) == 1
    assert "damaged or truncated" in capsys.readouterr().err
    assert archive_path("paths").read_bytes() == b""
