"""A full disk during `run`, `index` and file-writing verbs: it is reported, and no partial files stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.robustness.mounts import on_small_disk
from tests.run.invoking import program
from tests.running import PROGRAMS


@pytest.mark.exhaustive
def test_a_recording_that_fills_the_disk_reports_its_losses_in_every_verb(tmp_path: Path) -> None:
    """With a 2 MB disk and 12,000 sent arrays, recorded and missing calls add up to those of a large disk."""
    done = on_small_disk(
        tmp_path,
        "2m",
        f'framedex run -o caps "{program("many_puts.py")}" 12000; echo "status $?"\n'
        'exec 2>&1; for verb in index "index caps" captures summary check calls "trace 1"; do\n'
        f'echo "== $verb"; framedex --index "{tmp_path.parent}/elsewhere.db" $verb; done',
    )
    assert "status 0" in done.stdout, done.stderr
    warning, recorded = (line for line in done.stderr.splitlines() if line.startswith("framedex: "))
    assert "NOT ALL CALLS ARE RECORDED. Recording stopped early: the disk was full." in warning
    assert "Free some space" in warning
    kept, lost = (_number(r"recorded ([\d,]+) calls", recorded), _number(r"Missing: ([\d,]+) later calls", warning))
    whole = on_small_disk(tmp_path, "100m", f'framedex run -o caps "{program("many_puts.py")}" 12000')
    assert kept + lost == _number(r"recorded ([\d,]+) calls", whole.stderr)
    assert 0 < kept < lost
    said = dict(part.split("\n", 1) for part in done.stdout.split("== ")[1:])
    told = {verb: text.count("Recording stopped early: the disk was full.") for verb, text in said.items()}
    assert told == {verb: int(verb != "index") for verb in told}


@pytest.mark.exhaustive(keep=["8k"])
@pytest.mark.parametrize("size", ["8k", "100k"])
def test_a_disk_too_small_for_any_recording_is_reported_as_full(tmp_path: Path, size: str) -> None:
    done = on_small_disk(tmp_path, size, f'framedex run -o caps "{program("endings.py")}" returns; find . -type f')
    assert done.stdout == "out\n", "the program runs, and no partial capture remains"
    assert "nothing was recorded: cannot" in done.stderr
    assert "No space left on device" in done.stderr
    assert "never opened" not in done.stderr


@pytest.mark.exhaustive
def test_a_disk_without_room_for_a_thread_is_reported_as_full(tmp_path: Path) -> None:
    done = on_small_disk(tmp_path, "300k", f'framedex run -o caps "{program("endings.py")}" returns')
    assert "Recording stopped early: the disk was full. Missing: all calls of some threads." in done.stderr
    assert "recorded 0 calls on 0 threads" in done.stderr


@pytest.mark.exhaustive
def test_a_capture_deleted_while_its_program_runs_is_reported_as_gone(tmp_path: Path) -> None:
    program_text = "import jax, shutil; jax.device_put(1.0); shutil.rmtree('caps')"
    done = on_small_disk(tmp_path, "20m", f'echo "{program_text}" > program.py; framedex run -o caps program.py; ls')
    assert "was removed while the program ran" in done.stderr
    assert "never opened" not in done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", ["200k", "1m", "4m", "8m", "24m"])
def test_an_index_without_disk_space_is_not_created(tmp_path: Path, captures: Path, size: str) -> None:
    """If a first index finds the disk full, its space is freed, and the indexed data can be queried."""
    done = on_small_disk(
        tmp_path,
        size,
        f'framedex index "{captures}"; echo "status $?"; cat .framedex/index.db* 2>/dev/null | wc -c\n'
        "echo then; framedex captures --json; test -e .framedex/index.db && framedex check >/dev/null; true",
    )
    first, then = done.stdout.split("then\n")
    status, size_left = re.findall(r"\d+", first.split("status ")[1])
    if int(status) == 0:
        assert then.count('"id"') == 2
        assert "full" not in done.stderr
        return
    assert "The disk is full" in done.stderr
    assert "Free some space" in done.stderr
    if then:
        assert then.count('"id"') in (1, 2), "completed files are kept"
        assert "--rebuild" not in done.stderr
    else:
        assert int(size_left) == 0, "an empty index leaves no file"
        assert "There is no index here" in done.stderr


@pytest.mark.exhaustive
def test_an_index_without_space_to_grow_is_unchanged(tmp_path: Path, captures: Path) -> None:
    """If an index cannot grow on a nearly full disk, its answers stay the same, byte for byte."""
    small, large = sorted(captures.iterdir())
    done = on_small_disk(
        tmp_path,
        "16m",
        f'framedex index "{small}" >/dev/null; framedex calls --json --limit 0 > /tmp/$$.before\n'
        "head -c $(($(df --output=avail -B1 . | tail -1) - 2000000)) /dev/zero > filling\n"
        "free() { df --output=avail -B1 . | tail -1; }; before=$(free)\n"
        f'framedex index "{large}"; echo "status $?"; ls .framedex; echo "taken $(($before - $(free)))"\n'
        f'framedex index --rebuild; echo "status $?"\n'
        "framedex calls --json --limit 0 | cmp - /tmp/$$.before && echo same; rm /tmp/$$.before\n"
        f'rm filling; framedex index "{small}" >/dev/null; echo "status $?"',
    )
    assert re.findall(r"status (\d)", done.stdout)[0] == "1", done.stderr
    assert re.findall(r"status (\d)", done.stdout)[-1] == "0", done.stderr
    assert "The disk is full" in done.stderr
    assert _number(r"taken (-?[\d]+)", done.stdout) <= 8192
    assert "index.db-wal" not in done.stdout
    assert "same" in done.stdout


@pytest.mark.exhaustive
def test_an_empty_index_hides_none_of_a_parent_folder(tmp_path: Path, captures: Path) -> None:
    done = on_small_disk(
        tmp_path,
        "30m",
        f'framedex index "{captures}" >/dev/null || exit 1; mkdir -p inner/.framedex; cd inner; fill\n'
        f'framedex --index .framedex/index.db index "{captures}"; echo "status $?"; framedex captures --json',
    )
    assert "status 1" in done.stdout, done.stderr
    assert done.stdout.count('"id"') == 2, done.stderr


@pytest.mark.exhaustive(keep=["index"])
@pytest.mark.parametrize(
    "verb",
    [
        "index",
        "trace 1 -o trace.txt",
        "sources export SOURCES -o map.fdxmap --commit 0123456789012345678901234567890123456789 --component demo",
        "sources import demo.map",
        "sources add SOURCES",
        "cmake SOURCES -o ide",
        "run -o caps PROGRAM returns",
    ],
)
def test_every_writer_reports_a_full_disk(tmp_path: Path, captures: Path, verb: str) -> None:
    """On a disk without a free byte, a verb that must write to the index reports that and leaves no files."""
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "CMakeLists.txt").write_text("project(demo)\n")
    (sources / "demo.cc").write_text("namespace demo { int put(int value) { return value; } }\n")
    small = min(captures.iterdir())
    disk = tmp_path / "disk"
    disk.mkdir()
    typed = verb.replace("SOURCES", f'"{sources}"').replace("PROGRAM", f'"{program("endings.py")}"')
    export = f'framedex sources export "{sources}" -o demo.map --commit {"0" * 40} --component demo >/dev/null 2>&1'
    done = on_small_disk(
        disk,
        "16m",
        f'framedex index "{small}" >/dev/null 2>&1; {export}; fill; find . -type f > /tmp/$$.before\n'
        f'framedex {typed} >/tmp/$$.out; echo "status $?"; cat /tmp/$$.out; find . -type f | diff - /tmp/$$.before\n'
        "framedex captures --json; rm /tmp/$$.*",
    )
    assert '"id": 1' in done.stdout, done.stderr
    is_run = verb.startswith("run")
    assert f"status {0 if is_run else 1}" in done.stdout, done.stdout + done.stderr
    assert "full" in done.stderr or "No space left" in done.stderr, done.stderr
    assert not re.search(r"^[<>] .*(trace\.txt|map\.fdxmap|ide|tmp)", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.exhaustive
@pytest.mark.skipif(PROGRAMS.is_relative_to("/tmp"), reason="the checkout itself is on the full disk")
def test_a_full_disk_of_temporary_files_is_named(tmp_path: Path) -> None:
    """Without room for temporary files anywhere, a verb that needs one reports that."""
    done = on_small_disk(
        tmp_path,
        "20k",
        "fill; for folder in /tmp /var/tmp /usr/tmp; do mount --bind . $folder 2>/dev/null; done\n"
        f'framedex sources export "{PROGRAMS}" --component demo --allow-dirty -o /tmp/here.map; echo "status $?"',
    )
    assert "status 1" in done.stdout, done.stderr
    assert "No temporary folder can be made" in done.stderr or "No space left on device" in done.stderr


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found, text
    return int(found[1].replace(",", ""))


@pytest.mark.exhaustive
def test_a_store_reports_a_full_disk_of_temporary_files(tmp_path: Path, captures: Path) -> None:
    small, store = tmp_path / "small", tmp_path / "store"
    small.mkdir()
    add = f'framedex fleet add "{captures}"/* --store "{store}"'
    done = on_small_disk(small, "2500k", f"TMPDIR=$PWD {add}; ls; {add}")
    assert "Frame names cannot be stored in" in done.stderr and "Set TMPDIR to a folder" in done.stderr
    assert "framedex-fleet" not in done.stdout and done.stdout.count(" stacks\n") == 2
