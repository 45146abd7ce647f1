"""Exports of an index, as bytes, and programs with hostile names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.model import Function, Thread
from tests.indexer.recorded import Project

HOSTILE = (
    "put;semi%3Bcolon",
    "two\nlines\r\n",
    "</script><script>alert(1)</script>",
    "std::function<void (int, a<b>, c;d)>::operator() 12",
    "bytes \udcff that are no UTF-8",
    'quotes " and \\ and \x00 and \x1b[31m',
    "long" * 20_000,
)


def export(index: Path, form: str, output: Path, *options: str) -> bytes:
    """The export of an index in a format."""
    done = run(index, form, output, *options)
    assert done.exit_code == 0, done.output
    return output.read_bytes()


def run(index: Path, form: str, output: Path | str, *options: str) -> Result:
    """Run `framedex export`."""
    return CliRunner().invoke(cli, ["--index", str(index), "export", "--format", form, "-o", str(output), *options])


def hostile_index(project: Project) -> Path:
    """The project's index with hostile names for its functions, its boundary functions and its threads."""
    codes = project.capture.codes
    named = tuple(replace(code, qualname=HOSTILE[at % len(HOSTILE)]) for at, code in enumerate(codes))
    assert len(codes) < len(HOSTILE)
    functions = (Function("pjrt", HOSTILE[5]), Function("pjrt", HOSTILE[6]))
    threads = (Thread(100, "MainThread"), Thread(101, HOSTILE[2] + ";" + HOSTILE[1]))
    project.ingest(capture=replace(project.capture, codes=named, functions=functions, threads=threads)).close()
    return project.index
