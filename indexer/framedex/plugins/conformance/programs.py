"""StableHLO programs and compile options for the checks."""

from __future__ import annotations

from collections.abc import Sequence

from framedex.base.nativepart import protobuf

ADD = """module @add {
  func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %sum = stablehlo.add %x, %y : tensor<4xf32>
    return %sum : tensor<4xf32>
  }
}
"""

DONATE = """module @donate {
  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>) -> tensor<4xf32> {
    %sum = stablehlo.add %x, %y : tensor<4xf32>
    return %sum : tensor<4xf32>
  }
}
"""

TWO_RESULTS = """module @two_results {
  func.func public @main(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<i32>) {
    %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %seven = stablehlo.constant dense<7> : tensor<i32>
    return %turned, %seven : tensor<3x2xf32>, tensor<i32>
  }
}
"""

NO_ARGUMENTS = """module @no_arguments {
  func.func public @main() -> tensor<3xi32> {
    %numbers = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    return %numbers : tensor<3xi32>
  }
}
"""

NO_RESULTS = """module @no_results {
  func.func public @main(%x: tensor<4xf32>) {
    return
  }
}
"""

REPLICAS = """module @replicas attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %sum = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %sum : tensor<4xf32>
  }
}
"""

PARTITIONS = """module @partitions attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
      -> (tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
    %twice = stablehlo.add %x, %x : tensor<4xf32>
    return %twice : tensor<4xf32>
  }
}
"""


def build_loop_program(rounds: int, size: int = 256) -> str:
    """A program that multiplies a matrix of ones by itself `rounds` times, which takes a while."""
    tensor = f"tensor<{size}x{size}xf32>"
    return f"""module @loop {{
  func.func public @main(%x: {tensor}) -> {tensor} {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %rounds = stablehlo.constant dense<{rounds}> : tensor<i32>
    %scale = stablehlo.constant dense<{1 / size}> : {tensor}
    %done:2 = stablehlo.while(%i = %zero, %m = %x) : tensor<i32>, {tensor}
      cond {{
        %more = stablehlo.compare LT, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %next = stablehlo.add %i, %one : tensor<i32>
        %product = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : ({tensor}, {tensor}) -> {tensor}
        %scaled = stablehlo.multiply %product, %scale : {tensor}
        stablehlo.return %next, %scaled : tensor<i32>, {tensor}
      }}
    return %done#1 : {tensor}
  }}
}}
"""


def build_identity_program(element: str, dims: Sequence[int]) -> str:
    """A program that returns its argument, of an element type in MLIR's spelling."""
    tensor = f"tensor<{''.join(f'{size}x' for size in dims)}{element}>"
    return f"""module @identity {{
  func.func public @main(%x: {tensor}) -> {tensor} {{
    return %x : {tensor}
  }}
}}
"""


def build_program_with_results(count: int) -> str:
    """A program with `count` arguments and results; each result is its argument plus itself."""
    arguments = ", ".join(f"%x{i}: tensor<2xf32>" for i in range(count))
    types = ", ".join(["tensor<2xf32>"] * count)
    sums = "\n".join(f"    %y{i} = stablehlo.add %x{i}, %x{i} : tensor<2xf32>" for i in range(count))
    results = ", ".join(f"%y{i}" for i in range(count))
    return f"""module @many_results {{
  func.func public @main({arguments}) -> ({types}) {{
{sums}
    return {results} : {types}
  }}
}}
"""


def send(channel: int = 1) -> str:
    """A program that sends its argument to the host over a channel, and returns it."""
    return f"""module @send {{
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %token = stablehlo.create_token : !stablehlo.token
    %sent = "stablehlo.send"(%x, %token) {{channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 2>,
      is_host_transfer = true, mhlo.frontend_attributes = {{_xla_host_transfer_rendezvous = "sent",
      _xla_host_transfer_handler_name = "conformance"}}}} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    return %x : tensor<4xf32>
  }}
}}
"""


def build_receive_program(channel: int = 1) -> str:
    """A program that returns what it receives from the host over a channel."""
    return f"""module @receive {{
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %token = stablehlo.create_token : !stablehlo.token
    %got:2 = "stablehlo.recv"(%token) {{channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 3>,
      is_host_transfer = true, mhlo.frontend_attributes = {{_xla_host_transfer_rendezvous = "received",
      _xla_host_transfer_handler_name = "conformance"}}}} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    return %got#0 : tensor<4xf32>
  }}
}}
"""


def encode_compile_options(
    replicas: int = 1, partitions: int = 1, *, devices: Sequence[int] = (), portable: bool = False, extra: bytes = b""
) -> bytes:
    """A serialised CompileOptionsProto. `devices` are the ids of the assigned devices, replica by replica.

    Field numbers: xla/pjrt/proto/compile_options.proto and xla/xla_data.proto.
    """
    build = protobuf.integer_field(4, replicas) + protobuf.integer_field(5, partitions)
    if partitions > 1:
        build += protobuf.integer_field(6, 1)  # use_spmd_partitioning
    if devices:
        build += protobuf.message_field(9, encode_device_assignment(replicas, partitions, devices))
    options = protobuf.message_field(3, build)
    if portable:
        options += protobuf.integer_field(4, 1)
    return options + extra


def encode_device_assignment(replicas: int, partitions: int, devices: Sequence[int]) -> bytes:
    """A serialised DeviceAssignmentProto."""
    columns = b"".join(
        protobuf.message_field(3, protobuf.packed_field(1, devices[partition::partitions]))
        for partition in range(partitions)
    )
    return protobuf.integer_field(1, replicas) + protobuf.integer_field(2, partitions) + columns


def encode_option_override(name: str, value: str) -> bytes:
    """The field `env_option_overrides` of CompileOptionsProto with one text option."""
    return protobuf.message_field(
        7,
        protobuf.message_field(1, name.encode()) + protobuf.message_field(2, protobuf.message_field(1, value.encode())),
    )
