"""Behaviours of compiled programs: they get a program's inputs as NumPy arrays, and give its outputs."""

from __future__ import annotations

import fnmatch
import functools
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .abi import functions
from .asking import ask
from .behaviours import Behaviour, Implementation, checked, stand
from .buffers import array_of, buffer_of
from .calls import Call
from .compiled import Result, donated_by, name_of, results_of
from .handles import Handle
from .lines import Line
from .objects import devices_of, memory_of, release

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

_EXECUTE = "PJRT_LoadedExecutable_Execute"


def runs(*patterns: str) -> Callable[[Implementation], Behaviour]:
    """Have a function run in place of compiled programs of these names: `@runs("jit_f")`; it gets an `Execution`.

    A pattern may have `*`, `?` and `[...]`. All else is as with `on`.
    """
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError('name the programs: @runs("jit_f")')

    def put(function: Implementation) -> Behaviour:
        checked(function)
        behaviour = _OfPrograms(function, patterns)
        stand(behaviour, [functions()[_EXECUTE].number])
        return behaviour

    return put


class _OfPrograms(Behaviour):
    """A behaviour of programs of some names."""

    def __init__(self, function: Implementation, patterns: tuple[str, ...]) -> None:
        super().__init__(function)
        self._patterns = patterns

    def wants(self, call: Call) -> bool:
        name = name_of(call.arguments.executable)
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self._patterns)

    def __call__(self, call: Call) -> None:
        execution = Execution(call)
        self.function(execution)
        execution.finish()


class Shard:
    """A program on one of the devices that it runs on."""

    def __init__(self, execution: Execution, index: int) -> None:
        """The device of this index."""
        self._execution = execution
        self._index = index
        self.given: tuple[Array, ...] | None = None
        """The outputs that were set, None without."""

    @functools.cached_property
    def inputs(self) -> tuple[Array, ...]:
        """The arguments on this device, once they are there. They cannot be written, and end with the call: copy them.

        Raises Failed where one of them has an error.
        """
        return self._execution.inputs_on(self._index)

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The results on this device, of a program that was run or that were set; RuntimeError before.

        Setting them, an array for each result or the only one, stands in for running the program; after `run` they
        replace its results. Raises ValueError where they are not of the program's types and dimensions.
        """
        return self._execution.outputs_on(self._index) if self.given is None else self.given

    @outputs.setter
    def outputs(self, values: Any) -> None:
        self.given = self._execution.fitting(values)


class Execution:
    """A run of a compiled program. On one device `inputs` and `outputs` are its; on several they are those of `shards`.

    A behaviour that neither runs it nor sets outputs only watches.
    """

    def __init__(self, call: Call) -> None:
        """The call of PJRT_LoadedExecutable_Execute."""
        arguments = call.arguments
        self.call = call
        """The call that runs it, with all of its arguments."""
        self._loaded: Handle = arguments.executable
        self._rows: tuple[tuple[Handle, ...], ...] = arguments.argument_lists
        self.name = name_of(self._loaded)
        """The program's name, such as `jit_f`."""
        self.shards = tuple(Shard(self, index) for index in range(arguments.num_devices))
        """The program on each of its devices."""

    @functools.cached_property
    def results(self) -> tuple[Result, ...]:
        """What the program gives on each device. Raises Failed where the plug-in does not tell."""
        return results_of(self._loaded)

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The arguments of a program on one device, as `Shard.inputs`. Raises RuntimeError where it has several."""
        return self._only_shard.inputs

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The results of a program on one device, as `Shard.outputs`. Raises RuntimeError where it has several."""
        return self._only_shard.outputs

    @outputs.setter
    def outputs(self, values: Any) -> None:
        self._only_shard.outputs = values

    def run(self) -> None:
        """Run the program itself; `outputs` are then its results. Raises Failed as `Call.run` does."""
        self.call.run()

    def fail(self, code: str, text: str) -> NoReturn:
        """Have the run fail, as `Call.fail` does."""
        self.call.fail(code, text)

    def delay(self, microseconds: float) -> None:
        """Let so much time go by."""
        self.call.delay(microseconds)

    @property
    def line(self) -> Line | None:
        """The program's innermost line, as `Call.line`."""
        return self.call.line

    def stack(self) -> list[traceback.FrameSummary]:
        """The program's Python frames, as `Call.stack`."""
        return self.call.stack()

    def __repr__(self) -> str:
        return f"<run of {self.name}, devices: {len(self.shards)}>"

    def inputs_on(self, device: int) -> tuple[Array, ...]:
        """The arguments on the device of this index."""
        row = self._rows[device] if self._rows else ()
        return tuple(array_of(buffer, self._device(device)) for buffer in row)

    def outputs_on(self, device: int) -> tuple[Array, ...]:
        """The results on the device of this index, of a program that was run."""
        if not self.call.has_outputs:
            raise RuntimeError(f"{self.name} has no outputs yet: run it, or set them")
        row = self.call.result.output_lists[device]
        return tuple(array_of(buffer, self._device(device)) for buffer in row)

    def fitting(self, values: Any) -> tuple[Array, ...]:
        """Outputs as arrays. Raises ValueError where they are not of the program's types and dimensions."""
        import numpy

        listed = list(values) if isinstance(values, list | tuple) else [values]
        if len(listed) != len(self.results):
            raise ValueError(f"{self.name} gives {len(self.results)} results, not {len(listed)}")
        arrays = tuple(map(numpy.asarray, listed))
        for index, (array, result) in enumerate(zip(arrays, self.results, strict=True)):
            wanted = result.dtype
            if array.dtype != wanted or array.shape != result.dims:
                raise ValueError(
                    f"result {index} of {self.name} is {wanted}{list(result.dims)},"
                    f" not {array.dtype}{list(array.shape)}"
                )
        return arrays

    def finish(self) -> None:
        """Have the program see the outputs that were set. Raises ValueError where they are not set on every device."""
        given = [shard.given for shard in self.shards]
        if not any(each is not None for each in given):
            return
        if not self.call.has_outputs and None in given:
            raise ValueError(f"outputs of {self.name} were set on some devices only: set them on all, or run it first")
        made: dict[int, list[Handle]] = {}
        try:
            for device, arrays in enumerate(given):
                if arrays is not None:
                    made[device] = self._buffers(device, arrays)
        except BaseException:
            release(buffer for buffers in made.values() for buffer in buffers)
            raise
        if self.call.has_outputs:
            self._replace(made)
        else:
            self._answer(made)

    @property
    def _only_shard(self) -> Shard:
        if len(self.shards) != 1:
            raise RuntimeError(f"{self.name} runs on several devices ({len(self.shards)}): ask `shards`, one for each")
        return self.shards[0]

    def _device(self, index: int) -> Handle:
        """The device of this index, of those that the program runs on."""
        chosen: Handle | None = self.call.arguments.get("execute_device")
        return chosen or devices_of(self._loaded)[index]

    def _buffers(self, index: int, arrays: tuple[Array, ...]) -> list[Handle]:
        """New buffers on the device of this index."""
        device = self._device(index)
        made: list[Handle] = []
        try:
            for array, result in zip(arrays, self.results, strict=True):
                made.append(buffer_of(array, result.element, device, memory_of(device, result.memory_kind)))
        except BaseException:
            release(made)
            raise
        return made

    def _replace(self, made: dict[int, list[Handle]]) -> None:
        """Give the caller these buffers in place of the program's own, which end."""
        before = self.call.result.output_lists
        self.call.result = {"output_lists": [made.get(device, row) for device, row in enumerate(before)]}
        release(buffer for device in made for buffer in before[device])

    def _answer(self, made: dict[int, list[Handle]]) -> None:
        """Give the caller these buffers, and end the arguments that the program would have taken."""
        result = {"output_lists": [made[device] for device in range(len(self.shards))]}
        options = self.call.arguments.options
        kept = options.non_donatable_input_indices if options else ()
        donated = donated_by(self._loaded).difference(kept)
        self.call.result = result
        for row in self._rows:
            for parameter in donated:
                ask("PJRT_Buffer_Delete", buffer=row[parameter])
