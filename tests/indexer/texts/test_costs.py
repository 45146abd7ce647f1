"""Costs of lines as text: for one row, and for all rows of a line."""

from __future__ import annotations

from dataclasses import replace

from framedex.model import (
    ChangeCause,
    Collective,
    CompileChange,
    Compiles,
    DeviceMemory,
    LineMemory,
    Location,
    LocationEvidence,
    OutOfMemory,
    PythonLine,
    TransferDirection,
    Transfers,
    WaitReason,
    Waits,
)
from framedex.texts.compilations import (
    format_collective,
    format_compiles,
    format_compiles_details,
    format_compiles_total,
)
from framedex.texts.costs import (
    format_memory,
    format_memory_details,
    format_memory_total,
    format_transfers,
    format_transfers_total,
    format_waits,
    format_waits_details,
    format_waits_total,
    list_memory_by_line,
)

LINE = PythonLine("step", Location("/home/me/train.py", 7, LocationEvidence.EXACT))
ONCE = Compiles(
    line=LINE,
    outward=(),
    function="f",
    compiles=1,
    failed=0,
    total_duration=40_000_000,
    longest_duration=40_000_000,
    loads=0,
    load_duration=0,
    changes=(),
    first_call=1,
    latest_call=1,
)
AGAIN = replace(ONCE, compiles=19, total_duration=1_400_000_000, latest_call=19)
MOVED = Transfers(LINE, (), TransferDirection.HOST_TO_DEVICE, "operand of a call", True, 400, 9600, 0, 1000, 1, 400)
HELD = LineMemory(LINE, (), 9, 4096, 1024, 3, 0, 2048)
DEVICE = DeviceMemory(1, "0", 4096, 5, 6, 0, 9, 0, (), (HELD,))


def changed(cause: ChangeCause, what: str = "", *values: str, parameter: str = "") -> Compiles:
    return replace(AGAIN, changes=(CompileChange(cause, what, values, parameter),))


def of_x(cause: ChangeCause, *values: str) -> Compiles:
    return changed(cause, "argument 0 (x)", *values, parameter="x")


def test_a_compiling_line_shows_count_duration_and_cause() -> None:
    assert format_compiles([ONCE]) == "compiled once, 40 ms"
    assert format_compiles([of_x(ChangeCause.SHAPE, "f32[1]", "f32[2]")]) == (
        "compiled 19 times, 1.4 s: shape of x, f32[1..2]"
    )
    assert format_compiles([changed(ChangeCause.ARGUMENTS, "number of arguments", "1", "2")]).endswith(
        ": number of arguments"
    )
    assert format_compiles([changed(ChangeCause.CONSTANTS, "constants", "1", "2")]).endswith(": constants")
    assert format_compiles([changed(ChangeCause.CODE)]).endswith(": other code")
    assert format_compiles([changed(ChangeCause.SAME)]).endswith(": an identical program")
    assert ": the id of a Python object in the code" in format_compiles([changed(ChangeCause.OBJECT_ID)])


def test_parameters_have_program_names_and_shapes_are_folded_with_advice() -> None:
    types = "float32[4,8]", "float32[7,8]", "float32[5,8]"
    one = changed(ChangeCause.SHAPE, "argument 3 (params['w'])", *types, parameter="params['w']")
    assert format_compiles_details([one]) == [
        'f: params["w"] was float32[4,8], [7,8], [5,8]; pad or bucket dimension 0'
    ]
    assert format_compiles([one]).endswith(': shape of params["w"], float32[4..7, 8]')
    both = of_x(ChangeCause.SHAPE, "f32[1,2]", "f32[2,3]")
    assert format_compiles_details([both]) == ["f: x was f32[1,2], [2,3]"]
    rank = of_x(ChangeCause.SHAPE, "f32[1]", "f32[1,2]")
    assert format_compiles_details([rank]) == ["f: x was f32[1], [1,2]"]
    assert format_compiles([rank]).endswith(": shape of x")
    unused = changed(ChangeCause.SHAPE, "unused argument y", "f32[1]", "f32[2]")
    assert format_compiles([unused]).endswith(": shape of unused argument y")
    static = changed(ChangeCause.STATIC, "n", "1", "2")
    assert format_compiles_details([static]) == [
        "f: static argument n was 1, 2; each new value compiles: pass it as an array, or reuse few values"
    ]


def test_advice_fits_the_values_of_a_static_argument() -> None:
    def advise(*values: str) -> str:
        (text,) = format_compiles_details([changed(ChangeCause.STATIC, "n", *values)])
        return text.partition("; ")[2]

    assert advise("(3,)", "(4,)") == "each new value compiles: reuse few values"
    assert advise("sin", "<lambda> #000001") == "define a function once and pass the same object"
    assert advise("0", "C(a=1) #000001", "C(a=1) #000002").startswith(
        "objects that are not equal compile again: keep one object"
    )


def test_the_number_of_an_object_may_be_anywhere_in_a_value() -> None:
    (text,) = format_compiles_details([changed(ChangeCause.STATIC, "c", *(f"C(m=M #00000a, w={w})" for w in "12"))])
    values, advice = "C(m=M #00000a, w=1), C(m=M #00000a, w=2)", "each new value compiles: reuse few values"
    assert text == f"f: static argument c was {values}; {advice}"
    (text,) = format_compiles_details([changed(ChangeCause.STATIC, "tag", "'run #1'", "'run #2'")])
    assert text == "f: static argument tag was 'run #1', 'run #2'; each new value compiles: reuse few values"


def test_objects_that_differ_only_by_identity_are_one_value() -> None:
    static = changed(ChangeCause.STATIC, "c", "0", "C(a=1) #000001", "C(a=1) #000002")
    (text,) = format_compiles_details([static])
    assert text.startswith("f: static argument c was 0, several unequal C(a=1); objects that are not equal")


def test_advice_on_a_dtype_needs_equal_shapes() -> None:
    assert format_compiles_details([of_x(ChangeCause.DTYPE, "f32[3]", "bf16[3]")]) == [
        "f: x was f32[3], bf16[3]; pass one dtype"
    ]
    assert format_compiles_details([of_x(ChangeCause.DTYPE, "f32[3]", "s32[]")]) == ["f: x was f32[3], s32[]"]


def test_an_argument_that_only_later_had_a_sharding_is_to_be_placed_before() -> None:
    assert format_compiles_details([of_x(ChangeCause.SHARDING, "unspecified", "P('x')")]) == [
        "f: sharding: x was unspecified, P('x'); place it with `jax.device_put` before the first call"
    ]


def test_arguments_with_equal_values_are_one_change() -> None:
    changes = [
        CompileChange(ChangeCause.SHAPE, f"argument {number} ({name})", ("f32[1]", "f32[2]"), name)
        for number, name in enumerate("abcd")
    ]
    other = CompileChange(ChangeCause.STATIC, "n", ("1", "2"))
    assert format_compiles_details([replace(AGAIN, changes=(*changes[:3], other, changes[3]))]) == [
        "f: a, b and 2 more were f32[1], [2]; pad or bucket dimension 0",
        "f: static argument n was 1, 2; each new value compiles: pass it as an array, or reuse few values",
    ]


def test_a_collective_of_several_ops_names_each() -> None:
    def name(op: str) -> str:
        one = Collective("all-reduce", op, "f32[]", 4, 2, False, False, None, 1)
        return format_collective(one).partition(":")[0]

    assert name("jit(f)/jvp()/dot") == "1 all-reduce inserted by the compiler for dot"
    assert name("jit(f)/(transpose(jvp())/dot:jvp()/sum)") == "1 all-reduce inserted by the compiler for dot and sum"
    assert name("x") == "1 all-reduce inserted by the compiler for argument x"


def test_failed_compilations_are_reported() -> None:
    assert format_compiles([replace(AGAIN, failed=2)]) == "compiled 19 times, 2 failed, 1.4 s"


def test_functions_of_one_line_are_summed_and_most_causes_only_counted() -> None:
    reasons = [
        changed(ChangeCause.SHAPE, f"argument {number}", parameter=f"array argument {number + 1}")
        for number in range(4)
    ]
    rows = [replace(row, function=f"f{number}") for number, row in enumerate(reasons)]
    assert format_compiles(rows) == (
        "compiled 76 times, 4 functions, 5.6 s: shape of array argument 1, shape of array argument 2 and 2 more"
    )


def test_compilation_cache_hits_are_separate() -> None:
    loaded = replace(ONCE, compiles=0, total_duration=0, loads=2, load_duration=3_000_000)
    assert format_compiles([loaded]) == "loaded 2 times from a cache, 3 ms"
    assert format_compiles([ONCE, loaded]) == "compiled once, 40 ms; loaded 2 times from a cache, 3 ms"
    assert format_compiles_total([ONCE, loaded]) == "1 compile, 40 ms; 2 loads from a cache, 3 ms"


def test_implicit_transfers_precede_explicit_ones() -> None:
    asked_for = replace(MOVED, how="device_put", is_implicit=False, count=1, size=4)
    assert format_transfers([asked_for, MOVED]) == (
        "implicit transfer, 9.38 KiB, 400 times: host to device, operand of a call;"
        " transfer, 4 B, once: host to device, device_put"
    )
    assert format_transfers_total([asked_for, MOVED]) == "401 transfers, 400 of them implicit, 9.38 KiB"


def test_an_unknown_size_is_not_invented() -> None:
    unknown = replace(MOVED, how="", size=0, unsized=400)
    assert format_transfers([unknown]) == "implicit transfer, size not known, 400 times: host to device"
    assert format_transfers([MOVED, unknown]).startswith("implicit transfer, at least 9.38 KiB, 800 times: ")


def test_memory_shows_peak_and_leaks() -> None:
    (row,) = list_memory_by_line([DEVICE])
    assert format_memory([row]) == "holds 1 KiB at the peak"
    leaking = replace(DEVICE, lines=(replace(HELD, growth=4096, rounds=12),))
    assert format_memory(list(list_memory_by_line([leaking]))) == "holds 1 KiB at the peak, leaks 4 KiB a step"
    assert format_memory_details(list(list_memory_by_line([leaking])))[-1] == (
        "device 0: each of 12 iterations leaves 4 KiB on average: a leak, unless the program needs them"
    )
    gone = replace(DEVICE, lines=(replace(HELD, at_peak=0),))
    assert format_memory(list(list_memory_by_line([gone]))) == "holds at most 2 KiB, nothing at the peak"


def test_of_several_devices_the_largest_value_is_shown() -> None:
    same, less = replace(DEVICE, device="1"), replace(DEVICE, device="2", peak=1, lines=(replace(HELD, at_peak=1),))
    assert format_memory(list(list_memory_by_line([DEVICE, same]))) == "holds 1 KiB at the peak of each of 2 devices"
    assert format_memory(list(list_memory_by_line([DEVICE, less]))) == "holds at most 1 KiB at the peak of 2 devices"
    assert format_memory_total(list(list_memory_by_line([DEVICE, same]))) == "peak 4 KiB on each of 2 devices"
    assert format_memory_total(list(list_memory_by_line([DEVICE, less]))) == "peak 4 KiB at most, of 2 devices"


def test_a_line_with_failures_only_says_so() -> None:
    failure = OutOfMemory(8, 9, LINE, 1 << 30, 4096, ())
    (row,) = list_memory_by_line([replace(DEVICE, lines=(), failures=(failure,))])
    assert (row.line, row.latest_call) == (LINE, 8)
    assert format_memory([row]) == "ran out of memory once"
    assert format_memory_details([row]) == ["device 0: call 8 ran out of memory when 1 GiB were requested, 4 KiB alive"]


def test_waits_have_cause_and_duration() -> None:
    ready = Waits(LINE, (), WaitReason.READY, "main", 3, 0, 1_200_000_000, 800_000_000, 5, 1, 9)
    copy = replace(ready, how=WaitReason.COPY, thread="worker (12)", count=1, unsure=1, total_duration=5_000_000)
    assert format_waits([ready]) == "waited 1.2 s, 3 times: result"
    assert format_waits([ready, copy]) == "waited 1.21 s, 4 times: result and copy to the host"
    assert format_waits_total([ready, copy]) == "4 waits, 1.21 s"
    assert format_waits_details([ready, copy]) == [
        "result, thread main: 3 times, 1.2 s, the longest 800 ms",
        "copy to the host, thread worker (12): once, 5 ms, the longest 800 ms; 1 of them may have ended before the next"
        " call",
    ]
