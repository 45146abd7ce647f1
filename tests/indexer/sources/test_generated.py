"""The origins of generated functions."""

from pathlib import Path

from framedex.model import Definition, LocationEvidence, NativeSymbol
from framedex.sources import iterate_generated_scopes, match_generating_definition, parse_file

PROTO = """syntax = "proto3";
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
TABLE = """
def Ifrt_Dialect : Dialect { let cppNamespace = "::xla::ifrt"; }
def Ifrt_ReshardOp
    : Ifrt_Op<"Reshard", [Pure]> {
  let description = [{ def Not_ThisOp : Op<"no"> }];
}
def Ifrt_ShardingAttr : AttrDef<Ifrt_Dialect, "IfrtSharding"> {}
def LowerPass : Pass<"lower", "func::FuncOp"> {}
"""


def symbol(text: str) -> NativeSymbol:
    return NativeSymbol(text, text, text, None, 0, inlined=False, unit=None)


def definitions(folder: Path) -> list[tuple[str, Definition]]:
    (folder / "a.proto").write_text(PROTO)
    (folder / "a.td").write_text(TABLE)
    return [(name, found) for name in ("a.proto", "a.td") for found in parse_file(folder / name).definitions]


def test_a_generated_function_is_labelled_with_its_origin(tmp_path: Path) -> None:
    """In .proto and .td files, a message is identified by its package and a record by its name."""
    cases: list[tuple[str, int | None]] = [
        ("xla::cpu::Outer::MergeFrom(xla::cpu::Outer const&)", 3),
        ("xla::cpu::Outer_Inner::~Outer_Inner()", 4),
        ("xla::cpu::Storage::Stub::Get(int)", 9),
        ("xla::ifrt::detail::ReshardOpGenericAdaptorBase::getAxes()", 3),
        ("xla::ifrt::IfrtShardingAttr::get(mlir::MLIRContext*)", 7),
        ("xla::ifrt::createLowerPass()", 8),
        ("xla::gpu::Outer::MergeFrom(xla::gpu::Outer const&)", None),
        ("main", None),
    ]
    for function, line in cases:
        scopes = set(iterate_generated_scopes(symbol(function)))
        candidates = [c for c in definitions(tmp_path) if c[1].name.rpartition("::")[2] in scopes]
        how, found = match_generating_definition(symbol(function), candidates)
        assert (how, [d.line for _, d in found]) == ((None, []) if line is None else (LocationEvidence.CLASS, [line]))
