"""OpenTelemetry profiles, read with OpenTelemetry's own messages."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

from tests.indexer.export.exporting import export, hostile_index
from tests.indexer.export.truth import Call, calls_of, sums
from tests.indexer.recorded import Project
from tests.run.costs.trained import index_of_training

_WEIGHTS = ("time", "calls", "bytes")
_GNU, _HASH = (f"process.executable.build_id.{kind}" for kind in ("gnu", "htlhash"))


class Profiles:
    """Profiles with their shared tables."""

    def __init__(self, written: bytes) -> None:
        self.data = ProfilesData.FromString(written)
        self.tables = self.data.dictionary
        self.texts = self.tables.string_table
        for _, table in self.tables.ListFields():
            assert not table[0] or table[0] == type(table[0])()  # 0 is nothing, in each of them
        assert len(self.tables.link_table) == 1

    def attributes(self, numbers: Any) -> dict[str, str]:
        told = [self.tables.attribute_table[number] for number in numbers]
        return {self.texts[each.key_strindex]: each.value.string_value for each in told}

    def stack(self, number: int) -> tuple[tuple[str, str, int], ...]:
        """The frames of a stack, outermost first: function, path and line."""
        found = []
        for location in reversed(self.tables.stack_table[number].location_indices):
            (line,) = self.tables.location_table[location].lines
            function = self.tables.function_table[line.function_index]
            path = self.texts[function.filename_strindex]
            found.append((self.texts[function.name_strindex], path, line.line))
        return tuple(found)


@pytest.fixture(params=["hostile", "training"])
def index(request: pytest.FixtureRequest) -> Path:
    """An index of a program with hostile names, or of a real one."""
    if request.param == "training":
        return index_of_training()
    return hostile_index(request.getfixturevalue("project"))


def test_samples_have_every_call(index: Path, tmp_path: Path) -> None:
    profiles = Profiles(export(index, "otlp", tmp_path / "profiles"))
    (resource,) = profiles.data.resource_profiles
    (scope,) = resource.scope_profiles
    assert scope.scope.name == "framedex"
    assert [profiles.texts[each.sample_type.type_strindex] for each in scope.profiles] == list(_WEIGHTS)
    for profile, weight in zip(scope.profiles, _WEIGHTS, strict=True):
        found: Counter[Any] = Counter()
        for sample in profile.samples:
            told = profiles.attributes(sample.attribute_indices)
            stack = tuple((name, line) for name, _, line in profiles.stack(sample.stack_index))
            found[told["thread"], told["function"], told.get("shape"), stack] += sum(sample.values)
        assert found == sums(calls_of(index), weight, key=_key)


def _key(call: Call) -> tuple[Any, ...]:
    told = json.loads(call.arguments)
    shape = f"{told['type']}[{','.join(map(str, told['dims']))}]" if {"type", "dims"} <= told.keys() else None
    return call.thread, call.function, shape, tuple((name, line or 0) for name, _, line, _ in call.stack)


def test_binaries_have_their_hash_and_address_range(tmp_path: Path) -> None:
    """Given a binary without a build-id, when it is on stacks, then the hash of its file identifies it."""
    profiles = Profiles(export(index_of_training(), "otlp", tmp_path / "profiles"))
    mappings = {profiles.texts[each.filename_strindex]: each for each in profiles.tables.mapping_table[1:]}
    (jaxlib,) = [path for path in mappings if path.endswith("/libjax_common.so")]
    content = Path(jaxlib).read_bytes()
    told = profiles.attributes(mappings[jaxlib].attribute_indices)
    digest = hashlib.sha256(content[:4096] + content[-4096:] + len(content).to_bytes(8, "big")).hexdigest()
    assert told == {_HASH: digest[:32]}
    locations = profiles.tables.location_table[1:]
    for location in locations:
        mapping = profiles.tables.mapping_table[location.mapping_index]
        assert not location.mapping_index or location.address < mapping.memory_limit
    types = Counter(profiles.attributes(each.attribute_indices).get("profile.frame.type") for each in locations)
    assert types["cpython"] and types["native"]


def test_a_replaced_binary_has_no_hash(project: Project, tmp_path: Path) -> None:
    """Given a file that differs from the recorded one, then its hash is not exported."""
    project.ingest().close()
    assert _known(project, tmp_path).keys() == {_GNU, _HASH}
    for change in ("fingerprint = 'of another build'", "path = '/not/here'"):
        with closing(sqlite3.connect(project.index)) as connection, connection:
            connection.execute(f"UPDATE modules SET {change}")
        assert _known(project, tmp_path).keys() == {_GNU}


def _known(project: Project, folder: Path) -> dict[str, str]:
    """The exported attributes of the project's library, the only one with a build-id."""
    profiles = Profiles(export(project.index, "otlp", folder / "profiles"))
    told = [profiles.attributes(each.attribute_indices) for each in profiles.tables.mapping_table]
    (known,) = [each for each in told if _GNU in each]
    return known


def test_the_otlp_resource_is_the_process(tmp_path: Path) -> None:
    profiles = Profiles(export(index_of_training(), "otlp", tmp_path / "profiles", "--weight", "bytes"))
    (resource,) = profiles.data.resource_profiles
    told = {each.key: each.value for each in resource.resource.attributes}
    assert told["process.pid"].int_value > 0 and "training.py" in told["process.command_line"].string_value
    first = resource.scope_profiles[0].profiles[0]
    assert profiles.texts[first.sample_type.type_strindex] == "bytes" and first.time_unix_nano > 0
