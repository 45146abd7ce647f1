"""Rules of the C API: each is broken by a client or a plug-in made wrong on purpose, and found with its stacks."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import framedex_native
from framedex.base.words import add_article
from framedex.commands.main import cli
from framedex.plugins.validation import RULES, RULES_BY_NAME, Side
from tests.indexer.unplaced import index_without_sources
from tests.running import TIMEOUT, Run, build_with_api, mock_environment, run

# The rules that a client breaks with one call, or with two: their functions on the stacks are `second` and `first`.
ONE_CALL = [
    "unknown-destroy",
    "unknown-handle",
    "null-handle",
    "pointer-without-reference",
    "undestroyed-error",
    "not-initialized",
    "struct-too-small",
    "struct-too-large",
]
TWO_CALLS = [
    "use-after-destroy",
    "double-destroy",
    "foreign-destroy",
    "use-after-delete",
    "use-after-client",
    "leak",
    "event-set-twice",
    "event-never-set",
    "error-before-ready",
]
# The function with the finding, for each rule that needs a wrong or old plug-in.
WITH_PLUGIN = {
    "exception": "PJRT_Client_Create",
    "null-function": "GetPjrtApi",
    "missing-function": "PJRT_Buffer_IsOnCpu",
    "ok-without-result": "PJRT_Client_BufferFromHostBuffer",
    "larger-struct-refused": "PJRT_Client_PlatformName",
    "function-beyond-table": "PJRT_Buffer_IsOnCpu",
}
# Rules that a mistake breaks besides its own.
ALSO_BROKEN = {
    "use-after-client": {"leak"},
    "missing-function": {"null-function"},
}


@dataclass(frozen=True)
class Checked:
    """The broken rules of a run, by name, and the names of the native functions on each shown stack, by call."""

    findings: dict[str, dict[str, Any]]
    stacks: dict[int, list[str]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`rule_breaking_client.cc`, built."""
    return build_with_api("rule_breaking_client.cc", tmp_path_factory.mktemp("client") / "client", "-ldl")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`rule_breaking_plugin.cc`, built."""
    return build_with_api(
        "rule_breaking_plugin.cc", tmp_path_factory.mktemp("plugin") / "wrong.so", "-shared", "-fPIC", "-ldl"
    )


def check(ran: Run, folder: Path) -> Checked:
    """Index the capture of a run, and check it."""
    index = index_without_sources(folder / "index.db", ran.capture)
    done = CliRunner().invoke(cli, ["--index", str(index), "check", "--stacks", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    broken = [finding for finding in document["findings"] if finding["broken_by"] is not None]
    assert len({finding["kind"] for finding in broken}) == len(broken)
    return Checked(
        {finding["kind"]: finding for finding in broken},
        {
            int(call): [frame["function"]["name"] for frame in trace["frames"]]
            for call, trace in document.get("stacks", {}).items()
        },
    )


def run_client(client: Path, mistake: str, folder: Path, **environment: str) -> Run:
    """Run the client, which may crash."""
    return Run.of([str(client), mistake], folder, mock_environment(folder) | environment, TIMEOUT)


def against(plugin: Path, rule: str) -> dict[str, str]:
    """The variables with which the plug-in is recorded, and breaks a rule."""
    real = str(framedex_native.library_path())
    return {"FRAMEDEX_PLUGIN": str(plugin), "REAL_PLUGIN": real, "BROKEN_RULE": rule}


def test_each_rule_has_a_test() -> None:
    by_misuse = {"destroyed-in-use"}  # needs threads: tests/indexer/commands/test_calls_summary_check.py
    tested = {*ONE_CALL, *TWO_CALLS, *WITH_PLUGIN} | by_misuse
    assert tested == set(RULES_BY_NAME)
    assert {rule.name for rule in RULES if rule.breaker is Side.PLUGIN} <= set(WITH_PLUGIN)


@pytest.mark.parametrize("rule", [*ONE_CALL, *TWO_CALLS])
def test_a_wrong_client_is_found_with_its_stacks(client: Path, tmp_path: Path, rule: str) -> None:
    checked = check(run_client(client, rule, tmp_path), tmp_path)
    assert set(checked.findings) == {rule, *ALSO_BROKEN.get(rule, ())}
    finding = checked.findings[rule]
    assert (finding["count"], finding["broken_by"]) == (1, "client")
    assert any(name.endswith("second") for name in checked.stacks[finding["call"]])
    if rule in TWO_CALLS:
        assert any(name.endswith("first") for name in checked.stacks[finding["earlier_call"]])
    else:
        assert finding["earlier_call"] is None


def test_a_correct_client_breaks_no_rule(client: Path, tmp_path: Path) -> None:
    ran = run_client(client, "none", tmp_path)
    assert ran.status == 0
    assert check(ran, tmp_path).findings == {}


@pytest.mark.parametrize("rule", WITH_PLUGIN)
def test_a_wrong_plugin_is_found(client: Path, plugin: Path, tmp_path: Path, rule: str) -> None:
    checked = check(run_client(client, f"against {rule}", tmp_path, **against(plugin, rule)), tmp_path)
    assert set(checked.findings) == {rule, *ALSO_BROKEN.get(rule, ())}
    finding = checked.findings[rule]
    assert (finding["function"], finding["broken_by"]) == (WITH_PLUGIN[rule], RULES_BY_NAME[rule].breaker)
    assert "main" in checked.stacks[finding["call"]]


@pytest.mark.parametrize(
    ("mistake", "function", "field"),
    [
        ("null list", "PJRT_Client_Devices", "devices"),
        ("null text", "PJRT_Client_PlatformName", "platform_name"),
        ("null object", "PJRT_Buffer_Device", "device"),
    ],
)
def test_null_is_not_a_result(
    client: Path, plugin: Path, tmp_path: Path, mistake: str, function: str, field: str
) -> None:
    ran = run_client(client, "queries", tmp_path, **against(plugin, mistake), FRAMEDEX_VALIDATE="report")
    assert ran.status == 0
    assert f"framedex: ok-without-result, broken by the plug-in: {function}, not assigned: {field}" in ran.stderr
    findings = check(ran, tmp_path).findings
    assert set(findings) == {"ok-without-result"}
    finding = findings["ok-without-result"]
    assert (finding["function"], finding["message"]) == (function, f"succeeded without filling {field}")


def test_a_missing_result_is_no_mistake_of_the_client_that_uses_it(client: Path, plugin: Path, tmp_path: Path) -> None:
    ran = run_client(client, "uses a missing result", tmp_path, **against(plugin, "ok-without-result"))
    assert set(check(ran, tmp_path).findings) == {"ok-without-result"}


def test_a_null_name_of_a_plugin_does_not_stop_the_program(client: Path, plugin: Path, tmp_path: Path) -> None:
    ran = run_client(client, "queries", tmp_path, **against(plugin, "null name"))
    assert ran.status == 0
    assert check(ran, tmp_path).findings == {}


@pytest.mark.parametrize("noun", ["error", "client"])
@pytest.mark.parametrize("rule", ["use-after-destroy", "double-destroy"])
def test_destroyed_errors_and_clients_are_not_used(
    client: Path, plugin: Path, tmp_path: Path, rule: str, noun: str
) -> None:
    mistake = f"{rule} of {add_article(noun)}"
    ran = run_client(client, mistake, tmp_path, **against(plugin, "nothing"), FRAMEDEX_VALIDATE="report")
    checked = check(ran, tmp_path)
    assert set(checked.findings) == {rule}
    finding = checked.findings[rule]
    assert any(name.endswith("second") for name in checked.stacks[finding["call"]])
    assert any(name.endswith("first") for name in checked.stacks[finding["earlier_call"]])
    assert (f"framedex: {rule}, broken by the client: " in ran.stderr) == (noun == "client")  # errors are judged later


def test_a_refused_buffer_was_deleted_or_donated(client: Path, plugin: Path, tmp_path: Path) -> None:
    """The deletion is not recorded, like the donation by an execution, but the plug-in's message tells."""
    variables = against(plugin, "refused buffer") | {"FRAMEDEX_EXCLUDE": "PJRT_Buffer_Delete"}
    checked = check(run_client(client, "use-after-delete", tmp_path, **variables), tmp_path)
    assert set(checked.findings) == {"use-after-delete"}
    assert any(name.endswith("second") for name in checked.stacks[checked.findings["use-after-delete"]["call"]])


def test_a_plugin_without_initialisation_is_not_initialised(client: Path, plugin: Path, tmp_path: Path) -> None:
    checked = check(run_client(client, "none", tmp_path, **against(plugin, "no initialisation")), tmp_path)
    assert set(checked.findings) == {"null-function"}


def test_an_exception_that_only_framedex_meets_is_not_passed_on(client: Path, plugin: Path, tmp_path: Path) -> None:
    """The program does not ask for the message of its error."""
    ran = run_client(client, "none", tmp_path, **against(plugin, "throwing message"))
    assert ran.status == 0
    assert check(ran, tmp_path).findings == {}


def test_null_arguments_are_passed_on(client: Path, plugin: Path, tmp_path: Path) -> None:
    assert run_client(client, "null arguments", tmp_path, **against(plugin, "nothing")).status == 0


@pytest.mark.parametrize("rule", [rule.name for rule in RULES if rule.is_live])
def test_a_live_rule_ends_the_program_with_its_finding(client: Path, plugin: Path, tmp_path: Path, rule: str) -> None:
    environment = {"FRAMEDEX_VALIDATE": "abort"}
    if rule in WITH_PLUGIN:
        environment |= against(plugin, rule)
    ran = run_client(client, f"against {rule}" if rule in WITH_PLUGIN else rule, tmp_path, **environment)

    assert ran.status == -signal.SIGABRT
    assert f"framedex: {rule}, broken by the {RULES_BY_NAME[rule].breaker}: PJRT_" in ran.stderr
    assert rule in check(ran, tmp_path).findings


def test_a_finding_is_reported_once_for_each_stack(client: Path, tmp_path: Path) -> None:
    ran = run_client(client, "use-after-destroy in loops", tmp_path, FRAMEDEX_VALIDATE="report")

    assert ran.status == 0
    assert ran.stderr.count("framedex: use-after-destroy, broken by the client: PJRT_Buffer_IsOnCpu, buffer 0x") == 2


def test_a_correct_client_has_no_live_finding(client: Path, tmp_path: Path) -> None:
    ran = run_client(client, "none", tmp_path, FRAMEDEX_VALIDATE="abort")

    assert (ran.status, "framedex: " in ran.stderr) == (0, False)


def test_objects_are_unknown_after_an_unrecorded_call(client: Path, tmp_path: Path) -> None:
    variables = {"FRAMEDEX_VALIDATE": "abort", "FRAMEDEX_EXCLUDE": "PJRT_Buffer_Delete"}

    assert run_client(client, "use-after-destroy, unseen", tmp_path, **variables).status == 0


def test_objects_stay_known_after_an_unrecorded_query(client: Path, tmp_path: Path) -> None:
    variables = {"FRAMEDEX_VALIDATE": "abort", "FRAMEDEX_EXCLUDE": "PJRT_Buffer_IsDeleted"}

    assert run_client(client, "use-after-destroy, unseen", tmp_path, **variables).status == -signal.SIGABRT


@pytest.mark.exhaustive(keep=["threads.py", "host_callbacks.py"])
@pytest.mark.parametrize(
    "program", ["arrays.py", "conversation.py", "host_callbacks.py", "inside_jit.py", "memory.py", "threads.py"]
)
def test_jax_breaks_no_rule(tmp_path: Path, program: str) -> None:
    ran = run(program, folder=tmp_path, FRAMEDEX_VALIDATE="abort", FRAMEDEX_DEVICES="4")

    assert ran.status == 0, ran.stderr
    assert check(ran, tmp_path).findings == {}
