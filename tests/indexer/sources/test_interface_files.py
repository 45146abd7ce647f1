"""Sources of generated C++: protocol buffers and TableGen."""

from pathlib import Path

from framedex.sources import parse_file

PROTO = """syntax = "proto3";
package xla.gpu;  // message Not {}
message Outer {
  message Inner { int32 x = 1; }
  enum Kind { A = 0; }
  oneof choice { Inner message = 2; }
}
service Runner {
  rpc Run(Outer) returns (Outer) {}
}
"""

TABLEGEN = """include "base.td"
class HLO_Op<string name> : Op<HLO_Dialect, name>;
def HLO_AddOp : HLO_Op<"add"> {
  let description = [{ def Not : a {} }];
  let results = (outs HLO_Tensor);
}
let x = 1 in {
  def HLO_MulOp : HLO_Op<"mul">;
}
"""


def test_messages_have_the_names_of_their_generated_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.proto"
    path.write_text(PROTO)
    parsed = parse_file(path)
    assert parsed.language == "protobuf"
    assert [(d.name, d.kind, d.line, d.end_line) for d in parsed.definitions] == [
        ("xla::gpu::Outer", "message", 3, 7),
        ("xla::gpu::Outer_Inner", "message", 4, 4),
        ("xla::gpu::Outer_Kind", "enum", 5, 5),
        ("xla::gpu::Runner", "service", 8, 10),
        ("xla::gpu::Runner::Run", "method", 9, 9),
    ]


def test_records_have_the_names_of_their_generated_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.td"
    path.write_text(TABLEGEN)
    parsed = parse_file(path)
    assert parsed.language == "tablegen"
    assert [(d.name, d.kind, d.line, d.end_line) for d in parsed.definitions] == [
        ("Op", "record", 2, 2),
        ("AddOp", "record", 3, 6),
        ("MulOp", "record", 8, 8),
    ]
