"""framedex's library as an interposer for a PJRT plug-in: what callers see, and what is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import framedex_native
from framedex.captures import read_capture
from tests.reading import Call, calls_of
from tests.running import Run, build_small_plugin, run

MINOR = 114
FUNCTIONS = 138


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small plug-in, built."""
    return build_small_plugin(tmp_path_factory.mktemp("small plugin"))


@pytest.fixture
def interposed(plugin: Path, tmp_path: Path) -> Any:
    """Runs `interposed.py` on a kind of the plug-in: the run."""

    def start(kind: str, *questions: str, library: Path = plugin) -> Run:
        variables = {"FRAMEDEX_PLUGIN": str(library), "SMALL_PLUGIN": kind}
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        return run("interposed.py", str(plugin), *questions, folder=folder, **variables)

    return start


def only(calls: list[Call], function: str) -> Call:
    """The one call of a function."""
    found = [call for call in calls if call.function == function]
    assert len(found) == 1, function
    return found[0]


def test_the_first_call_of_a_capture_identifies_the_plugin(interposed: Any, plugin: Path) -> None:
    first = calls_of(interposed("usual").capture)[0]
    assert first.function == "GetPjrtApi"
    assert first.arguments == {
        "plugin": str(plugin),
        "major_version": 0,
        "minor_version": MINOR,
        "struct_size": 40 + 8 * FUNCTIONS,
        "extensions": "FFI, Layouts, 99, Profiler",
        "untraced_extensions": "99",
        "untraced_functions": 1,
        "extension_sizes": "FFI=40, Layouts=88, 99=32, Profiler=40",
        "null_functions": first.arguments["null_functions"],
    }
    nulls = first.arguments["null_functions"].split(", ")
    assert {"PJRT_Event_Await", "PJRT_Layouts_MemoryLayout_Destroy", "PLUGIN_Profiler_Start"} < set(nulls)
    assert not {"PJRT_Client_Create", "PJRT_FFI_Register_Handler", "PLUGIN_Profiler_Create"} & set(nulls)


def test_known_extensions_are_traced_and_unknown_ones_passed_through(interposed: Any) -> None:
    result = interposed("usual", "extensions").result
    assert result["types"] == result["types_of_the_plugin"]
    assert result["unknown_is_the_plugins_own"]
    assert result["known_are_not"]
    assert result["serialized"] == "{1,0}"


def test_an_extension_keeps_the_size_set_by_the_plugin(interposed: Any) -> None:
    result = interposed("usual", "extensions").result
    assert result["lacking"] is None
    assert result["beyond_a_shorter_struct"]  # bytes behind the struct, as a client sees them without framedex
    assert result["added"] == 42


def test_an_endless_chain_of_extensions_is_traced_once(interposed: Any) -> None:
    completed = interposed("endless")
    assert completed.result["table"]
    assert calls_of(completed.capture)[0].arguments["extensions"] == "FFI, Layouts, 99, Profiler"


def test_extension_calls_are_recorded_with_arguments(interposed: Any) -> None:
    calls = calls_of(interposed("usual", "extensions").capture)
    serialized = only(calls, "PJRT_Layouts_MemoryLayout_Serialize").arguments
    assert (serialized["layout"], serialized["serialized_bytes"]) == ("0x42", "{1,0}")
    layouts = only(calls, "PJRT_Layouts_PJRT_Executable_GetOutputLayouts").arguments
    assert layouts == {"executable": "0x43", "layouts": ["0x510", "0x520"]}


def test_extension_and_profiler_errors_are_recorded(interposed: Any) -> None:
    calls = calls_of(interposed("usual", "extensions").capture)
    failed = only(calls, "PJRT_FFI_UserData_Add")
    assert (failed.error, failed.arguments["error_message"]) == (5, "no user data")
    profiler = only(calls, "PLUGIN_Profiler_Create")
    assert (profiler.error, profiler.arguments["error_message"]) == (5, "no profiler here")


def test_execution_lists_are_recorded_by_device(interposed: Any) -> None:
    calls = calls_of(interposed("usual", "execute").capture, "PJRT_LoadedExecutable_Execute")
    for call in calls:
        assert call.arguments["argument_lists"] == [["0xa1", "0xa2"], ["0xb1", "0xb2"]]
        assert call.arguments["output_lists"] == [["0x1000", "0x1001", "0x1002"], ["0x2000", "0x2001", "0x2002"]]
        assert call.arguments["device_complete_events"] == ["0xe00", "0xe01"]
    assert len(calls) == 6


def test_the_outputs_of_an_executable_are_queried_once_until_it_is_destroyed(interposed: Any) -> None:
    completed = interposed("usual", "execute")
    assert completed.result["asked"] == [1, 1, 2, 2, 3, 3]
    assert not calls_of(completed.capture, "PJRT_Executable_NumOutputs")


def test_a_plugin_without_output_counts_is_not_queried(interposed: Any) -> None:
    call, *_ = calls_of(interposed("older", "execute").capture, "PJRT_LoadedExecutable_Execute")
    assert call.arguments["argument_lists"] == [["0xa1", "0xa2"], ["0xb1", "0xb2"]]
    assert call.arguments["output_lists"] == []


def test_missing_functions_of_an_older_plugin_stay_missing(interposed: Any) -> None:
    result = interposed("older", "table").result
    assert result["minor"] == 54
    assert result["struct_size"] < 40 + 8 * FUNCTIONS
    assert result["slots"][-1] == "PJRT_Executable_GetCompiledMemoryStats"
    assert "PJRT_Client_Create" not in result["slots"]
    assert result["platform"] == "small"


def test_fields_unknown_to_an_older_plugin_are_not_recorded(interposed: Any) -> None:
    function = "PJRT_Executable_GetCompiledMemoryStats"
    assert only(calls_of(interposed("usual", "table").capture), function).arguments["total_size_in_bytes"] == 0x5A5A
    older = only(calls_of(interposed("older", "table").capture), function).arguments
    assert older["generated_code_size_in_bytes"] == 7
    assert "total_size_in_bytes" not in older


def test_a_newer_plugin_is_recorded_as_far_as_known(interposed: Any) -> None:
    completed = interposed("newer", "table")
    assert completed.result["minor"] == MINOR + 5
    assert completed.result["added"] == [42, 42, 42]
    assert completed.result["create"] == ["NOT_FOUND", "there is no such device"]
    calls = calls_of(completed.capture)
    assert calls[0].arguments["untraced_functions"] == 4
    assert only(calls, "PJRT_Client_Create").arguments["error_message"] == "there is no such device"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "major",
            "implements version 1.114 of the PJRT C API; framedex supports 0.114, and the major versions must be",
        ),
        ("short", "its table of 16 bytes is too short to be one of the PJRT C API."),
        ("long", "its table of 1099511627776 bytes is too long to be one of the PJRT C API."),
        ("none", "its GetPjrtApi returned no table."),
    ],
)
def test_an_untraceable_plugin_is_refused_with_the_reason(interposed: Any, kind: str, message: str) -> None:
    assert_refused(interposed(kind, "refused"), message)


def test_a_library_that_is_not_a_plugin_is_refused_with_the_reason(interposed: Any, tmp_path: Path) -> None:
    recorder = framedex_native.library_path().with_name("libframedex_recorder.so")
    assert_refused(
        interposed("usual", "refused", library=recorder), "is not a PJRT plug-in: it has no function GetPjrtApi"
    )
    missing = tmp_path / "missing.so"
    assert_refused(interposed("usual", "refused", library=missing), f"the plug-in cannot be loaded: {missing}")
    assert_refused(interposed("usual", "refused", library=Path("small.so")), "FRAMEDEX_PLUGIN=small.so is not a path")


def assert_refused(completed: Run, message: str) -> None:
    """The program's table has the reason, and so does stderr."""
    assert message in next(line for line in completed.stderr.splitlines() if line.startswith("framedex: "))
    for code, text in completed.result["answers"]:
        assert code == "FAILED_PRECONDITION"
        assert message in text


@pytest.mark.exhaustive
def test_a_second_copy_of_framedex_is_recorded_once(tmp_path: Path) -> None:
    """With a copy of the mock as the plug-in, JAX's calls are recorded once each."""
    copy = tmp_path / "copy_of_the_mock.so"
    shutil.copy(framedex_native.library_path(), copy)
    completed = run("devices.py", folder=tmp_path, FRAMEDEX_PLUGIN=str(copy), FRAMEDEX_DEVICES="8")
    assert completed.status == 0, completed.stderr
    calls = calls_of(completed.capture)
    assert calls[0].arguments["plugin"] == str(copy)
    only(calls, "PJRT_Client_Create")
    only(calls, "PJRT_Client_Devices")


def test_a_program_that_finds_its_plugin_by_itself_is_recorded(plugin: Path, tmp_path: Path) -> None:
    """With LD_PRELOAD, a program that loads the plug-in by its own path is recorded."""
    completed = preloaded(plugin, tmp_path)
    assert completed.result["slots"]
    calls = calls_of(completed.capture)
    assert calls[0].arguments["plugin"] == str(plugin)
    assert only(calls, "PJRT_Client_PlatformName").arguments["platform_name"] == "small"


def test_an_unselected_plugin_is_not_traced(plugin: Path, tmp_path: Path) -> None:
    completed = preloaded(plugin, tmp_path, FRAMEDEX_PLUGIN=str(tmp_path / "other.so"))
    assert completed.result["slots"]
    assert completed.captures == ()


def test_two_plugins_are_recorded_apart_and_a_third_works_unrecorded(plugin: Path, tmp_path: Path) -> None:
    second, third = tmp_path / "second.so", tmp_path / "third.so"
    shutil.copy(plugin, second)
    shutil.copy(plugin, third)
    completed = preloaded(plugin, tmp_path, second, third)
    assert completed.result["slots"]
    assert (
        f"{third} is not recorded: at most 2 plug-ins per process are, here {plugin} and {second}." in completed.stderr
    )
    tables = calls_of(completed.capture, "GetPjrtApi")
    assert [call.arguments["plugin"] for call in tables] == [str(plugin), str(second)]
    functions = read_capture(completed.capture).functions
    assert [each.boundary for each in functions if each.name == "GetPjrtApi"] == ["pjrt", "pjrt#2"]
    assert [call.error for call in calls_of(completed.capture, "PJRT_Client_PlatformName")] == [0]


def test_several_plugins_can_be_selected(plugin: Path, tmp_path: Path) -> None:
    second, third = tmp_path / "second.so", tmp_path / "third.so"
    shutil.copy(plugin, second)
    shutil.copy(plugin, third)
    completed = preloaded(plugin, tmp_path, second, third, FRAMEDEX_PLUGIN=f"{second}:{third}")
    tables = calls_of(completed.capture, "GetPjrtApi")
    assert [call.arguments["plugin"] for call in tables] == [str(second), str(third)]


def test_the_path_of_the_only_plugin_may_contain_colons(plugin: Path, interposed: Any, tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    moved = Path(shutil.copy(plugin, folder / "small.so"))
    assert calls_of(interposed("usual", library=moved).capture)[0].arguments["plugin"] == str(moved)
    completed = preloaded(moved, tmp_path, FRAMEDEX_PLUGIN=str(moved))
    assert calls_of(completed.capture)[0].arguments["plugin"] == str(moved)


@pytest.mark.parametrize("is_mock_first", [False, True])
def test_a_third_plugin_works_unrecorded_beside_the_mock(plugin: Path, tmp_path: Path, is_mock_first: bool) -> None:
    second = Path(shutil.copy(plugin, tmp_path / "second.so"))
    mock = framedex_native.library_path()
    first, *others = [mock, plugin, second] if is_mock_first else [plugin, second, mock]
    completed = preloaded(first, tmp_path, *others)
    assert "PJRT_Client_Create" in completed.result["slots"]
    names = [str(path) if path != mock else "the mock TPU" for path in (first, *others)]
    assert [line for line in completed.stderr.splitlines() if line.startswith("framedex: ")] == [
        f"framedex: {names[2]} is not recorded: at most 2 plug-ins per process are, here {names[0]} and {names[1]}."
        " Choose them with FRAMEDEX_PLUGIN."
    ]
    described = [each.content for each in read_capture(completed.capture).descriptions if each.kind == "plugin"]
    assert described == [{"boundary": "pjrt", "path": names[0]}, {"boundary": "pjrt#2", "path": names[1]}]


def preloaded(plugin: Path, folder: Path, *libraries: Path, **variables: str) -> Run:
    """`preloaded.py`, which loads the plug-in and then `libraries`, with framedex's library in LD_PRELOAD."""
    preload = {"LD_PRELOAD": str(framedex_native.preload_path()), "TPU_LIBRARY_PATH": str(plugin)}
    return run("preloaded.py", *map(str, libraries or [plugin]), folder=folder, **preload | variables)


def test_requesting_the_table_again_returns_the_same_table(interposed: Any) -> None:
    completed = interposed("usual")
    assert completed.result["is_the_same_again"]
    only(calls_of(completed.capture), "GetPjrtApi")
