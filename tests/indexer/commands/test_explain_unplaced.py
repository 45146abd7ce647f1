"""Output of `explain` for frames without local files: first the text's own words, then how to resolve the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.sources.releases import read_release_commits

XLA = f"https://github.com/openxla/xla/blob/{read_release_commits('0.9.1')['xla']}"
CHECK = "F0224 20:36:56.981088 2922075 shape_util.cc:685] Check failed: TupleElementCount(shape) > index (2 vs. 2)\n"
FRAME = "*** Check failure stack trace: ***\n    @     0x7aeb3dc18723  xla::ShapeUtil::GetTupleElementShape()\n"
STATED = "jaxlib: 0.9.1\n"


@pytest.fixture(autouse=True)
def without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def explained(text: str) -> Result:
    result = CliRunner().invoke(cli, ["explain"], input=text)
    assert result.exit_code == 0, result.output
    return result


def test_the_line_of_a_failed_check_is_in_the_file_that_its_stack_names() -> None:
    assert f"{XLA}/xla/shape_util.cc#L685 [not here]" in explained(STATED + CHECK + FRAME).stdout


def test_the_file_of_a_check_alone_is_doubtful_and_not_located_without_a_release() -> None:
    assert f"{XLA}/xla/shape_util.cc#L685 [doubtful, not here]" in explained(STATED + CHECK).stdout
    assert "shape_util.cc:685 [not here]" in explained(CHECK).stdout
    assert "#L685 [doubtful, nearest release, not here]" in explained(CHECK + FRAME).stdout


def test_an_ambiguous_or_unknown_file_name_is_not_guessed() -> None:
    for name in ("utils.cc", "no_such_file_of_xla.cc", "train.py"):
        text = STATED + CHECK.replace("shape_util.cc", name) + FRAME
        assert f"{name}:685 [not here]" in explained(text).stdout


def test_a_location_printed_by_a_debugger_precedes_those_of_other_releases() -> None:
    text = (
        "#6  0x00007fff9212d051 in xla::HloSharding::NumTiles (this=0x55)"
        " at external/xla/xla/hlo/ir/hlo_sharding.cc:961\n"
    )
    shown = explained(text).stdout.splitlines()
    assert "  xla::HloSharding::NumTiles  external/xla/xla/hlo/ir/hlo_sharding.cc:961 [not here]" in shown
    others = [line for line in shown if "https://" in line]
    assert others and all(line.startswith("      or ") and "nearest release" in line for line in others)
    document = json.loads(CliRunner().invoke(cli, ["explain", "--json"], input=text).stdout)
    assert document["stacks"][0]["frames"][0]["place"]["line"] == 961


def test_windows_paths_are_shown_unchanged() -> None:
    path = r"C:\Users\u\xenv\Lib\site-packages\flax\u1234.py"
    assert f"{path}:334 [not here]" in explained(f'  File "{path}", line 334 in run\n').stdout


def test_terminal_escapes_are_still_escaped() -> None:
    assert "\x07" not in explained('  File "/a\x07b.py", line 1, in f\n').stdout


def test_frames_with_only_an_address_say_how_to_name_them() -> None:
    text = "tcmalloc: large alloc 8589934592 bytes == 0x5581e0000000 @  0x7fefdec9d680 0x7fefdecbe824 0x7fedeee9d2da\n"
    result = explained(text)
    assert "tcmalloc, 3 frames, 0 with source" in result.stdout
    assert "3 frames have only an address" in result.stderr
    assert "only an address" not in explained("    @  0x7f1bb00a8eed  8  nobody::knows()\n").stderr


def test_a_crash_in_a_handler_leads_to_the_lines_of_its_call(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("def step(x):\n    return x\n")
    text = (
        "framedex: SIGSEGV in the FFI handler of 'fail' (execute stage),"
        f" called at {program}:2 in step, from /gone/main.py:9 in main\n"
    )
    shown = explained(text).stdout
    assert shown.startswith("SIGSEGV in the FFI handler of 'fail' (execute stage)")
    assert f"  step  {program}:2\n" in shown
    assert "the call is not in an index here: run `framedex index` on its capture" in shown
    assert "  main  /gone/main.py:9 [not here]\n" in shown


def test_a_crash_in_a_handler_without_lines_is_parsed() -> None:
    shown = explained("framedex: SIGABRT in the FFI handler of 'fail' (instantiate stage)\n").stdout
    assert shown.startswith("SIGABRT in the FFI handler of 'fail' (instantiate stage)")


def test_a_line_cut_off_by_a_crash_report_is_ignored() -> None:
    start = "framedex: SIGSEGV in the FFI handler of 'fail' (execute stage), called at /gone/a.py:9 in f"
    long = f"{start}, from /gone/{'x' * 4096}"[:2040] + ".py:1234"
    assert ".py:1 " not in explained(f"{long[:2047]}\n").stdout
    assert "/gone/a.py:9" in explained(f"{long[:2047]}\n").stdout


def test_html_entities_of_a_copied_page_are_decoded() -> None:
    text = (
        "<p>Traceback (most recent call last):<br>\n"
        "&nbsp;&nbsp;File &quot;/gone/a.py&quot;, line 12, in &lt;module&gt;<br>\n"
        "    @     0x7f1a28aa1111  12 nobody::f(a&lt;int&gt; const&amp;)</p>\n"
    )
    shown = explained(text).stdout
    assert "  <module>  /gone/a.py:12 [not here]\n" in shown
    assert "  nobody::f(a<int> const&)  0x7f1a28aa1111\n" in shown
    assert "a&lt;int&gt;" in explained("    @     0x7f1a28aa1111  12 nobody::f(a&lt;int&gt;)\n").stdout
