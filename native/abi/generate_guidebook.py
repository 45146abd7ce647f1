"""Write the guidebook's table of functions: `python generate_guidebook.py`. A test compares it with the data.

It contains the functions of the PJRT table, of its extensions, of objects' own tables, and of the C API of jaxlib
0.4.13. Members of a struct that an argument points to count as fields with dotted names, as in recordings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pjrt_abi
import tpu_abi
from decoding import BOOKKEEPING, values
from generate_object_tables import is_output, object_tables
from pjrt_abi import API_STRUCT, EXTENSION_BASE, Abi, Struct, extensions, inner_tables

DATA = Path(__file__).with_name("pjrt_c_api.json")
HISTORY = Path(__file__).with_name("pjrt_c_api_history.json")
DECLARATIONS = Path(__file__).with_name("declarations.json")
TARGET = Path(__file__).parents[2] / "indexer" / "framedex" / "guidebook" / "abi.json"


@dataclass(frozen=True)
class Parameter:
    """A parameter, or a field of an argument struct. `since` is None if the version is older than the history."""

    name: str
    type: str
    is_output: bool
    since: int | None


@dataclass(frozen=True)
class Function:
    """A function in the guidebook; see `framedex.model.guidebook`."""

    name: str
    kind: str
    table: str
    returns: str
    arguments: str
    parameters: tuple[Parameter, ...]
    since: int | None


def main() -> None:
    """Write the table to the guidebook's folder."""
    TARGET.write_text(table())


def table() -> str:
    """The table as JSON, one function per line."""
    declared = json.loads(DECLARATIONS.read_text())
    commits = [declared[api]["commit"] for api in ("pjrt", "tpu")]
    lines = {
        name: [commits.index(declared[api]["commit"]), *place]
        for api in ("pjrt", "tpu")
        for name, place in declared[api]["lines"].items()
    }
    rows = [
        json.dumps(
            [
                each.name,
                each.kind,
                each.table,
                each.returns,
                each.arguments,
                [[field.name, field.type, int(field.is_output), field.since] for field in each.parameters],
                each.since,
                lines.get(each.name),
            ],
            separators=(",", ":"),
        )
        for each in functions()
    ]
    about = "Made by native/abi/generate_guidebook.py; do not edit."
    body = ",\n".join(rows)
    head = f'"about":"{about}",\n"commits":{json.dumps(commits)},\n"releases":{json.dumps(_releases())}'
    return f'{{{head},\n"functions":[\n{body}\n]}}\n'


def _releases() -> list[tuple[str, int, int]]:
    """The releases of jaxlib, each with its minor API version and its number of functions."""
    releases = json.loads(HISTORY.read_text())["releases"]
    return [(release["jaxlib"], release["minor"], release["functions"]) for release in releases]


def functions() -> Iterator[Function]:
    """Every function, in table order."""
    history = json.loads(HISTORY.read_text())
    oldest = min(release["minor"] for release in history["releases"])
    abi = pjrt_abi.load(DATA, HISTORY)
    for function in abi.functions:
        since = _later(history["functions_since"].get(function.name), oldest)
        fields = tuple(_fields(abi, function.arguments, oldest))
        yield Function(function.name, "api", "PJRT", function.returns, function.arguments, fields, since)
    for table_of_functions in (*extensions(abi), *inner_tables(abi)):
        for function in table_of_functions.functions:
            fields = tuple(_fields(abi, function.arguments, oldest))
            name = _short_table_name(function.table)
            yield Function(function.name, "extension", name, function.returns, function.arguments, fields, None)
    for own in object_tables(abi):
        for each in own.functions:
            since = _later(own.struct.field(each.member).since, oldest)  # type: ignore[union-attr]
            parameters = tuple(Parameter(one.name, one.type, is_output(abi, one), None) for one in each.parameters)
            yield Function(each.name, "object", _short_table_name(each.table), each.returns, "", parameters, since)
    for exported in tpu_abi.load().functions:
        parameters = tuple(Parameter(each.name, each.type, False, None) for each in exported.parameters)
        yield Function(exported.name, "legacy", "TPU", exported.returns, "", parameters, None)


def _fields(abi: Abi, arguments: str, oldest: int) -> Iterator[Parameter]:
    """The fields of an argument struct, each followed by the fields of a struct that it points to."""
    struct = abi.structs[arguments]
    outputs = {value.name for value in values(abi, struct) if value.is_output}
    for field in struct.fields:
        if field.name is None:
            continue
        is_output = field.is_output or field.name in outputs
        yield Parameter(field.name, field.type, is_output, _later(field.since, oldest))
        inner = abi.structs.get(field.type.removeprefix("const ").rstrip("*"))
        if inner is not None and _is_followed(inner):
            for member in inner.fields:
                if member.name is not None and member.name not in BOOKKEEPING:
                    yield Parameter(f"{field.name}.{member.name}", member.type, is_output, _later(member.since, oldest))


def _is_followed(struct: Struct) -> bool:
    """Whether the struct belongs to the call: it is neither an extension nor an object with its own functions."""
    return struct.name not in (EXTENSION_BASE, API_STRUCT) and struct.field("vtable") is None


def _later(since: int | None, oldest: int) -> int | None:
    """The version that added something; None if the oldest known version may already contain it."""
    return since if since and since > oldest else None


def _short_table_name(table_name: str) -> str:
    """`PJRT_Layouts_Extension` -> `Layouts`."""
    plain = table_name.removeprefix("PJRT_").removeprefix("PLUGIN_")
    return re.sub(r"_(?:Extension|FunctionTable|Api)$", "", plain)


if __name__ == "__main__":
    main()
