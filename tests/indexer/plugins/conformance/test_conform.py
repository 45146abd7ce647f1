"""`framedex conform`: a plug-in that breaks one rule at a time, the mock, and files that are no plug-ins."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.plugins.conformance import abi
from framedex.plugins.conformance.runner import all_checks
from tests.running import build_with_api

Run = Callable[..., Result]
_NAME_CHECK = "clients.platform_name"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled plug-in."""
    library = tmp_path_factory.mktemp("plugin") / "wrong.so"
    return build_with_api("conformance_plugin.cc", library, "-shared", "-fPIC", "-O0")


@pytest.fixture
def conform(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the verb on the plug-in with a rule to break."""

    def run(wrong: str, *arguments: str) -> Result:
        monkeypatch.setenv("WRONG", wrong)
        return CliRunner().invoke(cli, ["conform", str(plugin), *arguments])

    return run


def check_of(result: Result, name: str) -> dict[str, Any]:
    """The entry of a check in the JSON document."""
    found: dict[str, Any] = next(each for each in json.loads(result.stdout)["checks"] if each["name"] == name)
    return found


def all_functions() -> set[str]:
    """The described functions, of the table and of extensions."""
    return {
        *abi.functions(),
        *(each.name for table in abi.read_extensions().values() for each in table.functions.values()),
    }


def test_a_plugin_that_keeps_the_rules_passes(conform: Run) -> None:
    result = conform("", "--only", "clients.p*", "--json")

    assert result.exit_code == 0, result.output
    assert check_of(result, _NAME_CHECK)["status"] == "pass"
    assert check_of(result, "clients.platform_version")["status"] == "unsupported"


@pytest.mark.parametrize(
    ("wrong", "status", "detail"),
    [
        ("unfilled", "fail", "PJRT_Client_PlatformName returned OK and did not write platform_name"),
        ("behind", "fail", "PJRT_Client_PlatformName wrote byte 40, behind the struct_size of its caller."),
        ("text", "fail", "A text is not UTF-8"),
        ("exit", "crash", "exited with status 3"),
    ],
)
def test_a_broken_rule_of_a_call_fails(conform: Run, wrong: str, status: str, detail: str) -> None:
    result = conform(wrong, "--only", "clients.create", "--only", "clients.process_index", "--json")

    found = check_of(result, "clients.create")
    assert (result.exit_code, found["status"], found["detail"][: len(detail)]) == (1, status, detail)
    skipped = check_of(result, "clients.process_index")
    assert (skipped["status"], skipped["detail"]) == ("skipped", found["detail"])


def test_a_crash_is_a_result_with_its_native_stack(conform: Run) -> None:
    result = conform("crash", "--only", "clients.create", "--json")

    found = check_of(result, "clients.create")
    assert (result.exit_code, found["status"], found["signal"]) == (1, "crash", "SIGSEGV")
    functions = [frame["function"] for frame in found["stack"]]
    assert [name.rpartition("::")[2] for name in functions[:2]] == ["crash_on_purpose", "platform_name"]


def test_a_failed_prerequisite_fails_a_run_of_skipped_checks(conform: Run) -> None:
    result = conform("crash", "--only", "clients.process_index", "--json")

    statuses = {each["name"]: each["status"] for each in json.loads(result.stdout)["checks"]}
    assert (result.exit_code, statuses) == (1, {"clients.create": "crash", "clients.process_index": "skipped"})


def test_only_needed_checks_run(conform: Run) -> None:
    result = conform("crash", "--only", "table.version", "--json")

    assert (result.exit_code, [each["name"] for each in json.loads(result.stdout)["checks"]]) == (0, ["table.version"])


def test_a_hang_is_a_result_with_its_native_stack(conform: Run) -> None:
    found = check_of(conform("hang", "--only", "clients.create", "--limit", "1", "--json"), "clients.create")

    assert found["status"] == "hang"
    assert any(frame["function"].endswith("hang_on_purpose") for frame in found["stack"])


def test_an_exception_through_the_boundary_is_a_crash_with_its_text(conform: Run) -> None:
    found = check_of(conform("throw", "--only", "clients.create", "--json"), "clients.create")

    assert (found["status"], found["signal"]) == ("crash", "SIGABRT")
    assert "thrown on purpose" in found["output"]


def test_a_wrong_result_fails(conform: Run) -> None:
    found = check_of(conform("result", "--only", "clients.process_index", "--json"), "clients.process_index")

    assert (found["status"], found["detail"]) == ("fail", "process_index is 7, not 0.")


def test_a_null_slot_is_named_and_a_check_of_it_is_unsupported(conform: Run) -> None:
    result = conform("null", "--only", "table.null_slots", "--only", "clients.platform_version")

    assert result.exit_code == 1
    assert "Null slots: PJRT_Client_PlatformVersion." in result.stdout
    assert "PJRT_Client_PlatformVersion: null, needed by" in result.stdout
    assert "3 checks: 1 pass, 1 unsupported, 1 fail" in result.stdout


def test_comparison_shows_different_results(conform: Run, plugin: Path) -> None:
    other = plugin.with_name("right.so")
    other.write_bytes(plugin.read_bytes().replace(b"WRONG\0", b"RIGHT\0"))

    result = conform("null", "--compare", str(other), "--only", "table.*")

    assert result.exit_code == 1
    assert "1 check with different results\n  table.null_slots  fail  pass\n" in result.stdout
    assert "0 checks with different results" in conform("null", "--compare", str(plugin), "--only", "table.*").stdout


def test_files_of_results(conform: Run, tmp_path: Path) -> None:
    junit, page = tmp_path / "junit.xml", tmp_path / "page.html"

    conform("crash", "--only", "clients.*", "--junit", str(junit), "--html", str(page))

    suite = ElementTree.parse(junit).getroot()
    assert suite.get("errors") == "1"
    assert any(case.get("name") == "create" and case.find("error") is not None for case in suite)
    assert "crash_on_purpose" in page.read_text()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "file too short"),
        (b"this is no library" * 100, "invalid ELF header"),
        (b"\x7fELF" + bytes(2000), "ELF"),
    ],
)
def test_a_file_that_is_no_library_is_an_error(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "plugin.so"
    file.write_bytes(content)

    result = CliRunner().invoke(cli, ["conform", str(file)])

    assert result.exit_code == 1
    assert "cannot be used as a PJRT plug-in" in result.stderr
    assert problem in result.stderr


def test_a_library_of_another_architecture_is_an_error(plugin: Path, tmp_path: Path) -> None:
    content = bytearray(plugin.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # AArch64
    file = tmp_path / "aarch64.so"
    file.write_bytes(content)

    result = CliRunner().invoke(cli, ["conform", str(file)])

    assert result.exit_code == 1
    assert "cannot be loaded" in result.stderr


def test_a_truncated_library_is_an_error(plugin: Path, tmp_path: Path) -> None:
    file = tmp_path / "cut.so"
    file.write_bytes(plugin.read_bytes()[:5000])

    result = CliRunner().invoke(cli, ["conform", str(file)])

    assert result.exit_code == 1
    assert "cannot be used as a PJRT plug-in" in result.stderr


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["conform", str(tmp_path / "none.so")])

    assert result.exit_code == 1
    assert "No such file" in result.stderr


def test_a_library_without_a_table_is_an_error(conform: Run, tmp_path: Path) -> None:
    source, library = tmp_path / "empty.c", tmp_path / "empty.so"
    source.write_text("int nothing;\n")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, source], check=True)

    assert "It has no function GetPjrtApi." in CliRunner().invoke(cli, ["conform", str(library)]).stderr
    assert "GetPjrtApi returned a null pointer." in conform("table").stderr


def test_unknown_patterns_are_an_error() -> None:
    result = CliRunner().invoke(cli, ["conform", "--only", "no_such.check"])

    assert result.exit_code == 1
    assert "No check matches" in result.stderr


def test_the_list_names_checks_and_rules() -> None:
    result = CliRunner().invoke(cli, ["conform", "--list"])

    assert "events.set_ready" in result.stdout
    assert "PJRT_Event_Set without an error makes an event ready." in result.stdout


def test_each_check_has_a_rule_and_a_name_of_its_own() -> None:
    checks = all_checks()

    assert len({check.name for check in checks}) == len(checks) >= 400
    assert all(check.rule.endswith((".", '".')) for check in checks)


def test_checks_cover_functions_of_the_api() -> None:
    covered = {name for check in all_checks() for name in check.covers}

    assert covered <= all_functions()
    assert len(covered) >= 140


def test_the_functions_that_jax_needs_are_functions_of_the_api() -> None:
    file = Path(abi.__file__).with_name("needed_functions.json")
    releases = json.loads(file.read_text())["releases"]

    assert list(releases) == ["0.8.3", "0.9.2", "0.10.2", "0.11.0", "0.12.0.1"]
    for release in releases.values():
        assert release["functions"].keys() <= all_functions()
        assert release["functions"]["PJRT_Client_Create"] == release["programs"]
