"""Demangling and the roles of frames."""

import pytest

from framedex.binaries import classify_native_frame
from framedex.binaries.demangle import demangle, strip_clone_suffix
from framedex.binaries.names import readable_name
from framedex.binaries.roles import classify_python_frame
from framedex.model import FrameRole
from framedex.model.locations import is_framedex_file


def test_a_mangled_name_is_demangled() -> None:
    cases: list[tuple[str, str]] = [
        ("_ZN3xla3FooC2Ei", "xla::Foo::Foo"),
        ("_ZN3xla3FooC2Ei.cold", "xla::Foo::Foo"),
        ("_ZN3xla3FooD1Ev.llvm.123456", "xla::Foo::~Foo"),
        ("memcpy", "memcpy"),
        ("helper.isra.0.cold", "helper"),
        ("__libc_start_main@@GLIBC_2.34", "__libc_start_main"),
        ("clock_nanosleep@GLIBC_2.2.5", "clock_nanosleep"),
        ("helper.cold@V_1.2", "helper"),
        ("_Znot_mangled", "_Znot_mangled"),
    ]
    for mangled, expected in cases:
        assert readable_name(demangle(mangled)) == expected


def test_a_name_with_an_unknown_suffix_is_unchanged() -> None:
    assert strip_clone_suffix("libfoo.so.init") == "libfoo.so.init"


def test_a_constrained_template_of_clang_18_is_demangled() -> None:
    """LLVM's demangler, if present, demangles a `Tn` name that libstdc++ 12 refuses."""
    pytest.importorskip("pydemumble")
    mangled = (
        "_ZN4absl12lts_202601078StatusOrIN3xla14XlaComputationEEC2IRKNS0_6StatusE"
        "TnNSt9enable_ifIXsr17internal_statusor29IsConstructionFromStatusValidILb0ES3_T_EE5valueEiE4typeELi0EEEOSA_"
    )
    assert readable_name(demangle(mangled)).startswith("absl::StatusOr<xla::XlaComputation>::StatusOr<")


def test_a_frame_has_the_expected_role() -> None:
    cases: list[tuple[str, str, FrameRole]] = [
        ("/usr/lib/libpython3.11.so.1.0", "anything_at_all", FrameRole.INTERPRETER),
        ("/usr/bin/python3.11", "_PyEval_EvalFrameDefault", FrameRole.INTERPRETER),
        ("/opt/app/embedding", "_PyEval_EvalFrameDefault", FrameRole.INTERPRETER),
        ("/lib/x86_64-linux-gnu/libc.so.6", "__libc_start_main", FrameRole.INTERPRETER),
        ("", "__libc_start_main@@GLIBC_2.34", FrameRole.INTERPRETER),
        ("", "run_eval_code_obj", FrameRole.INTERPRETER),
        ("/lib/x86_64-linux-gnu/libc.so.6", "memcpy", FrameRole.CODE),
        ("libjax_common.so", "nanobind::detail::func_create<...>", FrameRole.GLUE),
        ("libjax_common.so", "std::_Function_handler<...>::_M_invoke", FrameRole.GLUE),
        ("libjax_common.so", "absl::internal_any_invocable::LocalInvoker<...>", FrameRole.GLUE),
        ("x.so", "pybind11::cpp_function::dispatcher", FrameRole.GLUE),
        ("libjax_common.so", "jax::nanobind__jax_exec_impl(...)::$_47::operator()", FrameRole.CODE),
        ("libjax_common.so", "xla::PjRtCApiClient::BufferFromHostBuffer", FrameRole.CODE),
        ("libpython_helper_of_mine.so", "mine", FrameRole.CODE),
    ]
    for module, name, role in cases:
        assert classify_native_frame(module, name) is role


def test_framedex_frames_are_distinguished_from_program_frames() -> None:
    own = [
        *("/env/lib/python3.13/site-packages/framedex_native/libtpu.so", "/opt/libframedex_recorder.so"),
        *("/env/lib/python3.13/site-packages/framedex_native/ffi/programs.py", "/src/indexer/framedex/inprocess.py"),
        "/env/lib/python3.13/site-packages/framedex/notebook/cells.py",
    ]
    others = ["/usr/lib/libtpu.so", "/home/me/framedex/train.py", "/src/indexer/framedex/demo/device_put.py"]
    assert [is_framedex_file(path) for path in (*own, *others)] == [True] * len(own) + [False] * len(others)
    assert classify_python_frame(own[2], "_followed.<locals>.load_and_join") is FrameRole.GLUE
