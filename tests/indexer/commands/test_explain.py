"""`framedex explain`: a crash text with the source of every frame."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.text_stacks.detect import read
from tests.indexer.recorded import Project

FRAMES = (
    "*** SIGSEGV received at time=1700 on cpu 0 ***\n"
    "PC: @     0x7f1bb00a8eec  (unknown)  (unknown)\n"
    "    @     0x7f1bb00a8eed        112  runtime::allocate()\n"
)


def explain(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["explain", *arguments] if "--index" not in arguments else [*arguments], input=text)


def test_frames_with_a_symbol_get_their_source(project: Project) -> None:
    project.ingest(project.library.parent)
    result = explain("--index", str(project.index), "explain", "-", text=FRAMES)
    assert result.exit_code == 0
    heading, unknown, allocate = result.stdout.splitlines()[:3]
    assert heading.endswith("absl, 2 frames, 1 with source, innermost first")
    assert "(unknown)" in unknown
    assert f"{project.library_source}:" in allocate
    assert "[definition]" in allocate


def test_json_output_is_available(project: Project) -> None:
    project.ingest(project.library.parent)
    result = explain("--index", str(project.index), "explain", "--json", text=FRAMES)
    (stack,) = json.loads(result.stdout)["stacks"]
    assert (stack["format"], stack["first_line"], stack["last_line"]) == ("absl", 1, 3)
    assert stack["frames"][1]["location"]["how"] == "definition"
    assert stack["frames"][1]["line"] == 3


def test_the_settings_may_name_the_index(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ingest(project.library.parent)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "framedex.toml").write_text(f'index = "{project.index}"\n')
    monkeypatch.chdir(elsewhere)
    assert f"{project.library_source}:" in explain(text=FRAMES).stdout


def test_colours_of_a_log_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("def f(): 1\n")
    line = '  File \x1b[35m"a.py"\x1b[0m, line \x1b[35m1\x1b[0m, in \x1b[35mf\x1b[0m\n'
    assert f"f  {tmp_path / 'a.py'}:1\n" in explain(text=line).stdout


def test_without_an_index_the_paths_are_still_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("def f(): 1\n")
    log = tmp_path / "crash.log"
    log.write_text(f'  File "a.py", line 1, in f\r\n{FRAMES}')
    result = explain(str(log))
    assert result.exit_code == 0
    assert f"f  {tmp_path / 'a.py'}:1" in result.stdout
    assert "framedex index --source DIR" in result.stderr


def test_paths_are_mapped_by_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('[[path-map]]\nfrom = "/proc/self/cwd/external/xla"\nto = "."\n')
    result = explain(text="/proc/self/cwd/external/xla/a.cc:1:2: error\n")
    assert f"{tmp_path / 'a.cc'}:1" in result.stdout


def test_a_text_without_stacks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = explain(text="all is well\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no stack in a supported format" in result.stderr


@pytest.mark.parametrize("name", ["nowhere.log", "."])
def test_a_file_that_cannot_be_read_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = explain(name)
    assert result.exit_code == 1
    assert "Name a text file, or - for stdin." in result.stderr


def test_log_text_is_printed_but_never_interpreted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = explain(text='  File "/x\x1b]0;title\x07/a.py", line 1, in f\x1b[31m\x1bc\u202e\n')
    assert "\x1b" not in result.stdout
    assert "  f\\x1bc\\u202e  /x/a.py:1" in result.stdout


@pytest.mark.parametrize("from_stdin", [False, True])
def test_the_end_of_a_long_log_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_stdin: bool) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("framedex.commands.verbs.crashes.explain._MAX_BYTES", 4000)
    monkeypatch.setattr("framedex.commands.verbs.crashes.explain._CHUNK_BYTES", 512)
    longest = 0

    def read_part(text: str) -> object:
        nonlocal longest
        longest = max(longest, len(text))
        return read(text)

    monkeypatch.setattr("framedex.commands.verbs.crashes.explain.read", read_part)
    steps = "".join(f"step {number}, loss é\n" for number in range(1000))
    crash = "    @     0x7aeb3dc18723  xla::ShapeUtil::GetTupleElementShape()\n"
    text = f"jaxlib: 0.9.1\n{crash}{steps}{crash}"
    log = tmp_path / "train.log"
    log.write_text(text)

    result = explain(text=text) if from_stdin else explain(str(log))
    assert "line 1003  glog, 1 frame" in result.stdout
    assert "xla/shape_util.cc#L683 " in result.stdout and "jaxlib 0.9.1 (stated in the text)" in result.stderr
    assert longest <= 4000
    assert "The log has over 3.91 KiB: stacks before line " in result.stderr
    (stack,) = json.loads(explain("--json", str(log)).stdout)["stacks"]
    assert (stack["first_line"], stack["last_line"], stack["frames"][0]["line"]) == (1003, 1003, 1003)


def test_the_index_of_the_settings_is_used(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ingest(project.library.parent)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "framedex.toml").write_text(f"index = {json.dumps(str(project.index))}\n")
    assert f"{project.library_source}:" in explain(text=FRAMES).stdout


def test_a_location_that_the_file_contradicts_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xla.py").write_text("import os\n" * 27)
    text = '  File "xla.py", line 584, in compile\n'
    assert f"{tmp_path / 'xla.py'}:27 [doubtful, was line 584, edited since]" in explain(text=text).stdout
    (stack,) = json.loads(explain("--json", text=text).stdout)["stacks"]
    location = stack["frames"][0]["location"]
    assert (location["how"], location["line"], location["moved_from"]) == ("doubtful", 27, 584)
