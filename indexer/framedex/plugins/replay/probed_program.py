"""Rewrite a StableHLO program so that its results are values inside it.

framedex runs this file as a script in a Python with JAX, whose MLIR bindings edit the program. So it imports nothing of
framedex. Its arguments are the files of the program and its compile options. Each line of stdin is a request in JSON,
and each line of stdout is its answer.

A request has:

- `edits`: `{"op", "iterations", "unrolls"}` ends a loop after `iterations`, which its additional last value counts, and
  `unrolls` appends one more iteration; `{"op", "branch"}` replaces a `case` by its branch
- `values`: numbers of the values that a new program returns; it is written to `results`, with its options and its text
- `arguments`: numbers of the values that the new program takes instead of computing them, or null
- `results`: the paths of the written files

An answer has `error`. If `values` were given, it has `is_partitioned`: whether the program runs on several devices.
Otherwise it has the graph:

- `ops`: each with `kind`, `location`, `operands` and `results` (numbers of values), and `passes`: whether it returns
  the elements of its operand in their order. Values that the op's regions use follow its own operands
- `values`: each with `op` (-1 for an argument) and `size` in bytes (-1 if it cannot be a result)
- `returned`: the numbers of the program's results
- `edited`: the numbers of the values that each edit gives

Ops and values are numbered in the order of the program; its arguments come first. Calls are inlined. The body of a
`sdy.manual_computation` (`shard_map`) belongs to its surroundings.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

_CALL, _MANUAL, _WHILE = "func.call", "sdy.manual_computation", "stablehlo.while"
_PASSING = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "stablehlo": ("broadcast_in_dim", "reshape"),
        "sdy": ("sharding_constraint", "reshard"),
    }.items()
    for name in names
)
_PASSING_EACH = "stablehlo.optimization_barrier"
_TO_SHARDS, _FROM_SHARDS = "SPMDFullToShardShape", "SPMDShardToFullShape"  # shard_map before Shardy
_LINE = re.compile(r'":\d+')
_DONATION_ATTRIBUTES = ("tf.aliasing_output", "jax.buffer_donor")


@dataclass
class _Graph:
    """The ops and values of a program by number. `operations` has None for the ends of a manual computation."""

    operations: list[ir.Operation | None] = field(default_factory=list)
    ops: list[dict[str, Any]] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)  # of MLIR, by value
    numbers: dict[Any, int] = field(default_factory=dict)
    shards: set[int] = field(default_factory=set)  # values of one device's shard, in a program without Shardy

    def add_value(self, value: Any, op: int) -> int:
        number = self.numbers[value] = len(self.values)
        self.values.append({"op": op, "size": _measure_size(value.type)})
        self.objects.append(value)
        return number

    def add_op(self, kind: str, operation: ir.Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Add an op. A `kind` other than the operation's own is an end of a manual computation."""
        place = len(self.ops)
        used = [self.numbers[each] for each in (*operands, *_iter_captured(operation)) if each in self.numbers]
        made = [self.add_value(each, place) for each in results]
        self.operations.append(operation if kind == operation.name else None)
        passes = kind in _PASSING or kind != operation.name or kind == _PASSING_EACH
        self.ops.append(
            {"kind": kind, "location": str(operation.location), "operands": used, "results": made, "passes": passes}
        )
        target = _read_custom_call_target(operation)
        if target == _TO_SHARDS or (target != _FROM_SHARDS and not self.shards.isdisjoint(used)):
            self.shards.update(made)
            for each in made:
                self.values[each]["size"] = -1

    def add_block(self, block: ir.Block) -> None:
        for each in block.operations:
            operation = each.operation
            if operation.name == _MANUAL:
                inner = operation.regions[0].blocks[0]
                for argument, operand in zip(inner.arguments, operation.operands, strict=True):
                    self.add_op(f"{_MANUAL} argument", operation, [operand], [argument])
                self.add_block(inner)
                for result, returned in zip(operation.results, _find_terminator(inner).operands, strict=True):
                    self.add_op(f"{_MANUAL} result", operation, [returned], [result])
            elif operation.name == _PASSING_EACH:
                for result, operand in zip(operation.results, operation.operands, strict=True):
                    self.add_op(operation.name, operation, [operand], [result])
            elif operation.results:
                self.add_op(operation.name, operation, list(operation.operands), list(operation.results))


class _ProgramEditor:
    """The edits of a program's function `main`."""

    def __init__(self, module: ir.Module) -> None:
        self._functions = {
            ir.StringAttr(each.attributes["sym_name"]).value: each.operation
            for each in module.body.operations
            if each.operation.name == "func.func"
        }
        self._meshes = [each.operation for each in module.body.operations if each.operation.name == "sdy.mesh"]
        partitions = module.operation.attributes
        self.is_partitioned = (
            "mhlo.num_partitions" in partitions and ir.IntegerAttr(partitions["mhlo.num_partitions"]).value > 1
        )
        self._main = self._functions["main"]
        self._block = self._main.regions[0].blocks[0]
        self._edited: list[list[Any]] = []
        while calls := [each for each in _iter_operations(self._block) if each.name == _CALL]:
            for call in calls:
                name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
                callee = self._functions[name].regions[0].blocks[0]
                _replace(call, _splice(callee, list(call.operands), call, caller=call.location))

    def graph(self) -> _Graph:
        found = _Graph()
        for each in self._block.arguments:
            found.add_value(each, -1)
        found.add_block(self._block)
        return found

    def describe(self, graph: _Graph) -> dict[str, Any]:
        return {
            "ops": graph.ops,
            "values": graph.values,
            "returned": [graph.numbers[each] for each in _find_terminator(self._block).operands],
            "edited": [[graph.numbers.get(each, -1) for each in values] for values in self._edited],
        }

    def edit(self, request: dict[str, Any]) -> None:
        """Apply an edit of a request."""
        operation = self.graph().operations[request["op"]]
        assert operation is not None
        if "branch" in request:
            values = _splice(operation.regions[request["branch"]].blocks[0], [], operation)
        else:
            loop = _limit_loop(operation, request["iterations"])
            values = list(loop.results)
            if request["unrolls"]:
                values = _splice(loop.regions[1].blocks[0], values, operation)
        _replace(operation, values)
        self._edited.append(values)

    def return_values(self, values: Sequence[Any]) -> None:
        """Make values the only results of the program, each whole on every device. The program donates nothing."""
        returned = self._lift_values(list(values), self._block)
        ended = _find_terminator(self._block)
        with ended.location:
            ir.Operation.create("func.return", operands=returned, ip=ir.InsertionPoint(ended))
        ended.erase()
        arguments = [each.type for each in self._block.arguments]
        results = [each.type for each in returned]
        attributes = self._main.attributes
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, results))
        attributes["res_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get(self._replicated(ir.RankedTensorType(each).rank)) for each in results]
        )
        if "arg_attrs" in attributes:
            attributes["arg_attrs"] = ir.ArrayAttr.get(
                [ir.DictAttr.get(_remove_donation(entry)) for entry in ir.ArrayAttr(attributes["arg_attrs"])]
            )

    def take_arguments(self, values: Sequence[Any]) -> None:
        """Make values the only arguments of the program, and remove the ops that nothing uses any more."""
        before = len(self._block.arguments)
        for value in values:
            argument = self._block.add_argument(value.type, ir.Location.unknown())
            value.replace_all_uses_with(argument)
        for operation in reversed([each.operation for each in self._block.operations][:-1]):
            if not any(list(each.uses) for each in operation.results):
                operation.erase()
        for number in reversed(range(before)):
            self._block.erase_argument(number)
        function = ir.FunctionType(ir.TypeAttr(self._main.attributes["function_type"]).value)
        inputs = [each.type for each in self._block.arguments]
        self._main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, function.results))
        if "arg_attrs" in self._main.attributes:
            del self._main.attributes["arg_attrs"]
        for name, callee in self._functions.items():
            if name != "main":
                callee.erase()

    def _replicated(self, rank: int) -> dict[str, ir.Attribute]:
        if not self.is_partitioned:
            return {}
        for mesh in self._meshes:
            if '"' in str(mesh.attributes["mesh"]):  # it has axes
                name = ir.StringAttr(mesh.attributes["sym_name"]).value
                dimensions = ", ".join(["{}"] * rank)
                return {"sdy.sharding": ir.Attribute.parse(f"#sdy.sharding<@{name}, [{dimensions}]>")}
        return {"mhlo.sharding": ir.StringAttr.get("{replicated}")}

    def _lift_values(self, values: list[Any], block: ir.Block) -> list[Any]:
        """Return the values as values of `block`: a shard of a manual computation becomes an array of all shards."""
        manual = [each.operation for each in block.operations if each.operation.name == _MANUAL]
        for operation in manual:
            inner = operation.regions[0].blocks[0]
            owned = set(_values(inner))
            places = [place for place, value in enumerate(values) if value in owned]
            if places:
                before = list(operation.results)
                raised, after = self._extend_manual(
                    operation, self._lift_values([values[place] for place in places], inner)
                )
                for place, value in zip(places, raised, strict=True):
                    values[place] = value
                values = [after[before.index(each)] if each in before else each for each in values]
        return values

    def _extend_manual(self, operation: ir.Operation, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Add results to a manual computation, with one more dimension: that of the shards.

        Return these, and the former results.
        """
        inner = operation.regions[0].blocks[0]
        axes = re.findall(r'"([^"]*)"', str(operation.attributes["manual_axes"]))
        shards = math.prod(self._axis_sizes()[each] for each in axes)
        given = str(operation.attributes["out_shardings"])
        mesh = (re.search(r"<(@[^,]+|mesh<.*?>),", given) or [""])[1] or f"@{self._mesh_name()}"
        ended = _find_terminator(inner)
        with operation.location:
            more = [_reshape(each, [1, *ir.RankedTensorType(each.type).shape], ended) for each in values]
            ir.Operation.create(ended.name, operands=[*ended.operands, *more], ip=ir.InsertionPoint(ended))
            ended.erase()
            types = [_with_shape(each.type, [shards, *ir.RankedTensorType(each.type).shape]) for each in values]
            names = ", ".join(f'"{each}"' for each in axes)
            shardings = [
                f"<{mesh}, [{', '.join([f'{{{names}}}', *['{}'] * ir.RankedTensorType(each.type).rank])}]>"
                for each in values
            ]
            known = given[given.index("<[") + 2 : given.rindex("]>")]
            attributes = {each: operation.attributes[each] for each in operation.attributes}
            attributes["out_shardings"] = ir.Attribute.parse(
                f"#sdy.sharding_per_value<[{', '.join([*([known] if known else []), *shardings])}]>"
            )
            extended = ir.Operation.create(
                _MANUAL,
                results=[*[each.type for each in operation.results], *types],
                operands=list(operation.operands),
                attributes=attributes,
                regions=1,
                ip=ir.InsertionPoint(operation),
            )
            inner.append_to(extended.regions[0])
        results, former = list(extended.results), len(operation.results)
        _replace(operation, results)
        return results[former:], results[:former]

    def _axis_sizes(self) -> dict[str, int]:
        text = " ".join(str(mesh.attributes["mesh"]) for mesh in self._meshes)
        return {name: int(size) for name, size in re.findall(r'"([^"]*)"=(\d+)', text)}

    def _mesh_name(self) -> str:
        return ir.StringAttr(self._meshes[0].attributes["sym_name"]).value


def _remove_donation(attributes: Any) -> dict[str, ir.Attribute]:
    return {each.name: each.attr for each in attributes if each.name not in _DONATION_ATTRIBUTES}


def _limit_loop(loop: ir.Operation, iterations: int) -> ir.Operation:
    """Return a copy of a `while` that counts its iterations and ends after this number of them."""
    counter = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
    types = [*[each.type for each in loop.operands], counter]
    with loop.location:
        start = _build_constant(0, ir.InsertionPoint(loop))
        limited = ir.Operation.create(
            _WHILE, results=types, operands=[*loop.operands, start], regions=2, ip=ir.InsertionPoint(loop)
        )
        places = [loop.location] * len(types)
        test, body = (limited.regions[each].blocks.append(*types, arg_locs=places) for each in range(2))
        at_end = ir.InsertionPoint(test)
        (goes_on,) = _splice(loop.regions[0].blocks[0], list(test.arguments)[:-1], at_end)
        direction = ir.Attribute.parse("#stablehlo<comparison_direction LT>")
        below = ir.Operation.create(
            "stablehlo.compare",
            results=[goes_on.type],
            operands=[test.arguments[-1], _build_constant(iterations, at_end)],
            attributes={"comparison_direction": direction},
            ip=at_end,
        )
        both = ir.Operation.create("stablehlo.and", results=[goes_on.type], operands=[goes_on, below.result], ip=at_end)
        ir.Operation.create("stablehlo.return", operands=[both.result], ip=at_end)
        at_end = ir.InsertionPoint(body)
        carried = _splice(loop.regions[1].blocks[0], list(body.arguments)[:-1], at_end)
        one = _build_constant(1, at_end)
        count = ir.Operation.create("stablehlo.add", results=[counter], operands=[body.arguments[-1], one], ip=at_end)
        ir.Operation.create("stablehlo.return", operands=[*carried, count.result], ip=at_end)
    return limited


def _splice(
    block: ir.Block,
    values: Sequence[Any],
    place: ir.Operation | ir.InsertionPoint,
    caller: ir.Location | None = None,
) -> list[Any]:
    """Insert a copy of a block before an operation, with `values` as its arguments. Return the values that it returns.

    An op without a line gets that of the `caller`.
    """
    point = ir.InsertionPoint(place) if isinstance(place, ir.Operation) else place
    copied: dict[Any, Any] = dict(zip(block.arguments, values, strict=False))
    *operations, ended = [each.operation for each in block.operations]
    for operation in operations:
        copy = operation.clone(ip=point)
        _replace_operands(copy, copied)
        if caller is not None and not _LINE.search(str(copy.location)):
            _set_location(copy, caller)
        copied.update(zip(operation.results, copy.results, strict=True))
    return [copied.get(each, each) for each in ended.operands]


def _set_location(operation: ir.Operation, caller: ir.Location) -> None:
    name = re.match(r'loc\("([^"]*)"', str(operation.location))
    with suppress(AttributeError):  # an old jaxlib
        operation.location = ir.Location.name(name[1] if name else "", caller)


def _replace_operands(operation: ir.Operation, copied: dict[Any, Any]) -> None:
    for number, operand in enumerate(operation.operands):
        if operand in copied:
            operation.operands[number] = copied[operand]
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                _replace_operands(inner.operation, copied)


def _replace(operation: ir.Operation, values: Sequence[Any]) -> None:
    for old, new in zip(operation.results, values, strict=False):
        old.replace_all_uses_with(new)
    operation.erase()


def _iter_operations(block: ir.Block) -> Iterator[ir.Operation]:
    """Yield the operations of a block and of its regions."""
    for each in block.operations:
        yield each.operation
        for region in each.operation.regions:
            for inner in region.blocks:
                yield from _iter_operations(inner)


def _iter_captured(operation: ir.Operation) -> Iterator[Any]:
    """Yield the operands of the operations in an operation's regions, except in a manual computation."""
    for region in () if operation.name == _MANUAL else operation.regions:
        for block in region.blocks:
            for each in _iter_operations(block):
                yield from each.operands


def _values(block: ir.Block) -> Iterator[Any]:
    yield from block.arguments
    for operation in _iter_operations(block):
        yield from operation.results
        if operation.name == _MANUAL:
            yield from operation.regions[0].blocks[0].arguments


def _find_terminator(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


def _build_constant(value: int, point: ir.InsertionPoint) -> Any:
    attribute = ir.Attribute.parse(f"dense<{value}> : tensor<i64>")
    kind = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
    return ir.Operation.create("stablehlo.constant", results=[kind], attributes={"value": attribute}, ip=point).result


def _reshape(value: Any, shape: list[int], before: ir.Operation) -> Any:
    kind = _with_shape(value.type, shape)
    return ir.Operation.create(
        "stablehlo.reshape", results=[kind], operands=[value], ip=ir.InsertionPoint(before)
    ).result


def _with_shape(kind: ir.Type, shape: list[int]) -> ir.Type:
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(kind).element_type)


def _measure_size(kind: ir.Type) -> int:
    """Return the size of a type in bytes; -1 if it is not an array of a known size."""
    if not isinstance(kind, ir.RankedTensorType):
        return -1
    array = ir.RankedTensorType(kind)
    element = re.fullmatch(r"(complex<)?\D*(\d+).*", str(array.element_type))
    if not array.has_static_shape or element is None:
        return -1
    return math.prod(array.shape) * max(1, int(element[2]) // 8) * (2 if element[1] else 1)


def _read_custom_call_target(operation: ir.Operation) -> str:
    if operation.name != "stablehlo.custom_call":
        return ""
    return ir.StringAttr(operation.attributes["call_target_name"]).value


def _adapt_options(options: bytes) -> bytes:
    """Return compile options without the parts about single results."""
    settings = _jax.CompileOptions.ParseFromString(options)
    built = settings.executable_build_options
    if len(built.allow_spmd_sharding_propagation_to_output) > 1:
        built.allow_spmd_sharding_propagation_to_output = [False]
    if hasattr(settings, "individually_defined_output_indices"):  # jaxlib 0.12 and later
        settings.individually_defined_output_indices = []
    return bytes(settings.SerializeAsString())


def _answer(request: dict[str, Any], code: bytes, options: bytes) -> dict[str, Any]:
    with mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = stablehlo.deserialize_portable_artifact(context, code)
        editor = _ProgramEditor(module)
        for edit in request["edits"]:
            editor.edit(edit)
        graph = editor.graph()
        if not request["values"]:
            return editor.describe(graph)
        editor.return_values([graph.objects[each] for each in request["values"]])
        if request["arguments"] is not None:
            editor.take_arguments([graph.objects[each] for each in request["arguments"]])
        module.operation.verify()
        version = re.match(rb"ML\xefR\rStableHLO_v([\d.]+)", code)
        target = version[1].decode() if version else stablehlo.get_current_version()
        program = _jax.mlir.serialize_portable_artifact(mlir.module_to_bytecode(module), target, True)
        contents = (program, _adapt_options(options), str(module).encode())
        for path, content in zip(request["results"], contents, strict=True):
            Path(path).write_bytes(content)
        return {"is_partitioned": editor.is_partitioned}


def main() -> None:
    """Answer the requests."""
    code, options = (Path(each).read_bytes() for each in sys.argv[1:])
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line), code, options)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
