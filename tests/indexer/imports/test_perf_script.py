"""Output of `perf script` with non-default fields, and of programs with unusual names."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.imports.building import ProfileBuilder
from framedex.imports.reading import detect_format, read_profile
from framedex.model import ImportedFrame, ImportOrigin

STACK = "\t          1019b3 mmap+0x13 (/lib/libc.so.6)\n\t           8c3a1 main (/opt/my app (1)/run (deleted))\n\n"
FRAMES = [("mmap", "/lib/libc.so.6"), ("main", "/opt/my app (1)/run")]


def read(folder: Path, text: str, value: str | None = None) -> ProfileBuilder:
    file = folder / "perf.txt"
    file.write_text(text)
    assert detect_format(file).name == "perf script"
    return read_profile(file, ImportOrigin("perf script", str(file), "", value, ()))


def frames_of(builder: ProfileBuilder, row: int = 0) -> list[ImportedFrame]:
    stack = builder.stacks[builder.kinds[int(builder.table()[row, 0])][0]]
    found = [builder.frames[frame] for frame in stack.frames]
    return [frame for frame in found if isinstance(frame, ImportedFrame)]


@pytest.mark.parametrize(
    ("heading", "thread", "weight"),
    [
        ("run 12 5.000000:    2500 cpu-clock: \n", "run", (1, 2500)),
        ("worker 1 12 5.000000:    2500 cpu-clock:uhH: \n", "worker 1", (1, 2500)),
        ("a (b) 7: c 11/12 [003] 5.000000000:    2500 cycles:ppp: \n", "a (b) 7: c", (1, 0)),
        ("run 12 [003] UH   5.000000: cpu_core/cycles/P: \n", "run", (1, 0)),
        ("run    12 cycles: \n", "run", (1, 0)),
        ("run 11/12 \n", "run", (1, 0)),
        ("run\t12 [007] 5.000000:\t\t2500 task-clock:u:\n", "run", (1, 2500)),
    ],
    ids=["plain", "a number in the name", "odd name", "flags", "no time", "no event", "tabs"],
)
def test_headings_have_all_optional_fields(tmp_path: Path, heading: str, thread: str, weight: tuple[int, int]) -> None:
    builder = read(tmp_path, f"# captured on: today\n{heading}{STACK}")
    ((_, _, duration, calls, _),) = builder.table().tolist()
    assert (calls, duration) == weight
    assert [(each.tid, each.name) for each in builder.threads] == [(12, thread)]
    assert [(frame.function, frame.module) for frame in frames_of(builder)] == FRAMES


def test_frames_have_all_optional_fields(tmp_path: Path) -> None:
    cases: list[tuple[str, tuple[str, str]]] = [
        ("            7fc2 f(int, char)+0x5 (./lib/x.so)", ("f(int, char)", "./lib/x.so")),
        ("7fc2 f ([kernel.kallsyms])", ("f", "[kernel.kallsyms]")),
        ("\t            7fc2 f", ("f", "")),
        ("\t            7fc2", ("0x7fc2", "")),
        ("\t            7fc2  (/lib/x.so)", ("0x7fc2", "/lib/x.so")),
        ("\t            7fc2 [unknown] ([unknown])", ("0x7fc2", "")),
        ("\t            7fc2 f (/lib/x.so+0x1f)", ("f", "/lib/x.so")),
        ("        7fc2\tf() const (/lib/x.so)", ("f() const", "/lib/x.so")),
    ]
    for line, frame in cases:
        (found,) = frames_of(read(tmp_path, f"run 12 5.0: cycles: \n{line}\n\n"))
        assert (found.function, found.module) == frame


def test_without_call_chains_the_frame_is_on_the_heading_line(tmp_path: Path) -> None:
    line = "          run 12 5.0:   2500 cpu-clock:  ffffffff815de804 lock+0x74 ([kernel.kallsyms])\n"
    builder = read(tmp_path, f"{line}  mmap64.c:58\n{line}")
    assert builder.table()[:, 2].tolist() == [2500, 2500]
    assert [(f.function, f.file, f.line) for row in (0, 1) for f in frames_of(builder, row)] == [
        ("lock", "mmap64.c", 58),
        ("lock", "", 0),
    ]


def test_the_default_event_is_imported_unless_another_is_named(tmp_path: Path) -> None:
    text = "".join(f"run 12 5.0: {period} {event}: \n{STACK}" for period, event in ((1, "faults"), (70, "cycles"))) * 2
    text = text.replace("cycles:", "cycles:uppp:", 1)  # the same event
    text = f"run 12 4.9: PERF_RECORD_MMAP2 11/12: [0x1(0x2) @ 0]: r-xp /lib/x\n{text}"
    first = read(tmp_path, text)
    assert first.table()[:, 3].tolist() == [1, 1]
    assert first.problems == ("Left out: 2 samples of an event other than 'faults': choose it with `--value`.",)
    assert read(tmp_path, text, "cycles").table()[:, 3].tolist() == [70, 70]
    with pytest.raises(FramedexError, match="samples, faults, cycles"):
        read(tmp_path, text, "loads")


def test_source_lines_belong_to_the_frame_above_even_if_inlined(tmp_path: Path) -> None:
    frames = (
        "\t           712f6 hold+0x26\n  my fenv.h:416 (inlined)\n"
        "\t           712f6 sincos+0x26 (/lib/libm.so)\n  s_sincos.c:41\n"
        "\t            10e0 _start+0x20 (/bin/run)\n  ??:0\n\n"
    )
    told = frames_of(read(tmp_path, f"run 12 5.000000:    2500 cpu-clock: \n{frames}"))
    assert [(frame.function, frame.file, frame.line, frame.module, frame.is_inlined) for frame in told] == [
        ("hold", "my fenv.h", 416, "", True),
        ("sincos", "s_sincos.c", 41, "/lib/libm.so", False),
        ("_start", "", 0, "/bin/run", False),
    ]
