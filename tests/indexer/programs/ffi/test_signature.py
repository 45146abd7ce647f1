"""The types that a handler takes, and the messages when a call does not match."""

from __future__ import annotations

import pytest

from framedex.programs.ffi import UnknownTarget
from framedex.programs.ffi.model import Signature
from framedex.programs.ffi.signatures import (
    explain_error,
    explain_problem,
    find_mismatches,
    format_signature,
    parse_attribute_names,
    parse_attribute_types,
    parse_signature,
)
from tests.timing import seconds_of

ANY_RANK = "18446744073709551615ul"
NORM = Signature(("f32",), ("f32",), ("f32",))


def tag(kind: str, inner: str = "") -> str:
    return f"xla::ffi::internal::{kind}Tag" + (f"<{inner}>" if inner else "")


def buffer(dtype: int, rank: str = ANY_RANK) -> str:
    return f"xla::ffi::Buffer<(xla::ffi::DataType){dtype}, {rank}>"


def signature(*tags: str) -> str:
    return format_signature(parse_signature(["(xla::ffi::ExecutionStage)3", "xla::ffi::Error (*)()", *tags]))


def test_dtypes_ranks_and_attributes_are_decoded() -> None:
    tags = [tag("Ctx", "xla::ffi::ThreadPool"), tag("Arg", buffer(11)), tag("Arg", buffer(4, "2ul"))]
    tags += [tag("Arg", "xla::ffi::AnyBuffer"), tag("Attr", "float"), tag("Attr", "long")]
    tags += [tag("Attr", "std::basic_string_view<char, std::char_traits<char>>"), tag("Ret", buffer(16))]
    tags += [tag("Attr", "xla::ffi::Span<int const>"), tag("Attr", "jax::MatrixParams::UpLo")]
    assert signature(*tags) == "(f32, s32 of rank 2, any) -> (bf16), attributes (f32, s64, string, s32[], UpLo)"


def test_optional_arguments_are_open() -> None:
    tags = [tag("Arg", buffer(11)), tag("RemainingArgs"), tag("OptionalRet", buffer(11)), tag("Attrs")]
    assert signature(*tags) == "(f32, ...) -> (...), attributes (dictionary)"


def test_signature_mismatches_are_located() -> None:
    cases: list[tuple[dict[str, str], list[str]]] = [
        ({"arguments": "f32[2]", "results": "f32[2]", "attributes": "eps=1"}, []),
        ({}, ["It takes 1 attribute; the call passes 0."]),
        ({"arguments": "f32[2], f32[2]", "attributes": "eps=1"}, ["It takes 1 argument; the call passes 2."]),
        ({"arguments": "s32[2]", "attributes": "eps=1"}, ["Argument 0 is s32[2]; the handler takes f32."]),
        ({"results": "f32[2], s32[]", "attributes": "eps=1"}, ["It takes 1 result; the call passes 2."]),
        ({"attributes": "a=1, b=2"}, ["It takes 1 attribute; the call passes 2 (a, b)."]),
        ({"arguments": "f32[2], f...", "attributes": "a=1, b..."}, []),
    ]
    for given, said in cases:
        assert find_mismatches(NORM, given) == said


def test_ranks_and_variadic_ends_are_decoded() -> None:
    takes = Signature(("f32 of rank 2", "..."), (), ())
    assert find_mismatches(takes, {"arguments": "f32[2,2], s8[], s8[]"}) == []
    assert find_mismatches(takes, {"arguments": "f32[2]"}) == [
        "Argument 0 is f32[2], of rank 1; the handler takes f32 of rank 2."
    ]
    assert find_mismatches(takes, {"arguments": ""}) == ["It takes at least 1 argument; the call passes 0."]


def test_attribute_names_are_separated_from_their_contents() -> None:
    assert parse_attribute_names('how="a, b=\\"c", sizes=s32[1,2], more={x=1, y={z=2}}, last=3') == [
        *("how", "sizes", "more", "last"),
    ]


def test_an_error_raised_by_the_handler_is_not_explained() -> None:
    assert explain_error("the handler does not want to", NORM, {}) is None


def test_a_refused_call_is_explained_without_a_signature() -> None:
    message = "[execute] Wrong number of arguments: expected 1 but got 2"
    explained = explain_error(message, None, {})
    assert explained is not None
    assert explained.text == "The handler takes 1 argument; the call passes 2."
    assert "ffi_call" in explained.remedy


def test_consecutive_diagnostics_are_separated() -> None:
    twice = 2 * "Wrong buffer dtype: expected F32 but got S32"
    explained = explain_error(f"Failed to decode all FFI handler operands\n{twice}", None, {})
    assert explained is not None
    assert explained.text == "The handler takes an array of f32 where the call passes s32."


@pytest.mark.parametrize(
    ("diagnostic", "given", "text", "remedy"),
    [
        (
            "scalar data type: expected S32 but got S64",
            "k=s64(3)",
            "Attribute k is s64; the handler takes s32.",
            "k=np.int32(...)",
        ),
        ("scalar data type: expected S32 but got F64", "k=f64(3), n=s32(1)", "Attribute k is f64;", "k=np.int32(...)"),
        ("scalar data type: expected PRED but got S64", "k=s64(1)", "Attribute k is s64;", "k=np.bool_(...)"),
        (
            "scalar data type: expected F32 but got F64",
            "a=f64(1), b=f64(2)",
            "One of the attributes a, b is f64;",
            "Pass np.float32(...)",
        ),
        (
            "scalar data type: expected F32 but got F64",
            "eps=1",
            "An attribute is f64; the handler takes f32.",
            "Pass np.float32(...)",
        ),
        (
            "array data type: expected S64 but got S32",
            "a=s32[1,2]",
            "Attribute a is s32[]; the handler takes s64[].",
            "a=np.array([...], np.int64)",
        ),
        (
            "attribute type: expected string but got scalar",
            'how=f64(1), x="s32(1)"',
            "Attribute how is a scalar; the handler takes a string.",
            "Pass a string",
        ),
        (
            "attribute type: it doesn't match any of the variant types",
            "k=s64(3)",
            "An attribute does not have the type",
            "NumPy",
        ),
    ],
)
def test_an_attribute_of_the_wrong_type_has_a_remedy(diagnostic: str, given: str, text: str, remedy: str) -> None:
    message = f"Failed to decode all FFI handler operands (bad operands at: 0)\nDiagnostics:\nWrong {diagnostic}"
    explained = explain_error(message, None, {"attributes": given})
    assert explained is not None
    assert text in explained.text and remedy in explained.remedy


def test_attribute_types_are_read_with_their_names() -> None:
    given = 'a=s32(3), b=f64[1,2], c="x=1, y", d={e=s32(1), f="}"}, g=true, h=4'
    types = {"a": "s32", "b": "f64[]", "c": "string", "d": "dictionary", "g": "pred", "h": ""}
    assert parse_attribute_types(given) == types
    assert parse_attribute_names(given) == list(types)


def test_a_target_of_another_platform_is_distinguished_from_an_unknown_one() -> None:
    elsewhere = explain_problem(UnknownTarget("norm", "TPU", ("CUDA", "Host"), (), ""))
    assert "registered for CUDA, cpu" in elsewhere.text
    assert "platform='tpu'" in elsewhere.remedy
    nowhere = explain_problem(UnknownTarget("rms_nrom", "Host", (), (), ""), ["lapack_dgeqrf_ffi", "rms_norm"])
    assert "any platform" in nowhere.text
    assert nowhere.remedy.endswith("check the spelling of the name. Did you mean 'rms_norm'?")
    assert "Did you mean" not in explain_problem(UnknownTarget("attention", "Host", (), (), ""), ["rms_norm"]).remedy


@pytest.mark.parametrize("unit", ["a", "operator", "1a", "a[", "[1,"])
def test_the_arguments_of_a_run_are_parsed_in_linear_time(unit: str) -> None:
    """A damaged capture may contain any text; quadratic work would take a quarter of a minute."""
    given = unit * (60_000 // len(unit))
    values = {"arguments": given, "results": given, "attributes": given}
    assert seconds_of(lambda: find_mismatches(NORM, values)) < 1.0
