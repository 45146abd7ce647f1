"""Unreadable files: the message names a supported format to convert to."""

from __future__ import annotations

import bz2
import cProfile
import lzma
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.imports.reading import detect_format, read_profile
from framedex.model import ImportOrigin
from tests.indexer.export.exporting import export
from tests.indexer.imports.profiles import pprof
from tests.run.costs.trained import index_of_training

FRAME = [("f", "a.py", 1)]


def _of_cprofile(folder: Path) -> bytes:
    with cProfile.Profile() as profile:
        sorted([2, 1])
    profile.dump_stats(folder / "stats")
    return (folder / "stats").read_bytes()


def test_the_converter_for_an_unsupported_recording_is_named(tmp_path: Path) -> None:
    cases: list[tuple[bytes, str]] = [
        (b"PERFILE2\x68\0\0\0", "perf script"),
        (b"MOJ\x03\x01austin\x003.7.0\0", "mojo2austin"),
        (b"\x04\x22\x4d\x18\x40\x40\xc0", "memray transform"),
        (bz2.compress(b"a;b 1\n"), "Decompress it"),
        (lzma.compress(b"a;b 1\n"), "Decompress it"),
        ("a;b 1\n".encode("utf-16"), "UTF-8"),
        (b'{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}]}', "speedscope"),
        (b'{"meta":{"version":24,"processType":0},"threads":[]}', "speedscope"),
        (b'{"start_time":1.5,"root_frame":{"function":"f"}}', "pyinstrument -r speedscope"),
        (b'<?xml version="1.0"?><!DOCTYPE svg>', "docs/how-to/import.md"),
        (b"heap profile:      1:    2 [     1:    2] @ heapprofile\n", "pprof -proto"),
    ]
    for content, remedy in cases:
        file = tmp_path / "profile"
        file.write_bytes(content)
        with pytest.raises(FramedexError) as refused:
            detect_format(file)
        assert remedy in str(refused.value.remedy)


def test_opentelemetry_profiles_are_not_pprof(tmp_path: Path) -> None:
    index = index_of_training()
    file = tmp_path / "train.otlp"
    export(index, "otlp", file)
    with pytest.raises(FramedexError, match="a profile of OpenTelemetry") as refused:
        detect_format(file)
    assert "pprof" in str(refused.value.remedy)


def test_cprofile_output_has_no_stacks(tmp_path: Path) -> None:
    file = tmp_path / "profile"
    file.write_bytes(_of_cprofile(tmp_path))
    with pytest.raises(FramedexError, match="cProfile"):
        detect_format(file)


def test_a_nonzero_value_is_proposed_if_the_default_is_zero(tmp_path: Path) -> None:
    file = tmp_path / "profile"
    types = [("cpu", "nanoseconds"), ("exceptions", "count"), ("locks", "count")]
    file.write_bytes(pprof([(FRAME, [5, 0, 0], {})], types))
    with pytest.raises(FramedexError, match=r"nonzero locks \(count\)[^:]*: cpu\.$"):
        read_profile(file, ImportOrigin("pprof", str(file), "", None, ()))
    assert read_profile(file, ImportOrigin("pprof", str(file), "", "cpu", ())).table()[:, 2].tolist() == [5]
