"""Every format, in samples from the tools themselves: the frames, and their positions in the text."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from framedex.model import Language
from framedex.text_stacks import ParsedText, PartKind, StackFormat, TextFrame, read

SAMPLES = Path(__file__).parents[2] / "fixtures" / "stacks"


def sample(name: str) -> tuple[ParsedText, list[str]]:
    """A parsed sample and its lines."""
    text = (SAMPLES / name).read_text(encoding="utf-8")
    return read(text), text.split("\n")


def frame_summary(frame: TextFrame) -> tuple[str, str, int]:
    """A frame's function, file name and line."""
    assert frame.place is not None
    return frame.function, Path(frame.place.path).name, frame.place.line


ALL = sorted(path.name for path in SAMPLES.iterdir() if path.suffix in (".txt", ".json", ".mlir"))


def test_the_parts_of_a_frame_are_its_text() -> None:
    for name in ALL:
        _check_parts(*sample(name))


def _check_parts(reading: ParsedText, lines: list[str]) -> None:
    assert reading.stacks
    assert not reading.problems
    for frame in reading.frames():
        texts = {part.kind: lines[part.line][part.start : part.end] for part in frame.parts}
        assert frame.first_line <= min((part.line for part in frame.parts), default=frame.first_line)
        if PartKind.PATH in texts and frame.place is not None and frame.format is not StackFormat.MLIR:
            assert texts[PartKind.PATH] == frame.place.path
            assert int(texts[PartKind.LINE]) == frame.place.line
        if PartKind.MODULE in texts:
            assert texts[PartKind.MODULE] == frame.module
        if PartKind.ADDRESS in texts:
            assert frame.address == int(texts[PartKind.ADDRESS], 16)


def test_stacks_do_not_overlap_and_contain_their_frames() -> None:
    for name in ALL:
        _check_stacks(*sample(name))


def _check_stacks(reading: ParsedText, lines: list[str]) -> None:
    last = -1
    for stack in reading.stacks:
        assert last < stack.first_line <= stack.last_line < len(lines)
        assert all(stack.first_line <= frame.first_line <= frame.last_line <= stack.last_line for frame in stack.frames)
        last = stack.last_line


def test_each_chained_exception_has_its_own_stack() -> None:
    reading, _ = sample("python-chained.txt")
    assert [(stack.format, stack.title) for stack in reading.stacks] == [
        (StackFormat.PYTHON, "ValueError: at the bottom"),
        (StackFormat.PYTHON, "RuntimeError: after"),
    ]
    first = reading.stacks[0]
    assert not first.innermost_first
    # The line "[Previous line repeated 17 more times]" is not a frame, and does not end a stack.
    assert [frame.function for frame in first.frames] == ["chained", "recurse", "recurse", "recurse", "recurse"]
    assert frame_summary(first.frames[-1]) == ("recurse", "failing.py", 11)


def test_exception_groups_are_read_inside_their_margin() -> None:
    reading, _ = sample("python-grouped.txt")
    assert [stack.title for stack in reading.stacks] == [
        "ExceptionGroup: both (2 sub-exceptions)",
        "ValueError: at the bottom",
        "RuntimeError: after",
        "ValueError: invalid literal for int() with base 10: 'x'",
    ]


def test_jax_names_the_origin_of_a_transformed_operation() -> None:
    reading, _ = sample("jax-transformed.txt")
    before, after = (stack for stack in reading.stacks if stack.format is StackFormat.PYTHON)
    assert before.title.startswith("jax._src.source_info_util.JaxStackTraceBeforeTransformation: ValueError")
    assert frame_summary(before.frames[-1])[0] == "<lambda>"
    assert frame_summary(after.frames[-1])[0] == "backward"


def test_faulthandler_has_a_stack_per_thread_innermost_first() -> None:
    reading, _ = sample("faulthandler.txt")
    waiting, crashed = reading.stacks
    assert (waiting.format, crashed.format) == (StackFormat.FAULTHANDLER, StackFormat.FAULTHANDLER)
    assert crashed.innermost_first
    assert crashed.title.startswith("Current thread 0x")
    assert [frame_summary(frame)[0] for frame in crashed.frames] == ["string_at", "segfault", "<module>"]


def test_py_spy_text_and_json_give_the_same_frames() -> None:
    text, _ = sample("py-spy.txt")
    as_json, _ = sample("py-spy.json")

    def main_thread_frames(reading: ParsedText) -> list[tuple[str, str, int]]:
        return [
            frame_summary(frame) for stack in reading.stacks if "MainThread" in stack.title for frame in stack.frames
        ]

    assert main_thread_frames(text) == main_thread_frames(as_json)
    assert main_thread_frames(text)[0][0] == "waiting.<locals>.<genexpr>"
    # In JSON, a frame has several lines, and each leads to it.
    assert all(frame.last_line - frame.first_line == 7 for frame in as_json.frames())


def test_pystack_mixes_languages_and_marks_inlined_frames() -> None:
    reading, _ = sample("pystack.txt")
    main = next(stack for stack in reading.stacks if any(frame.function == "waiting" for frame in stack.frames))
    assert not main.innermost_first
    assert {frame.language for frame in main.frames} == {Language.PYTHON, Language.NATIVE}
    inlined = next(frame for frame in main.frames if frame.labels == ("inlined",))
    assert inlined.function == "pymain_main"
    assert inlined.module.endswith("libpython3.11.so.1.0")
    assert main.frames[0].place is None  # File "???", line 0


def test_gdb_frames_have_names_without_arguments() -> None:
    reading, _ = sample("gdb.txt")
    (stack,) = (stack for stack in reading.stacks if stack.format is StackFormat.GDB)
    assert [frame.number for frame in stack.frames] == list(range(6))
    assert frame_summary(stack.frames[0])[0] == "__pthread_kill_implementation"
    assert stack.frames[0].address is None
    assert frame_summary(stack.frames[4]) == ("crash::Client::BufferFromHost", "crash.cc", 44)
    assert stack.frames[4].call_address == (stack.frames[4].address or 0) - 1


def test_glog_frames_may_lack_a_symbol() -> None:
    reading, _ = sample("glog.txt")
    (stack,) = reading.stacks
    assert stack.format is StackFormat.GLOG
    names = [frame.function for frame in stack.frames]
    assert names[-5:] == ["crash::Client::BufferFromHost()", "main", "", "__libc_start_main", "_start"]
    assert not stack.frames[0].is_return_address  # the line `PC:`


def test_absl_frames_are_looked_up_one_byte_before_their_return_address() -> None:
    reading, _ = sample("absl.txt")
    (stack,) = reading.stacks
    assert stack.format is StackFormat.ABSL
    assert stack.title.startswith("*** SIGSEGV received at")
    pc, caller = stack.frames
    assert (pc.function, pc.call_address) == ("crash::Touch<>()", pc.address)
    assert (caller.function, caller.call_address) == ("", (caller.address or 0) - 1)


def test_an_asan_report_has_stacks_for_access_and_allocation() -> None:
    reading, _ = sample("asan-gcc.txt")
    access, allocation = (stack for stack in reading.stacks if "here:" in stack.title or "==ERROR" in stack.title)
    assert frame_summary(access.frames[1])[1:] == ("crash.cc", 44)
    assert access.frames[1].function.startswith("crash::Client::BufferFromHost(crash::Shape const&, ")
    assert allocation.title == "allocated by thread T0 here:"
    assert allocation.frames[0].function == "operator new[](unsigned long)"


def test_an_unsymbolized_report_has_binaries_and_offsets() -> None:
    reading, _ = sample("asan-stripped.txt")
    access = next(stack for stack in reading.stacks if "==ERROR" in stack.title)
    assert all(frame.module and frame.offset and not frame.function for frame in access.frames)
    assert access.frames[3].module == "/lib/x86_64-linux-gnu/libc.so.6"


def test_a_ubsan_report_begins_with_its_line() -> None:
    reading, _ = sample("ubsan.txt")
    (stack,) = reading.stacks
    assert frame_summary(stack.frames[0]) == ("", "crash.cc", 33)
    assert stack.frames[0].place is not None
    assert stack.frames[0].place.column == 22
    assert "signed integer overflow" in stack.title


def test_hlo_instructions_lead_to_their_line_and_callers() -> None:
    reading, lines = sample("hlo.txt")
    (stack,) = reading.stacks
    assert stack.title == "HloModule jit_outer"
    sine = next(frame for frame in stack.frames if " sine(" in lines[frame.first_line])
    assert frame_summary(sine)[0] == "lowered.<locals>.inner"
    # The printed parent ids are one too high: taken literally, the chain would skip a frame.
    assert [place.function for place in sine.outward] == ["lowered.<locals>.outer", "lowered", "<module>"]
    assert sine.labels == ("jit(outer)/sin",)


def test_the_largest_allocations_of_an_oom_lead_to_their_lines() -> None:
    tpu = (
        "Ran out of memory in memory space hbm. Used 20.14G of 15.48G hbm.\n\n"
        "  Largest program allocations in hbm:\n\n"
        '  1. Size: 4.00G\n     Operator: op_name="jit(step)/tanh" source_file="/a/train.py" source_line=6\n'
        "     Shape: f32[1024,1024,1024]{2,1,0:T(8,128)}\n     Unpadded size: 4.00G\n     XLA label: fusion.12\n"
        "     Allocation type: HLO temp\n     ==========================\n\n"
        '  2. Size: 2.00G\n     Operator: op_name="jit(step)/dot_general" source_file="/a/train.py" source_line=9\n'
    )
    gpu = (
        "Peak buffers:\n\tBuffer 1:\n\t\tSize: 4.00GiB\n"
        '\t\tOperator: op_name="jit(step)/tanh" source_file="/a/train.py" source_line=6\n\t\tXLA Label: fusion\n'
    )
    (stack,) = read(tpu).stacks
    assert stack.title == "Largest program allocations in hbm"
    assert [(frame.place.line, frame.labels) for frame in stack.frames if frame.place] == [
        (6, ("4.00G", "jit(step)/tanh")),
        (9, ("2.00G", "jit(step)/dot_general")),
    ]
    (stack,) = read(gpu).stacks
    assert [frame.labels for frame in stack.frames] == [("4.00GiB", "jit(step)/tanh")]


def test_mlir_aliases_at_the_end_are_resolved() -> None:
    reading, lines = sample("stablehlo.mlir")
    (stack,) = reading.stacks
    sine = next(frame for frame in stack.frames if "stablehlo.sine" in lines[frame.first_line])
    assert frame_summary(sine)[0] == "lowered.<locals>.inner"
    assert [place.function for place in sine.outward] == ["lowered.<locals>.outer", "lowered", "<module>"]
    file = next(frame for frame in stack.frames if " to :" in lines[frame.first_line])
    assert file.place is not None
    assert file.place.column > 0


def test_a_log_of_all_formats_has_every_stack() -> None:
    names = ["absl.txt", "python-chained.txt", "hlo.txt", "faulthandler.txt", "gdb.txt", "stablehlo.mlir", "ubsan.txt"]
    texts = [(SAMPLES / name).read_text(encoding="utf-8") for name in names]
    alone = [(stack.format, stack.title, len(stack.frames)) for text in texts for stack in read(text).stacks]

    log = "I0000 00:00:1700.1 12 service] a line of the log\n".join(texts)

    assert [(stack.format, stack.title, len(stack.frames)) for stack in read(log).stacks] == alone


def test_single_line_frames_are_found() -> None:
    lines = [
        ('  File "/a b/c.py", line 3, in f', ("f", "c.py", 3)),
        ("2026-11-20 worker-3:   File \"/a/c.py\", line 3, in f", ("f", "c.py", 3)),
        ("    #1 0x4a in f(int) /a b/c.cc:3:4", ("f(int)", "c.cc", 3)),
        ("    #1 f /a/c.cc:3:4 (lib.so+0x12) (BuildId: 00ff)", ("f", "c.cc", 3)),
        ("#1  0x4a in operator() (this=0x0) at c.cc:3", ("operator()", "c.cc", 3)),
        ("#1  0x4a in std::function<void (int)>::operator() (this=0x0) at c.cc:3",
         ("std::function<void (int)>::operator()", "c.cc", 3)),
        ('x = y metadata={op_type="sin" op_name="a" source_file="/a/c.py" source_line=3}', ("", "c.py", 3)),
        ('  %0 = f() loc("/a/c.py":3:4)', ("", "c.py", 3)),
        ('  %0 = f() loc("g"("/a/c.py":3:4 to 5:6))', ("g", "c.py", 3)),
        ('  %0 = f() loc(callsite("g"("/a/c.py":3:4) at "/a/d.py":9:1))', ("g", "c.py", 3)),
        ('  %0 = f() loc(fused<"x">["name", "/a/c.py":3:4])', ("", "c.py", 3)),
        ("/a/c.cc:3:4: error: expected ';'", ("", "c.cc", 3)),
        ("see jax/_src/c.py:3.", ("", "c.py", 3)),
        ("E0000 00:00:17.1 8 c.cc:3] no", ("", "c.cc", 3)),
    ]  # fmt: skip
    assert [(line, [frame_summary(frame) for frame in read(line).frames()]) for line, _ in lines] == [
        (line, [expected]) for line, expected in lines
    ]


def test_other_lines_are_not_frames() -> None:
    lines = ["#12 is fixed (see below)", "at 12:30:15", "a.b.d:3", "malloc(12)", "Thread 5 is done", "1.5:3", ".py:3"]
    assert [line for line in lines if read(line).stacks] == []


def test_shell_output_below_a_faulthandler_stack_is_not_its_title() -> None:
    text = 'Current thread 0x00007f (most recent call first):\n  File "/a.py", line 1 in f\nAborted\n'
    (stack,) = read(text).stacks
    assert stack.title.startswith("Current thread")
    assert stack.last_line == 1


def test_the_c_stack_of_python_3_14_is_read() -> None:
    text = (
        "Current thread's C stack trace (most recent call first):\n"
        '  Binary file "/lib/libx.so", at f+0x12 [0x7f01]\n  Binary file "/usr/bin/python", at +0x4a [0x55]\n'
    )
    (stack,) = read(text).stacks
    first, second = stack.frames
    assert (first.function, first.module, first.call_address) == ("f", "/lib/libx.so", 0x7F00)
    assert (second.function, second.address) == ("", 0x55)


def test_operator_names_without_debug_information_are_parsed() -> None:
    for name in ("operator<", "ns::operator<< <Text<char> >", "A::operator->", "A::operator()(int)"):
        (stack,) = read(f"#0  0x00007f00 in {name} () from /lib/libtpu.so\n").stacks
        assert (stack.frames[0].function, stack.frames[0].module) == (name, "/lib/libtpu.so")


def test_a_wrapped_gdb_line_is_one_frame() -> None:
    text = "#3  0x4a in f (a=1,\n    b=2) at /a/c.cc:24\n#4  0x4b in g () from /lib/libx.so\n#5  0x4c in ?? ()\n"
    (stack,) = read(text).stacks
    wrapped, library, unknown = stack.frames
    assert (wrapped.first_line, wrapped.last_line, frame_summary(wrapped)) == (0, 1, ("f", "c.cc", 24))
    assert (library.function, library.module) == ("g", "/lib/libx.so")
    assert (unknown.function, unknown.address) == ("", 0x4C)


def test_cyclic_stack_frame_tables_end() -> None:
    text = (
        'HloModule m\n\nFileNames\n1 "/a/c.py"\n\nFileLocations\n1 {file_name_id=1 line=3}\n\n'
        "StackFrames\n1 {file_location_id=1 parent_frame_id=3}\n2 {file_location_id=1 parent_frame_id=2}\n\n"
        "%x = f32[] sine(), metadata={stack_frame_id=2}\n"
    )
    assert all(len(frame.outward) <= 1 for frame in read(text).frames())


def test_cyclic_aliases_end() -> None:
    text = '%0 = f() loc(#loc1)\n#loc1 = loc("a"(#loc2))\n#loc2 = loc(callsite(#loc1 at "/a/c.py":3:1))\n'
    assert all(len(frame.outward) <= 2 for frame in read(text).frames())


def test_frames_after_a_location_use_their_own_format() -> None:
    """The line of a compiler or log names a location, and a sanitizer's stack follows at once."""
    reading = read(
        "/src/a.cc:12: note: here\n"
        "    #0 0x55b5ecf3af71 in shop::ring(int) /src/shop.cc:33:22\n"
        "    #1 0x55b5ecf3afba in main /src/main.cc:8:3\n"
    )
    assert [(frame.format, frame.function) for frame in reading.frames()] == [
        (StackFormat.PLAIN, ""),
        (StackFormat.SANITIZER, "shop::ring(int)"),
        (StackFormat.SANITIZER, "main"),
    ]


OPEN_STACKS = {
    "gdb": "#0  0x00007f00 in f ()\n",
    "gdb, wrapped": "#0  0x00007f00 in f (argument=1,\n",
    "an address alone": "    #0 0x00007f00  (/lib/libx.so+0x12)\n",
    "faulthandler": 'Current thread 0x00007f (most recent call first):\n  File "/a.py", line 1 in f\n',
    "a traceback": 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    call()\n',
    "folly": "    @ 0000000000403b8a f\n",
    "backward": '#1    Object "/a.out", at 0x55d0, in f\n',
    "a list of symbols": "*** Begin stack trace ***\n\tf\n",
}
FRAMES = {
    "a number of its own": "    #1 0x00007f01 in g (/lib/liby.so+0x34)",
    "coredumpctl's": "                #1  0x00007f0100000000 g (liby.so + 0x34)",
    "absl's": "    @     0x7f0100000000        112  g",
    "Python's": '    File "/b.py", line 2, in g',
    "glibc's": "        /lib/liby.so(g+0x34)[0x7f0100000000]",
    "valgrind's": "    ==1==    by 0x7F01: g (y.c:2)",
    "lldb's": "    frame #1: 0x00007f01 liby.so`g + 52",
}


def test_a_frame_line_does_not_continue_the_previous_line() -> None:
    for stack, frame in itertools.product(OPEN_STACKS.values(), FRAMES.values()):
        _check_frame_below(stack, frame)


def _check_frame_below(stack: str, frame: str) -> None:
    alone = [(each.function, each.place, each.module) for text in (stack, frame) for each in read(text).frames()]
    together = list(read(stack + frame + "\n").frames())
    assert [(each.function, each.place, each.module) for each in together] == alone
    assert [each.first_line == each.last_line for each in together] == [True] * len(alone)


def test_log_prefixes_are_not_part_of_a_frame() -> None:
    prefix = "2026-11-22T10:00:00.123Z I0101 12:00:00.123456 123 file.cc:12] "
    (stack,) = read(f"{prefix}#1  0x4a in f (a=1,\n{prefix}    b=2) at /a/c.cc:24\n").stacks
    (frame,) = stack.frames
    assert frame_summary(frame) == ("f", "c.cc", 24)
    assert (frame.start, frame.end) == (len(prefix), len(f"{prefix}    b=2) at /a/c.cc:24"))
    assert [part.start for part in frame.parts if part.kind is PartKind.PATH] == [len(f"{prefix}    b=2) at ")]


def test_an_empty_line_does_not_end_a_stack() -> None:
    (stack,) = read("#0  0x4a in f () at /a.c:1\n   \n\r\nworker-1  | \n#1  0x4b in g () at /a.c:2\n").stacks
    assert [frame.function for frame in stack.frames] == ["f", "g"]


def test_the_last_line_needs_no_line_break() -> None:
    (frame,) = read("#9  0x1234 in f (a=1)\n   from /lib/libx.so").frames()
    assert (frame.function, frame.module) == ("f", "/lib/libx.so")


def test_callback_calls_are_read_from_joined_log_lines() -> None:
    calls = "\\n  ".join(("At:", "<string>(3): f", "/srv/a.py(31): f", "/srv/b.py(12): <module>"))
    line = f"INTERNAL: CpuCallback error: ValueError: no {calls}\\n"
    frames = [frame_summary(frame) for frame in read(line).frames()]
    assert frames == [("f", "<string>", 3), ("f", "a.py", 31), ("<module>", "b.py", 12)]


def test_lines_inside_json_strings_are_read() -> None:
    lines = (
        "Traceback (most recent call last):",
        '  File "/srv/a.py", line 3, in f',
        "    g(x)",
        '  File "/srv/b.py", line 4, in g',
        "ValueError: bad",
        "    @     0x7f1a28aa1111        928  xla::ShapeUtil::MakeShape(int)",
        "#1  0x00007fffd3a1b2d3 in xla::Literal::Make () from /srv/libjax_common.so",
    )
    expected = [
        [(frame.function, frame.place, frame.module) for frame in stack.frames]
        for stack in read("\n".join(lines)).stacks
    ]
    cloud = [json.dumps({"severity": "ERROR", "textPayload": line, "labels": "x"}) for line in lines]
    docker = [json.dumps({"log": f"{line}\n", "stream": "stderr"}, separators=(",", ":")) for line in lines]
    nested = [json.dumps({"insertId": "a", "jsonPayload": {"message": line, "n": 3}}) for line in lines]
    kubernetes = [f"2024-01-01T00:00:00.123456789Z stderr F {line}" for line in docker]
    ranks = [line.replace('{"log":"', '{"log":"[rank0]: ') for line in docker]
    for log in (cloud, docker, nested, kubernetes, ranks):
        stacks = read("\n".join(log)).stacks
        assert [[(frame.function, frame.place, frame.module) for frame in stack.frames] for stack in stacks] == expected
        assert stacks[0].title == "ValueError: bad"


def test_windbg_frames_without_symbols_do_not_end_a_stack() -> None:
    text = (
        " # Child-SP          RetAddr               Call Site\n"
        "00 000000e4`b9f7e5a8 00007ffb`12345678     jaxlib!xla::ShapeUtil::MakeShape+0x12 [C:\\shape_util.cc @ 312]\n"
        "01 000000e4`b9f7e5b0 00007ffb`12345699     0x00007ffb`12345699\n"
        "02 000000e4`b9f7e5b0 00007ffb`12345699     plugin+0x1234\n"
        "03 000000e4`b9f7e5b8 00007ffb`12345699     python313!PyObject_Call+0x50\n"
    )
    (stack,) = read(text).stacks
    assert [(frame.function, frame.module, frame.address, frame.offset) for frame in stack.frames] == [
        ("xla::ShapeUtil::MakeShape", "jaxlib", None, None),
        ("", "", 0x7FFB12345699, None),
        ("", "plugin", None, 0x1234),
        ("PyObject_Call", "python313", None, None),
    ]


def test_a_frame_truncated_before_its_name_is_not_named_in() -> None:
    assert [frame.function for frame in read("#12  0x00007fffd3a1b2c3 in\n").frames()] == []
