"""The role of a frame: code, glue between languages, or interpreter and start of threads and processes.

Only the tables below decide, from the frame's binary and readable name. A frame that matches no rule is code: showing
too many frames is better than hiding a frame that someone needs.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from framedex.model import FrameRole
from framedex.model.locations import is_framedex_file

# CPython itself: every frame in these binaries belongs to the interpreter.
_INTERPRETER_FILES = re.compile(r"libpython\d[\w.]*\.so[\d.]*|python(?:\d+(?:\.\d+)?)?[a-z]*(?:-dbg)?")

# Start functions of processes and threads, in any binary that links them.
_START_FUNCTIONS = frozenset(
    (
        *("_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl"),
        *("start_thread", "thread_start", "clone", "clone3", "__clone", "__clone3", "__clone_internal"),
    )
)
_LIBC_FILES = re.compile(r"(?:libc|libpthread|ld-linux[\w-]*|ld-musl[\w-]*)[-.\d]*\.so[\d.]*")

# The interpreter's entry points, for an executable that links it statically.
_INTERPRETER_NAMES = re.compile(
    r"_PyEval_\w+|PyEval_\w+|_PyFunction_Vectorcall|_?PyObject_(?:Call|Vectorcall|FastCall)\w*|_?PyVectorcall_\w+|"
    r"Py_(?:RunMain|BytesMain|Main)|pymain_\w+|_?PyRun_\w+|pyrun_\w+|run_mod|run_eval_code_obj|"
    r"cfunction_\w+|method_vectorcall\w*|slot_tp_\w+|_?PyCFunction_\w+"
)

# Prefixes of readable names: glue between Python and C++, and between a caller and a stored callable.
_GLUE = re.compile(
    r"nanobind::(?:detail::|class_<|init<|cpp_function\b)|(?:_?nb_\w+|nanobind_\w+_method\w*)$|"
    r"pybind11::(?:detail::|cpp_function\b|class_<|object_api\b)|"
    r"std::(?:function<|_Function_handler\b|_Function_base\b|__function::|__invoke\b|__invoke_\w+|invoke\b|invoke_r\b|"
    r"__invoke_impl\b|__detail::__variant::|visit\b|visit<|apply\b|apply<|__apply_impl\b|_Bind\b|_Mem_fn\w*|"
    r"thread::|__future_base::|call_once|once_flag\b|__call_once\w*|packaged_task<|__thread_proxy|reference_wrapper<)|"
    r"absl::(?:functional_internal::|internal_any_invocable::|AnyInvocable<|FunctionRef<|base_internal::(?:invoke|Callable)|"
    r"synchronization_internal::)|"
    r"llvm::(?:function_ref<|unique_function<|detail::UniqueFunctionBase<)|"
    r"Eigen::(?:ThreadPoolTempl<|StlThreadEnvironment::|ThreadPoolDevice::)|"
    r"(?:tsl|tensorflow)::(?:thread::(?:EigenEnvironment|ThreadPool)\b|\(anonymous namespace\)::P?(?:Std)?Thread\b)|"
    r"ffi_call(?:_\w+)?$"
)


def classify_native_frame(module_path: str, name: str) -> FrameRole:
    """The role of a native frame; `name` is the readable name (`NativeSymbol.name`), `module_path` its binary."""
    file = PurePosixPath(module_path).name
    if (
        _INTERPRETER_FILES.fullmatch(file)
        or name.partition("@")[0] in _START_FUNCTIONS
        or _INTERPRETER_NAMES.fullmatch(name)
    ):
        return FrameRole.INTERPRETER
    # A stripped libc names only exported functions. Its unnamed frames are internal steps, most of them at start-up.
    if _LIBC_FILES.fullmatch(file) and (not name or name.startswith(("_dl_", "dl_", "_start", "__libc_start"))):
        return FrameRole.INTERPRETER
    if _GLUE.match(name):
        return FrameRole.GLUE
    return FrameRole.CODE


def classify_python_frame(filename: str, qualname: str) -> FrameRole:
    """The role of a Python frame."""
    if filename.startswith("<frozen "):
        return FrameRole.INTERPRETER
    # The function that ffi_call returns is JAX's only frame between a program's line and its custom call.
    is_bridge = qualname == "ffi_call.<locals>.wrapped" and filename.endswith("/jax/_src/ffi.py")
    return FrameRole.GLUE if is_bridge or is_framedex_file(filename) else FrameRole.CODE
