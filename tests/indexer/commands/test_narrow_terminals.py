"""Lines in a narrow terminal break between their parts and words; paths stay clickable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.commands.output.console import fit_line
from framedex.commands.output.render_calls import build_single_runs, call_lines
from framedex.commands.output.render_trace import render_folded_frames, render_trace_header
from framedex.commands.output.terminal import Line, Span, Terminal, paint, render_location_line, render_text_line
from framedex.index import Index
from framedex.model import CallRow, CaptureRow, Location, LocationEvidence, Trace
from framedex.texts.calls import format_error_lines
from tests.indexer.recorded import Project

FOLLOWED = Terminal(colors=False, links=True, host="h", width=80)
PLAIN = Terminal(colors=False, links=False, width=80)
NOT_A_TERMINAL = Terminal(colors=False, links=False)


@pytest.fixture(scope="module")
def trace(indexed_once: Project) -> Trace:
    with Index.open(indexed_once.index) as index:
        found = index.calls.trace(1)
    assert found is not None
    return found


@pytest.fixture
def deep(tmp_path: Path) -> Location:
    """A file whose path alone is wider than a terminal."""
    folder = tmp_path / ("a" * 60) / "package" / "module"
    folder.mkdir(parents=True)
    (folder / "source.py").touch()
    return Location(str(folder / "source.py"), 17, LocationEvidence.EXACT)


def rows(line: Line, terminal: Terminal) -> list[str]:
    return ["".join(span.text for span in row).rstrip() for row in fit_line(line, terminal)]


def test_a_long_path_is_shortened_if_its_link_has_the_whole_path(deep: Location) -> None:
    line = (Span("  P short_name  "), *render_location_line(deep))

    (row,) = fit_line(line, FOLLOWED)

    assert "".join(span.text for span in row) == "  P short_name  …/package/module/source.py:17"
    assert f"file://h{deep.path}#17" in paint(row, FOLLOWED)


def test_a_long_path_stays_whole_in_terminals_that_detect_paths(deep: Location) -> None:
    line = (Span("  P a_function         "), *render_location_line(replace(deep, how=LocationEvidence.RANKED)))

    assert rows(line, PLAIN) == ["  P a_function", f"      {deep.path}:17", "      [ranked]"]


def test_a_path_that_nothing_can_open_is_always_shortened() -> None:
    line = (Span("  N name  "), Span(f"/{'x' * 90}/lib/libjax.so+0x12 (unit.cc)", "dim", can_shorten=True))

    assert rows(line, PLAIN) == ["  N name  …/lib/libjax.so+0x12 (unit.cc)"]


def test_a_missing_file_is_marked_and_not_a_link() -> None:
    gone = Location("/build/Python/ceval.c", 12, LocationEvidence.EXACT)

    assert [span.text for span in render_location_line(gone)] == ["/build/Python/ceval.c:12", " [not here]"]
    assert "\x1b]8" not in "".join(paint(row, FOLLOWED) for row in fit_line(render_location_line(gone), FOLLOWED))


MAPPED = Location(
    "xla@5a9e73cbd925:xla/pjrt/c_api_client/client.cc",
    1187,
    LocationEvidence.SINGLE,
    "https://github.com/openxla/xla/blob/5a9e73cbd92530cac2ac36f4736a774b2412afe2/xla/pjrt/c_api_client/client.cc#L1187",
)


def test_a_public_location_is_short_if_its_link_has_the_address() -> None:
    """A frame of a source map, in a terminal with links, and in VS Code's, which opens web links."""
    line = (Span("  N name  "), *render_location_line(MAPPED))
    in_vscode = Terminal.detect(True, {"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.95.3", "NO_COLOR": "1"})

    for terminal in (FOLLOWED, replace(in_vscode, width=80)):
        (row,) = fit_line(line, terminal)
        assert "".join(span.text for span in row) == "  N name  xla/pjrt/c_api_client/client.cc:1187 [single, not here]"
        assert f"\x1b]8;;{MAPPED.url}\x1b\\xla/pjrt/c_api_client/client.cc:1187\x1b]8;;\x1b\\" in paint(row, terminal)
    (narrow,) = fit_line(line, replace(FOLLOWED, width=50))
    assert "".join(span.text for span in narrow) == "  N name  …/client.cc:1187 [single, not here]"
    assert str(MAPPED.url) in paint(narrow, FOLLOWED)


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "xterm"},
        {"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.71.2"},
        {"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.95.3", "FORCE_HYPERLINK": "0"},
        {"TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"},
    ],
)
def test_a_public_location_is_its_address_in_terminals_without_links(environment: dict[str, str]) -> None:
    line = (Span("  N name  "), *render_location_line(MAPPED))
    terminal = Terminal.detect(True, {"NO_COLOR": "1", **environment})

    shown = [paint(row, terminal).strip() for row in fit_line(line, replace(terminal, width=80))]
    assert shown == ["N name", MAPPED.url, "[single, not here]"]
    assert rows(line, Terminal(colors=False, links=False)) == [f"  N name  {MAPPED.url} [single, not here]"]


def test_file_paths_stay_detectable_by_the_vscode_terminal(deep: Location) -> None:
    terminal = Terminal.detect(True, {"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.95.3", "NO_COLOR": "1"})

    assert paint(render_location_line(deep), terminal) == f"{deep.path}:17"


def test_a_sentence_wraps_between_words_below_its_label() -> None:
    shown = rows(render_text_line("  error      " + "several words " * 12), PLAIN)

    assert all(len(row) <= 80 for row in shown)
    assert all(row.startswith("             several") or row.startswith("             words") for row in shown[1:])
    assert " ".join(" ".join(shown).split()) == "error " + " ".join(["several words"] * 12)


def test_redirected_output_is_unchanged(deep: Location) -> None:
    line = (Span("  P a_function  "), *render_location_line(deep), Span("  " + "word " * 50))

    assert list(fit_line(line, NOT_A_TERMINAL)) == [line]


@pytest.mark.exhaustive(keep=["20", "80"])
@pytest.mark.parametrize("width", [20, 40, 80, 100])
def test_a_trace_fits_except_for_paths_and_names(trace: Trace, width: int) -> None:
    terminal = replace(FOLLOWED, width=width)
    lines = [*render_trace_header(trace, trace.frames), *render_folded_frames(trace.frames, width)]

    for line in lines:
        for row in rows(line, terminal):
            assert len(row) <= width or " " not in row.strip(), row
    text = "".join("".join(span.text for span in line) for line in lines).replace("…/", "")
    assert "glue::convert" in text


def test_a_call_table_truncates_cells_in_terminals_only(trace: Trace) -> None:
    call, capture = _failed(trace.call), trace.capture

    narrow = _table([call], [capture], 80)
    whole = _table([call], [capture], None)

    assert all(len(row) <= 80 for row in narrow)
    assert "…" in narrow[-1]
    assert "RESOURCE_EXHAUSTED: Out of memory allocating 1048577 bytes, and more of it" in whole[-1]


def test_a_table_names_an_error_and_a_trace_shows_its_message(trace: Trace) -> None:
    assert format_error_lines(_failed(trace.call)) == [
        "RESOURCE_EXHAUSTED: Out of memory allocating 1048577 bytes, and more of it",
        "second line",
    ]
    assert format_error_lines(replace(trace.call, error=12)) == ["UNIMPLEMENTED"]
    assert format_error_lines(replace(trace.call, error=12, arguments={"error_message": "UNIMPLEMENTED: x"})) == [
        "UNIMPLEMENTED: x"
    ]
    shown = rows_of(render_trace_header(replace(trace, call=_failed(trace.call)), trace.frames))
    assert "             second line" in shown


def test_a_stack_without_python_says_why(trace: Trace) -> None:
    native = replace(trace, frames=trace.frames[4:])
    unsupported = replace(
        native, capture=replace(native.capture, metadata_text='{"python_problem": "unknown version"}')
    )

    assert "no Python runs on this thread" in rows_of(render_trace_header(native, native.frames))[-1]
    assert "no Python runs" not in rows_of(render_trace_header(trace, trace.frames))[-1]
    assert "were not recorded: unknown version" in rows_of(render_trace_header(unsupported, ()))[-1]


def test_only_locally_available_source_counts_as_source(trace: Trace) -> None:
    first = trace.frames[0]
    gone = replace(first, location=Location("/no/such/file.py", 1, LocationEvidence.EXACT))

    assert (
        "8 frames (4 Python, 4 native), 8 with source here (7 exact)"
        in rows_of(render_trace_header(trace, trace.frames))[-1]
    )
    elsewhere = replace(trace, frames=(gone, *trace.frames[1:]))
    assert "7 with source here (6 exact)" in rows_of(render_trace_header(elsewhere, elsewhere.frames))[-1]


def rows_of(lines: object) -> list[str]:
    return [paint(line, NOT_A_TERMINAL) for line in lines]  # type: ignore[attr-defined]


def _failed(call: CallRow) -> CallRow:
    message = "Out of memory allocating 1048577 bytes, and more of it\nsecond line"
    return replace(call, error=8, arguments=call.arguments | {"error_message": message})


def _table(calls: list[CallRow], captures: list[CaptureRow], width: int | None) -> list[str]:
    return rows_of(call_lines(build_single_runs(calls), captures, width))


def test_no_verb_summary_is_truncated() -> None:
    context = click.Context(cli)
    groups = [name for name in cli.list_commands(context) if isinstance(cli.get_command(context, name), click.Group)]
    assert {"captures", "sources"} <= set(groups)

    for arguments in ([], *([name] for name in groups)):
        told = CliRunner().invoke(cli, [*arguments, "--help"], terminal_width=78).stdout
        assert "..." not in told.partition("Commands:")[2], told
