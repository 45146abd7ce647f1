"""A shared capture gives the same answers as on its own machine, without any of that machine's files."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import CallFilter, CompileNote, LocationEvidence
from framedex.programs.notes import build_note
from framedex.shared.packing import pack_value, unpack_value
from tests.indexer.sharing.planting import Planter
from tests.indexer.sharing.project import FUNCTION, STATIC, VERBS, framedex, imported_project, project


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without any data."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the imported capture, for read-only tests."""
    monkeypatch.chdir(imported_project())
    return imported_project()


def _imported(name: str = "plain") -> None:
    result = framedex("import", project().files[name])
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("imported")
def test_verbs_answer_the_same_after_sharing() -> None:
    """Without the program and its capture, everything except file locations is unchanged."""
    assert not project().folder.exists()
    for verb in VERBS:
        assert _plain(framedex(*verb.split()).stdout) == _plain(project().answers[verb]), verb


def _plain(answer: str) -> list[str]:
    """An answer without file locations, data from local files, and the capture's name."""
    answer = re.sub(r"'?/[^'\n]*?/(?:sources/0|hiddenlab)/model train\.py'?", "FILE", answer)
    answer = re.sub(r"(?:FILE|model train\.py|'model train\.py') --dataset", "PROGRAM --dataset", answer)
    answer = re.sub(r"shared (?:/\S*python\S* )?|/\S*python\S* ", "", answer)
    answer = re.sub(r"/\S*/sources/\d+/|/\S*/(?=\w+\.(?:cc|h|c)\b)", "", answer)
    answer = re.sub(r" \[file changed since\]|, file changed since", "", answer)
    answer = re.sub(r" \[not here\]| \(\+\d+ candidates?\)|\d+ with source here \(\d+ exact\), ", "", answer)
    return [" ".join(line.split()) for line in answer.splitlines()]


def test_every_field_of_a_note_is_shared() -> None:
    note: CompileNote = Planter(0).value(CompileNote)

    assert note.donated
    assert build_note(json.loads(json.dumps(asdict(note)))) == note


def test_a_file_without_the_newest_fields_is_read() -> None:
    """The oldest files have no donated arguments, later ones no keys, then no keys of the persistent cache."""
    keys, cache_key = (("function", "", "f #1"),), (("computation", "0a"),)
    note = CompileNote("jit_f", "f", "train.py:3", (), (), (0,), keys, cache_key, 1.0)
    fields = pack_value(note, str)
    without_cache = replace(note, cache_key=(), cache_minimum_s=0.0)

    assert unpack_value(CompileNote, fields) == note
    assert unpack_value(CompileNote, fields[:-2]) == without_cache
    assert unpack_value(CompileNote, fields[:-3]) == replace(without_cache, keys=None)
    assert unpack_value(CompileNote, fields[:-4]) == replace(without_cache, donated=(), keys=None)
    for wrong in (fields[:-5], [*fields, 1]):
        with pytest.raises(ValueError, match="CompileNote is malformed"):
            unpack_value(CompileNote, wrong)


def test_lines_lead_to_the_read_only_shared_text(imported: Path) -> None:
    with Index.open(imported / ".framedex" / "index.db") as index:
        (call,) = index.calls.find(CallFilter(function="PJRT_LoadedExecutable_Execute"), 1)
        trace = index.calls.trace(call.id)
        assert trace is not None
        (place,) = (frame.location for frame in trace.frames if frame.function.name == "main")
        assert place is not None and place.how is LocationEvidence.EXACT
        text = Path(place.path)
        assert f'{FUNCTION}(jnp.ones((3, 5)), mode="{STATIC}")' in text.read_text().split("\n")[place.line - 1]
        assert imported / ".framedex" / "captures" in text.parents
        assert not stat.S_IMODE(text.stat().st_mode) & 0o222
        assert index.line(str(text), place.line).summary() is not None


def test_sources_are_shared_on_request(here: Path) -> None:
    """`none` and `files` store no texts, or whole files. `lines`, the default, is in the other tests."""
    for name, expected in (("none", 0), ("files", 1)):
        folder = here / name
        folder.mkdir()
        framedex("--index", folder / "index.db", "import", project().files[name])
        texts = list(folder.rglob("model*"))
        assert len(texts) == expected
        if name == "files":
            assert "import functools" in texts[0].read_text()


def test_the_same_capture_gives_the_same_bytes() -> None:
    files = project().files
    assert files["plain"].read_bytes() == files["again"].read_bytes()


def test_a_local_file_precedes_the_shared_text(here: Path) -> None:
    """With a path rule to the program's local folder, its lines are in that file."""
    (here / "framedex.toml").write_text(f'[[path-map]]\nfrom = "{project().folder}"\nto = "mine"\n')
    (here / "mine").mkdir()
    (here / "mine" / project().program.name).write_text("\n".join(["# mine"] * 40))
    _imported()
    assert "mine/model train.py:16" in framedex("compiles").stdout


def test_importing_it_again_changes_nothing(here: Path) -> None:
    _imported()
    assert "already imported" in framedex("import", project().files["plain"]).stdout
    assert len(list((here / ".framedex" / "captures").iterdir())) == 1


@pytest.mark.usefixtures("imported")
def test_a_shared_capture_is_marked() -> None:
    assert "shared" in framedex("captures").stdout
    assert framedex("summary").stdout.startswith("Capture 1 of shared ")
    assert "recorded on another machine and shared" in framedex("summary").stderr


def test_a_shared_capture_can_be_shared_again(here: Path) -> None:
    """A shared capture and an imported profile are both shared, and samples stay samples."""
    _imported()
    (here / "stacks.txt").write_text("main;put 3\n")
    assert framedex("import", "stacks.txt").exit_code == 0
    for capture in ("1", "2"):
        assert framedex("share", capture, "-o", f"{capture}.fdx.zip").exit_code == 0
    assert "2 were selected: 1, 2." in framedex("share", "all").stderr
    assert framedex("share").exit_code == 0
    assert (here / "capture-2.fdx.zip").read_bytes() == (here / "2.fdx.zip").read_bytes()
    assert framedex("--index", "there/index.db", "import", "1.fdx.zip", "2.fdx.zip").exit_code == 0
    there = framedex("--index", "there/index.db", "captures").stdout
    assert "3 samples" in there or "1 sample" in there
    first = framedex("--index", "there/index.db", "summary", "--capture", "1").stdout
    assert first.splitlines()[1:] == framedex("summary", "--capture", "1").stdout.splitlines()[1:]


def test_a_file_is_replaced_completely_or_unchanged(here: Path) -> None:
    _imported()
    file = here / "capture-1.fdx.zip"
    file.write_text("something else")
    capture = next((here / ".framedex" / "captures").iterdir())
    hidden = capture.rename(here / "hidden")
    result = framedex("share", "1")
    assert (result.exit_code, file.read_text()) == (1, "something else")
    assert "is not a capture" in result.stderr
    hidden.rename(capture)
    assert framedex("share", "1").exit_code == 0
    assert file.read_bytes().startswith(b"PK")
    assert [each.name for each in here.iterdir() if each.name.startswith(".capture")] == []


@pytest.mark.usefixtures("imported")
def test_proposed_commands_are_quoted(tmp_path: Path) -> None:
    file = tmp_path / "two words.fdx.zip"
    assert f"import '{file}'` opens it" in framedex("share", "1", "-o", file).stderr


@pytest.mark.usefixtures("imported")
def test_impossible_requests_are_reported() -> None:
    for arguments, told in (
        (["share", "7"], "no capture 7"),
        (["share", "1", "--keep", "flax"], "works with --redact only"),
        (["share", "1", "-o", "no/such/folder/a.zip"], "could not be written"),
        (["share", "1", "-o", "/dev/full"], "No space left on device"),
        (["share", "1", "-o", "-"], "name one with -o"),
    ):
        result = framedex(*arguments)
        assert result.exit_code != 0 and told in result.output, result.output
