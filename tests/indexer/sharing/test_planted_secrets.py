"""Secrets in every field of all capture data: none of them is in the shared file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from framedex.model import Metadata
from framedex.shared.contents import Definitions
from framedex.shared.packing import pack_value
from framedex.sharing.redaction import Redactor, Secrets
from framedex.sharing.replacement import REDACTED
from framedex.sources.releases import REPOSITORIES
from tests.indexed_ffi import indexed
from tests.indexer.sharing.planting import FORMS, MARK, Planter, forms_of
from tests.indexer.sharing.project import framedex

_DESCRIBED = {
    "ffi_target": ("target", "platform", "api_version", "stages", "is_wrapped", "registered_at"),
    "ffi_site": ("site", "target", "user_frame", "frames"),
    "ffi_instance": (
        *("instance", "join", "program", "instruction", "target", "site", "op_name", "operands", "results", "frames"),
    ),
    "plugin": ("boundary", "path"),
    "ffi_problem": ("kind", "target", "platform", "registered_for", "sites", "message"),
}
_METADATA = (
    *(field.name for field in fields(Metadata)),
    "executable",
    "system",
    "identity",
    "launcher",
    "is_of_samples",
)
_FIELDS = (
    *("program", "program.kept", "compile_options.kept", "jax.kept", "executable_fingerprint", "site", "type", "kind"),
    *("arguments", "results", "attributes", "error_message", "plugin", "extensions", "device_kind", "platform_name"),
    *("platform_version", "memory_kinds", "host_buffer_semantics", "program.format", "stage", "options.call_location"),
)


def _planted(form: int, file: str = f"/home/{MARK}/main.py") -> Definitions:
    """Definitions with secrets in every field, by the fields' types, and in every member of JSON."""
    planter = Planter(form)
    planted: Definitions = planter.value(Definitions)
    described = [(kind, json.dumps(planter.object(iter(names)))) for kind, names in _DESCRIBED.items()]
    frames = [[planter.text(), 3, planter.text()]]
    described += [(kind, json.dumps({"registered_at": frames, "frames": frames})) for kind in _DESCRIBED]
    launcher = {"run": planter.text(), "packages": {"jax": planter.text()}, "arguments": [planter.text()] * 3}
    metadata = planter.object(iter(_METADATA)) | {
        "argv": ["python", *(planter.text() for _ in FORMS)],
        "job": {planter.text(): planter.text()},
        "selected_by": [planter.text()],
        "launcher": json.dumps(launcher | {"cell": planter.text()}),
    }
    builds = tuple(replace(each, component=name) for each in planted.builds for name in REPOSITORIES)
    options = {name: json.dumps(planter.object(iter(("xla_gpu_cuda_data_dir",)))) for name in planted.options}
    return replace(
        planted,
        paths=(file, *planted.paths),
        metadata=json.dumps(metadata),
        descriptions=(*described, (planter.text(), json.dumps(planter.object(iter(("target",)))))),
        builds=(*planted.builds, *builds),
        options=options,
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for key, each in value.items() for text in (key, *_texts(each))]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def _leaks(told: Any) -> list[str]:
    return [text for text in _texts(told) if any(form.lower() in text.lower() for form in forms_of(MARK))]


@pytest.mark.parametrize("form", range(len(FORMS)))
def test_no_field_shares_a_secret_outside_kept_packages(form: int) -> None:
    redactor = Redactor(Secrets([], [], "salt"), ["/project of nobody"], ["jax"])
    planted = _planted(form)
    assert len(_leaks(pack_value(planted, str))) > 100
    assert not _leaks(pack_value(redactor.redact_definitions(planted), redactor.redact_text))
    assert not [text for _, text in redactor.remaining_texts() if _leaks(text)]


@pytest.mark.parametrize("form", range(len(FORMS)))
def test_only_code_names_remain_and_the_report_lists_them(form: int) -> None:
    redactor = Redactor(Secrets([], [], "salt"), ["/project of nobody"], None)
    shared = pack_value(redactor.redact_definitions(_planted(form)), redactor.redact_text)
    listed = {text for _, text in redactor.remaining_texts()}
    names_of_code = [text for each in shared[2] for text in _texts(each)]  # of functions, with their symbols
    left = [text for text in _leaks(shared) if text not in listed and text not in names_of_code]
    for name in sorted(listed, key=len, reverse=True):
        left = [text.replace(name, "").replace(name.rpartition("/")[2], "") for text in left]
    assert not _leaks(left)


@pytest.mark.parametrize("packages", [None, ["jax"]])
@pytest.mark.parametrize("form", range(len(FORMS)))
def test_call_arguments_share_no_secret(form: int, packages: list[str] | None) -> None:
    redactor = Redactor(Secrets([], [], "salt"), [], packages)
    planter = Planter(form)
    for field in _FIELDS:
        told = planter.object(iter((field,))) | {"size": 3}
        shared = redactor.redact_text(redactor.redact_arguments(json.dumps(told)))
        assert not _leaks([shared])
        assert json.loads(shared)["size"] == 3
    assert not _leaks([redactor.redact_object_type(planter.text())])


@pytest.mark.parametrize(
    "file",
    [
        "<string>",
        "[outside every module]",
        f"/x/site-packages/jax_plugins/{MARK}/plugin.so",
        f"/x/site-packages/{MARK}/lib/python3.13/site-packages/{MARK}/x.py",
        f"/x/lib/python3.13/{MARK}/x.py",
        f"/x/site-packages/jax/../../{MARK}/x.py",
        f"/proc/self/cwd/xla/../../{MARK}/x.cc",
        f"/usr/lib/lib{MARK}.so.1",
        f"/usr/local/bin/{MARK}",
        f"/dev/{MARK}",
    ],
)
def test_names_of_private_files_are_hidden(file: str) -> None:
    redactor = Redactor(Secrets([], [], "salt"), [], ["jax"])
    assert not _leaks(pack_value(redactor.redact_definitions(_planted(0, file)), redactor.redact_text))


@pytest.mark.parametrize("value", ["10.1.2.3", "2026-11-27", "555-1234", "deadbeefdeadbeefdeadbeefdeadbeef"])
def test_digits_that_are_not_plain_numbers_are_hidden(value: str) -> None:
    redactor = Redactor(Secrets([], []), [], None)
    assert json.loads(redactor.redact_arguments(json.dumps({"addresses": [value], "id": 3}))) == {
        "addresses": [REDACTED],
        "id": 3,
    }


def test_a_long_number_is_hidden_despite_a_short_prefix() -> None:
    """Calls that differ only in an address: each with other long values is checked."""
    redactor = Redactor(Secrets([], []), [], None)
    told = [{"address": f"0x{'ab' * length}"} for length in (1, 8, 32)]
    assert [json.loads(redactor.redact_arguments(json.dumps(each))) for each in told] == [
        *told[:2],
        {"address": REDACTED},
    ]


def test_a_field_without_a_rule_is_empty() -> None:
    """For a class without rules, all its texts are emptied, and its numbers stay."""
    from dataclasses import dataclass

    from framedex.sharing.emptying import empty_texts

    @dataclass(frozen=True)
    class _New:
        name: str
        number: int
        inner: tuple[tuple[str, int], ...]
        told: Mapping[str, str]

    _New.__annotations__.update(name=str, number=int, inner=tuple[tuple[str, int], ...], told=Mapping[str, str])
    assert empty_texts(_New("a", 3, (("b", 1),), {"c": "d"})) == _New("", 3, (("", 1),), {})


def test_ffi_runs_keep_their_sites_under_other_names(tmp_path: Path) -> None:
    """The shared file hides FFI targets and attributes, and each run keeps the line of its `ffi_call`."""
    run = indexed("ffi_calls.py")
    shared, index = tmp_path / "ffi.fdx.zip", str(tmp_path / "index.db")
    assert run.invoke("share", "latest", "--redact", "--keep", "jax", "-o", str(shared)).exit_code == 0
    assert framedex("--index", index, "import", shared).exit_code == 0
    before, after = run.read("ffi"), json.loads(framedex("--index", index, "ffi", "--json").stdout)
    with zipfile.ZipFile(shared) as archive:
        said = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (b"rms_norm", b"scale_later", b"add_one_untyped", b"eps", b"ffi_examples", b"ffi_calls"):
        assert secret not in said
    assert _runs_by_sites(after) == _runs_by_sites(before)


def _runs_by_sites(told: Mapping[str, Any]) -> list[list[tuple[int, str, list[int]]]]:
    """For each target its sites: the number of runs, the evidence, and their line numbers."""
    return sorted(
        sorted(
            (each["totals"]["runs"], each["how"], [line["location"]["line"] for line in each["site"]["lines"]])
            for each in target["sites"]
        )
        for target in told["targets"]
    )
