"""Serialised executables."""

from typing import Any

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.client import Client, expect, expect_equal, expect_error
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import take_bytes

_PROGRAM = Stage.PROGRAM


def _serialized(client: Client, loaded: int) -> bytes:
    found = client.call("PJRT_Executable_Serialize", executable=client.executable(loaded))
    content = take_bytes(
        found.serialized_bytes, found.serialized_bytes_size, found.serialized_executable_deleter,
        found.serialized_executable,
    )  # fmt: skip
    expect(content, "The serialised executable is empty.")
    return content


def _load(client: Client, content: bytes, **more: Any) -> int:
    loaded: int = client.call(
        "PJRT_Executable_DeserializeAndLoad", client=client.handle, serialized_executable=content,
        serialized_executable_size=len(content), **more,
    ).loaded_executable  # fmt: skip
    return loaded


def _run_add(client: Client, loaded: int) -> None:
    [[result]] = client.run(loaded, [[client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]])
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check("PJRT_Executable_Serialize", stage=_PROGRAM)
def serialize(client: Client) -> str:
    """An executable can be serialised, and its memory has a deleter."""
    return f"{len(_serialized(client, client.add))} bytes"


@check("PJRT_Executable_Serialize", stage=_PROGRAM)
def serialize_twice(client: Client) -> None:
    """An executable can be serialised twice."""
    expect(_serialized(client, client.add) and _serialized(client, client.add), "A serialised executable is empty.")


@check("PJRT_Executable_DeserializeAndLoad", stage=_PROGRAM)
def load(client: Client) -> None:
    """A loaded serialised executable computes the same."""
    _run_add(client, _load(client, _serialized(client, client.add)))


@check("PJRT_Executable_DeserializeAndLoad", "PJRT_LoadedExecutable_Destroy", stage=_PROGRAM)
def load_after_destruction(client: Client) -> None:
    """A serialised executable outlives its source."""
    content = _serialized(client, client.add)
    client.call("PJRT_LoadedExecutable_Destroy", executable=client.add)
    _run_add(client, _load(client, content))


@check("PJRT_Executable_DeserializeAndLoad", stage=_PROGRAM)
def load_in_new_client(client: Client) -> None:
    """A serialised executable can be loaded by another client."""
    content = _serialized(client, client.add)
    other = Client(client.plugin, client.options)
    _run_add(other, _load(other, content))


@check("PJRT_Executable_DeserializeAndLoad", stage=_PROGRAM)
def load_with_options(client: Client) -> None:
    """Compile options can replace those of the serialised executable."""
    options = client.default_options()
    loaded = _load(
        client, _serialized(client, client.add), overridden_serialized_compile_options=options,
        overridden_serialized_compile_options_size=len(options),
    )  # fmt: skip
    _run_add(client, loaded)


@check("PJRT_Executable_DeserializeAndLoad", stage=_PROGRAM)
def load_results(client: Client) -> None:
    """A loaded serialised executable has its shapes."""
    loaded = _load(client, _serialized(client, client.compile(programs.TWO_RESULTS)))
    expect_equal(client.output_count(loaded), 2, "num_outputs")


@check("PJRT_Executable_DeserializeAndLoad", stage=_PROGRAM, each=("empty", "text", "cut", "bytes"))
def load_malformed(client: Client, damage: str) -> str:
    """A malformed serialised executable is an error."""
    whole = _serialized(client, client.add)
    content = {"empty": b"", "text": b"this is no executable", "cut": whole[: len(whole) // 2], "bytes": b"\xff" * 64}
    return expect_error(lambda: _load(client, content[damage]))
