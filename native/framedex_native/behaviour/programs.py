"""Behaviours of compiled programs, with inputs and outputs as NumPy arrays."""

from __future__ import annotations

import fnmatch
import functools
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .abi import functions
from .behaviours import Behaviour, Implementation, attach_to_functions, check_implementation
from .buffers import array_of, buffer_of
from .calls import Call
from .compiled import Result, donated_parameters, name_of, results_of
from .handles import Handle
from .lines import Line
from .objects import devices_of, memory_of, release
from .table_calls import call_table

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

_EXECUTE = "PJRT_LoadedExecutable_Execute"


def runs(*patterns: str) -> Callable[[Implementation], Behaviour]:
    """Run a function instead of compiled programs with these names: `@runs("jit_f")`. It receives an `Execution`.

    A pattern may contain `*`, `?` and `[...]`. Otherwise it works like `on`.
    """
    if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError('@runs needs program names: @runs("jit_f")')

    def attach(function: Implementation) -> Behaviour:
        check_implementation(function)
        behaviour = _ProgramBehaviour(function, patterns)
        attach_to_functions(behaviour, [functions()[_EXECUTE].number])
        return behaviour

    return attach


class _ProgramBehaviour(Behaviour):
    """A behaviour of programs whose names match its patterns."""

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
    """A program's execution on one of its devices."""

    def __init__(self, execution: Execution, index: int) -> None:
        """Select the device by index."""
        self._execution = execution
        self._index = index
        self.replacement_outputs: tuple[Array, ...] | None = None
        """The outputs that the behaviour set, or None."""

    @functools.cached_property
    def inputs(self) -> tuple[Array, ...]:
        """The arguments on this device, once they are ready. The arrays are read-only and end with the call: copy them.

        Raises Failed if an argument has an error.
        """
        return self._execution.inputs_on(self._index)

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The results on this device. Raises RuntimeError before they are computed or set.

        Set an array for each result, or the only one, instead of running the program. After `run`, these replace the
        program's results. Raises ValueError if they do not match the program's types and dimensions.
        """
        return self._execution.outputs_on(self._index) if self.replacement_outputs is None else self.replacement_outputs

    @outputs.setter
    def outputs(self, values: Any) -> None:
        self.replacement_outputs = self._execution.to_arrays(values)


class Execution:
    """An execution of a compiled program. With several devices, use the `inputs` and `outputs` of each of its `shards`.

    A behaviour that neither runs it nor sets outputs only watches.
    """

    def __init__(self, call: Call) -> None:
        """Wrap a call of PJRT_LoadedExecutable_Execute."""
        arguments = call.arguments
        self.call = call
        """The call that executes the program, with all of its arguments."""
        self._loaded: Handle = arguments.executable
        self._rows: tuple[tuple[Handle, ...], ...] = arguments.argument_lists
        self.name = name_of(self._loaded)
        """The program's name, such as `jit_f`."""
        self.shards = tuple(Shard(self, index) for index in range(arguments.num_devices))
        """The execution on each of the program's devices."""

    @functools.cached_property
    def results(self) -> tuple[Result, ...]:
        """The program's results on each device. Raises Failed if the plug-in does not report them."""
        return results_of(self._loaded)

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The arguments of a single-device program, as `Shard.inputs`. Raises RuntimeError on several devices."""
        return self._only_shard.inputs

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The results of a single-device program, as `Shard.outputs`. Raises RuntimeError on several devices."""
        return self._only_shard.outputs

    @outputs.setter
    def outputs(self, values: Any) -> None:
        self._only_shard.outputs = values

    def run(self) -> None:
        """Run the program, so that `outputs` are its results. Raises Failed as `Call.run` does."""
        self.call.run()

    def fail(self, code: str, text: str) -> NoReturn:
        """Fail the execution, as `Call.fail` does."""
        self.call.fail(code, text)

    def delay(self, microseconds: float) -> None:
        """Sleep without holding the GIL."""
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
        """The results of an executed program on the device of this index."""
        if not self.call.has_outputs:
            raise RuntimeError(f"{self.name} has no outputs yet: run the program or set outputs")
        row = self.call.result.output_lists[device]
        return tuple(array_of(buffer, self._device(device)) for buffer in row)

    def to_arrays(self, values: Any) -> tuple[Array, ...]:
        """Convert outputs to arrays. Raises ValueError if they do not match the program's types and dimensions."""
        import numpy

        listed = list(values) if isinstance(values, list | tuple) else [values]
        if len(listed) != len(self.results):
            raise ValueError(f"{self.name} has {len(self.results)} results, got {len(listed)}")
        arrays = tuple(map(numpy.asarray, listed))
        for index, (array, result) in enumerate(zip(arrays, self.results, strict=True)):
            wanted = result.dtype
            if array.dtype != wanted or array.shape != result.dims:
                raise ValueError(
                    f"result {index} of {self.name} must be {wanted}{list(result.dims)},"
                    f" not {array.dtype}{list(array.shape)}"
                )
        return arrays

    def finish(self) -> None:
        """Replace the program's results by the outputs that were set. Raises ValueError if some devices have none."""
        outputs_by_device = [shard.replacement_outputs for shard in self.shards]
        if not any(each is not None for each in outputs_by_device):
            return
        if not self.call.has_outputs and None in outputs_by_device:
            raise ValueError(f"outputs of {self.name} are set on some devices only: set all of them or run it first")
        created: dict[int, list[Handle]] = {}
        try:
            for device, arrays in enumerate(outputs_by_device):
                if arrays is not None:
                    created[device] = self._buffers(device, arrays)
        except BaseException:
            release(buffer for buffers in created.values() for buffer in buffers)
            raise
        if self.call.has_outputs:
            self._replace(created)
        else:
            self._answer(created)

    @property
    def _only_shard(self) -> Shard:
        if len(self.shards) != 1:
            raise RuntimeError(
                f"{self.name} runs on {len(self.shards)} devices: use the inputs and outputs of each of its `shards`"
            )
        return self.shards[0]

    def _device(self, index: int) -> Handle:
        """The program's device with this index."""
        chosen: Handle | None = self.call.arguments.get("execute_device")
        return chosen or devices_of(self._loaded)[index]

    def _buffers(self, index: int, arrays: tuple[Array, ...]) -> list[Handle]:
        """Create buffers for the arrays on the device of this index."""
        device = self._device(index)
        created: list[Handle] = []
        try:
            for array, result in zip(arrays, self.results, strict=True):
                created.append(buffer_of(array, result.element, device, memory_of(device, result.memory_kind)))
        except BaseException:
            release(created)
            raise
        return created

    def _replace(self, created: dict[int, list[Handle]]) -> None:
        """Replace the program's result buffers by `created`, and destroy the replaced ones."""
        before = self.call.result.output_lists
        self.call.result = {"output_lists": [created.get(device, row) for device, row in enumerate(before)]}
        release(buffer for device in created for buffer in before[device])

    def _answer(self, created: dict[int, list[Handle]]) -> None:
        """Return the `created` buffers to the caller, and delete the arguments that the program would have consumed."""
        result = {"output_lists": [created[device] for device in range(len(self.shards))]}
        options = self.call.arguments.options
        kept_parameters = options.non_donatable_input_indices if options else ()
        donated = donated_parameters(self._loaded).difference(kept_parameters)
        self.call.result = result
        for row in self._rows:
            for parameter in donated:
                call_table("PJRT_Buffer_Delete", buffer=row[parameter])
