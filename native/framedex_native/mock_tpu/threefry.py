"""Rolls up the unrolled Threefry of `jax.random`, which XLA's CPU compiler cannot compile in reasonable time.

JAX lowers Threefry-2x32 to 20 unrolled rounds for a TPU, and to a loop for a CPU. The fusion pass of XLA's CPU compiler
copies unrolled functions into their users: three in a row take minutes. The loop computes the same bits.

The algorithm: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

# From Random123's known answers: two key words and two counter words, then two result words.
_KNOWN_ANSWERS = {
    (0, 0, 0, 0): [0x6B200159, 0x99BA4EFE],
    (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF): [0x1CB996FC, 0xBB002BE7],
    (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3): [0xC4923A9C, 0x483DF7A0],
}
_OF_WORDS: dict[str, Callable[..., int]] = {
    "stablehlo.add": lambda a, b: (a + b) & 0xFFFFFFFF,
    "stablehlo.broadcast_in_dim": lambda a: a,
    "stablehlo.or": lambda a, b: a | b,
    "stablehlo.reshape": lambda a: a,
    "stablehlo.shift_left": lambda a, b: (a << b) & 0xFFFFFFFF,
    "stablehlo.shift_right_logical": lambda a, b: a >> b,
    "stablehlo.xor": lambda a, b: a ^ b,
}
_WORD = "tensor<ui32>"
_ROTATIONS = "tensor<4xui32>"
_STEP = "tensor<i32>"
_COPIED_ATTRIBUTES = ("sym_name", "sym_visibility", "arg_attrs", "res_attrs")


def roll_threefry(module: ir.Module) -> None:
    """Replace each unrolled Threefry function of the module by a loop."""
    for function in list(module.body.operations):
        if isinstance(function, func.FuncOp) and _is_unrolled(function):
            _roll(function)


def _is_unrolled(function: func.FuncOp) -> bool:
    """Whether a function maps two key words and two counter words to Threefry's 20 rounds, without a loop."""
    inputs, results = function.type.inputs, function.type.results
    if (len(inputs), len(results)) != (4, 2) or results[0] != results[1]:
        return False
    if not all(map(_is_of_words, (*inputs, *results))):
        return False
    return all(_evaluate(function, arguments) == answer for arguments, answer in _KNOWN_ANSWERS.items())


def _is_of_words(tensor: ir.Type) -> bool:
    return isinstance(tensor, ir.RankedTensorType) and str(tensor.element_type) == "ui32"


def _evaluate(function: func.FuncOp, arguments: Sequence[int]) -> list[int] | None:
    """Evaluate an elementwise function on one element of each argument; None if it is not elementwise."""
    values: dict[ir.Value[Any], int] = dict(zip(function.arguments, arguments, strict=True))
    for operation in (entry.operation for entry in function.entry_block.operations):
        operands = [values[operand] for operand in operation.operands]
        if operation.name == "func.return":
            return operands
        if operation.name == "stablehlo.constant":
            constant = ir.DenseElementsAttr(operation.attributes["value"])
            if not constant.is_splat or not _is_of_words(operation.results[0].type):
                return None
            values[operation.results[0]] = int(next(iter(ir.DenseIntElementsAttr(constant))))
        elif operation.name in _OF_WORDS:
            values[operation.results[0]] = _OF_WORDS[operation.name](*operands)
        else:
            return None
    return None


def _roll(function: func.FuncOp) -> None:
    text = _rolled_loop_text(function.type.inputs, function.type.results[0])
    with function.context, function.location, ir.InsertionPoint(function):
        parsed = ir.Module.parse(text)
        rolled = parsed.body.operations[0].operation.clone()
        for name in _COPIED_ATTRIBUTES:
            if name in function.attributes:
                rolled.attributes[name] = function.attributes[name]
    function.operation.erase()


def _rolled_loop_text(inputs: Sequence[ir.Type], result: ir.Type) -> str:
    """The StableHLO text of a function with the loop, for arguments of these types."""
    key_words, counters = inputs[:2], inputs[2:]
    key = key_words[0] if key_words[0] == key_words[1] else result
    state = f"{_STEP}, {result}, {result}, {key}, {key}, {key}, {_ROTATIONS}, {_ROTATIONS}"
    parameters = ", ".join(f"{name}: {each}" for name, each in zip(("%k0", "%k1", "%c0", "%c1"), inputs, strict=True))
    return f"""
func.func private @rolled({parameters}) -> ({result}, {result}) {{
  {_broadcast("%a", "%k0", key_words[0], key)}
  {_broadcast("%b", "%k1", key_words[1], key)}
  %parity_word = stablehlo.constant dense<{0x1BD11BDA}> : {_WORD}
  %parity = stablehlo.broadcast_in_dim %parity_word, dims = [] : ({_WORD}) -> {key}
  %ab = stablehlo.xor %a, %b : {key}
  %c = stablehlo.xor %ab, %parity : {key}
  {_broadcast("%start_c0", "%c0", counters[0], result)}
  {_broadcast("%start_c1", "%c1", counters[1], result)}
  {_broadcast("%start_a", "%a", key, result)}
  {_broadcast("%start_b", "%b", key, result)}
  %start0 = stablehlo.add %start_c0, %start_a : {result}
  %start1 = stablehlo.add %start_c1, %start_b : {result}
  %even = stablehlo.constant dense<[13, 15, 26, 6]> : {_ROTATIONS}
  %odd = stablehlo.constant dense<[17, 29, 16, 24]> : {_ROTATIONS}
  %zero = stablehlo.constant dense<0> : {_STEP}
  %end:8 = stablehlo.while(%step = %zero, %x0 = %start0, %y0 = %start1, %first = %b, %second = %c, %third = %a,
      %rotations = %even, %others = %odd) : {state}
  cond {{
    %steps = stablehlo.constant dense<5> : {_STEP}
    %goes_on = stablehlo.compare LT, %step, %steps, SIGNED : ({_STEP}, {_STEP}) -> tensor<i1>
    stablehlo.return %goes_on : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : {_STEP}
    %width = stablehlo.constant dense<32> : {_WORD}
    {"".join(_round(number, result) for number in range(4))}
    %next = stablehlo.add %step, %one : {_STEP}
    %next_word = stablehlo.convert %next : ({_STEP}) -> {_WORD}
    %injected = stablehlo.broadcast_in_dim %next_word, dims = [] : ({_WORD}) -> {result}
    {_broadcast("%first_key", "%first", key, result)}
    {_broadcast("%second_key", "%second", key, result)}
    %x = stablehlo.add %x4, %first_key : {result}
    %y_key = stablehlo.add %y4, %second_key : {result}
    %y = stablehlo.add %y_key, %injected : {result}
    stablehlo.return %next, %x, %y, %second, %third, %first, %others, %rotations : {state}
  }}
  return %end#1, %end#2 : {result}, {result}
}}"""


def _round(number: int, result: ir.Type) -> str:
    after = number + 1
    return f"""
    %rotation{number} = stablehlo.slice %rotations [{number}:{after}] : ({_ROTATIONS}) -> tensor<1xui32>
    %left{number} = stablehlo.reshape %rotation{number} : (tensor<1xui32>) -> {_WORD}
    %right{number} = stablehlo.subtract %width, %left{number} : {_WORD}
    %lefts{number} = stablehlo.broadcast_in_dim %left{number}, dims = [] : ({_WORD}) -> {result}
    %rights{number} = stablehlo.broadcast_in_dim %right{number}, dims = [] : ({_WORD}) -> {result}
    %x{after} = stablehlo.add %x{number}, %y{number} : {result}
    %high{number} = stablehlo.shift_left %y{number}, %lefts{number} : {result}
    %low{number} = stablehlo.shift_right_logical %y{number}, %rights{number} : {result}
    %rotated{number} = stablehlo.or %high{number}, %low{number} : {result}
    %y{after} = stablehlo.xor %x{after}, %rotated{number} : {result}"""


def _broadcast(target: str, value: str, given: ir.Type, wanted: ir.Type) -> str:
    """Broadcast a scalar, or dimensions of size 1 in an array of the same rank, as JAX does before the rounds."""
    dimensions = list(range(ir.RankedTensorType(given).rank))
    return f"{target} = stablehlo.broadcast_in_dim {value}, dims = {dimensions} : ({given}) -> {wanted}"
