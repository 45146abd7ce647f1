"""What generated functions are made from."""

import pytest

from framedex.model import Definition, How, NativeSymbol
from framedex.sources import generated_scopes, match_generated
from framedex.sources.generated import proto_definitions, table_definitions

PROTO = b"""syntax = "proto3";
package xla.cpu;  // message NotThis {
message Outer {
  message Inner { int32 a = 1; }
  oneof kind { string b = 2; }
  map<string, int32> user_ids = 3;
  enum Color { RED = 0; }
}
service Storage { rpc Get(Outer) returns (Outer) {} }
message Last { string text = 1 [default = "}"]; }
"""
TABLE = b"""
def Ifrt_Dialect : Dialect { let cppNamespace = "::xla::ifrt"; }
def Ifrt_ReshardOp
    : Ifrt_Op<"Reshard", [Pure]> {
  let description = [{ def Not_ThisOp : Op<"no"> }];
}
def Ifrt_Sharding : AttrDef<Ifrt_Dialect, "IfrtSharding"> {}
def LowerPass : Pass<"lower", "func::FuncOp"> {}
"""


def symbol(text: str) -> NativeSymbol:
    return NativeSymbol(text, text, text, None, 0, inlined=False, unit=None)


def named(definitions: tuple[Definition, ...]) -> dict[str, int]:
    return {definition.name: definition.line for definition in definitions}


def test_messages_have_the_names_of_their_classes() -> None:
    assert named(proto_definitions(PROTO)) == {
        "xla::cpu::Outer": 3,
        "xla::cpu::Outer_Inner": 4,
        "xla::cpu::Outer_UserIdsEntry_DoNotUse": 6,
        "xla::cpu::Outer_Color": 7,
        "xla::cpu::grpc::Storage": 9,
        "xla::cpu::Last": 10,
    }


def test_records_have_the_names_of_their_classes() -> None:
    found = named(table_definitions(TABLE))
    assert {name: found.get(name) for name in ("ReshardOp", "IfrtShardingAttr", "LowerPass", "ThisOp")} == {
        "ReshardOp": 3,
        "IfrtShardingAttr": 7,
        "LowerPass": 8,
        "ThisOp": None,
    }


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("xla::cpu::Outer::MergeFrom(xla::cpu::Outer const&)", 3),
        ("xla::cpu::Outer_Inner::~Outer_Inner()", 4),
        ("xla::cpu::grpc::Storage::Stub::Get(int)", 9),
        ("xla::ifrt::detail::ReshardOpGenericAdaptorBase::getAxes()", 3),
        ("xla::ifrt::IfrtShardingAttr::get(mlir::MLIRContext*)", 7),
        ("xla::ifrt::createLowerPass()", 8),
        ("xla::gpu::Outer::MergeFrom(xla::gpu::Outer const&)", None),
        ("main", None),
    ],
)
def test_a_generated_function_is_labelled_with_the_class_it_is_made_from(function: str, line: int | None) -> None:
    """Given definitions of a .proto and a .td file, then a message is told by its package and a record by its name."""
    definitions = [("a.proto", d) for d in proto_definitions(PROTO)] + [("a.td", d) for d in table_definitions(TABLE)]
    scopes = set(generated_scopes(symbol(function)))
    how, found = match_generated(symbol(function), [d for d in definitions if d[1].name.rpartition("::")[2] in scopes])
    assert (how, [d.line for _, d in found]) == ((None, []) if line is None else (How.CLASS, [line]))


def test_nonsense_gives_no_definitions_and_no_exception() -> None:
    for text in (b"}}}} message", b"{" * 10_000, b'"' * 999, b"def : <", b"\xff\xfe\0"):
        assert isinstance(proto_definitions(text), tuple) and isinstance(table_definitions(text), tuple)
