"""Redacts names. Public names stay; other names become numbers.

Functions and files of users stay by default. If packages are given, names outside of these packages become numbers.
The user gets a list of the private names that stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain

from framedex.binaries import classify_native_frame
from framedex.model import FrameRole, Language
from framedex.shared.contents import Definitions, SharedFunction
from framedex.sharing import harmless
from framedex.sharing.paths import PYTHON, is_system_file

PUBLIC_PACKAGES = frozenset({"jax", "jaxlib", "framedex_native", "framedex", "libtpu", "numpy", "ml_dtypes"})
"""Packages whose names reveal nothing about the user."""

_FUNCTION, _ARGUMENT, _FILE = "is the name of a function", "is the name of an argument", "is a file"
_SOURCE = "is a file whose text is shared"
_PACKAGE = re.compile(rf"{PYTHON}/(?:site|dist)-packages/([^/]+)")
_GPU_PACKAGE = re.compile(
    rf"{PYTHON}/(?:site|dist)-packages/(?:jax_plugins/xla_(?:cuda|rocm)\d*(?:/|$)|jax_(?:cuda|rocm)\d*_plugin(?:/|$)|nvidia/)"
)
_FRAMEDEX = re.compile(rf"{PYTHON}/(?:site|dist)-packages/framedex_native/")
_LIBRARY = re.compile(rf"{PYTHON}/lib(?:64)?/python\d+\.\d+/([^/]+)")
_PSEUDO_FILE = re.compile(
    r"<(?:string|stdin|unknown|module|lambda|genexpr|(?:list|dict|set)comp)>|\[(?:vdso|vsyscall|heap|stack"
    r"|outside every module)\]|"
)
_FROZEN = re.compile(r"<frozen ([\w.]+)>")
_MAPPED = re.compile(r"(?:xla|jaxlib|jax|cpython)@[0-9a-f]{7,64}(?:\+(?:nearest|changes))*:[\w./+-]+", re.ASCII)
_BUILT = re.compile(r"/proc/self/cwd/|/python/(?:external|python)/")
# Thread names of Python, XLA and the system, without numbers. Programs choose all other thread names.
_POOLS = (
    *("python", "main", "MainThread", "Thread", "ThreadPoolExecutor", "framedex", "py_xla_execute", "tf_XLAEigen"),
    *("tf_XLATfrtCpuClient", "XLATfrtCpuClient", "tf_XLAPjRtCpuClient", "XLAPjRtCpuClient", "tf_xla-cpu-codegen"),
    *("tf_xla-cpu-llvm-codegen", "tf_pjrt_thread_pool", "tf_pjrt_async_work", "tf_Compute"),
)
_MAX_THREAD_NAME = 15  # characters: Linux truncates thread names
_NUMBERED = re.compile(r"(.+?)(?:[/_-]?\d{1,6})?", re.ASCII)  # longer numbers may be phone or card numbers
_NUMBERED_THREAD = re.compile(
    r"python[23]\.\d{1,2}|ThreadPoolExecutor-\d{1,6}_\d{1,6}|/(?:host|device):(?:CPU|GPU|TPU)(?::\d{1,6})?(?: python)?",
    re.ASCII,
)
_THREAD_OF_FUNCTION = re.compile(r"(Thread-\d+) \(\w+\)")
_PYTHON_NAME = re.compile(r"(?:[\w.]|<(?:locals|lambda|module|genexpr|listcomp|dictcomp|setcomp)>){1,400}")
_PLAIN_NAMES = frozenset({"", "<module>", "<lambda>", "main", "_lambda", "_lambda_", "unnamed"})
_PROGRAM = re.compile(r"(jit|pmap|shmap|xmap|remat|checkpoint|custom_jvp|custom_vjp)([_(])(.+?)(\)?)")
# A scope of JAX: transformations around a function or around nothing, or a part of a control flow primitive.
_SCOPE = re.compile(
    r"((?:(?:jit|pjit|jvp|transpose|vmap|pmap|remat|checkpoint|shard_map|custom_jvp|custom_vjp)\()*)([^()/]*)(\)*)"
)
_JAX_SCOPES = frozenset(
    {
        *("while", "body", "cond", "scan", "switch", "checkpoint", "remat", "remat2", "rematted_computation"),
        *("shard_map", "pmap", "pjit", "closed_call", "eval_jaxpr", "custom_jvp_call", "custom_vjp_call"),
        *(f"branch_{number}_fun" for number in range(100)),
    }
)
_PARAMETER = re.compile(r"([A-Za-z_]\w*)((?:\[[^\]]*\]|\.[A-Za-z_]\w*)*)")
_STEP = re.compile(r"\[(\d*)([^\]]*)\]|(\.\w+)")
_ROOTS = frozenset({"args", "kwargs", "result"})  # JAX's names for arguments without a name
_GLUE = re.compile(
    r"(?:std::(?:function|_Function_handler|_Function_base|__invoke_impl|__invoke|invoke_r|invoke|thread|call_once)"
    r"|absl::(?:AnyInvocable|FunctionRef|functional_internal::InvokeObject)|pybind11::cpp_function"
    r"|nanobind::detail::func_create|llvm::(?:function_ref|unique_function))(?=\W|$)"
)


class NameReplacer:
    """Replaces private names. It expects redacted paths.

    Replaces the names of functions and files outside of `packages`. If `packages` is None, these names stay.
    """

    def __init__(self, packages: Collection[str] | None) -> None:
        self._are_hidden = packages is not None
        self._packages = PUBLIC_PACKAGES.union(package.partition(".")[0] for package in packages or ())
        self._numbers: dict[str, dict[str, str]] = defaultdict(dict)
        self._kept_names: dict[str, dict[str, None]] = defaultdict(dict)
        self._public: set[str] = set()
        self._own: set[str] = set()
        self._kept_functions: set[str] = set()
        self._framedex_files: set[str] = set()

    @property
    def count(self) -> int:
        """The number of replaced names."""
        return sum(map(len, self._numbers.values()))

    def kept_names(self) -> Iterator[tuple[str, str]]:
        """Yield (kind, name) for each private name that stayed."""
        for kind in (_SOURCE, _FUNCTION, _ARGUMENT, _FILE):
            for name in self._kept_names[kind]:
                yield kind, name

    def add_definitions(self, definitions: Definitions, paths: tuple[str, ...]) -> None:
        """Register the functions of definitions by their redacted paths, before other names refer to them."""
        for function in definitions.functions:
            self._add_function(function.name, paths[function.module])
        for note in definitions.notes.values():
            if note.function:
                self._own.add(note.function)
        self._add_framedex_files(definitions, paths)
        for program in definitions.programs.values():
            for path, _, name in (frame for line in program.lines for frame in line.frames):
                self._add_function(name, paths[path])

    def _add_framedex_files(self, definitions: Definitions, paths: tuple[str, ...]) -> None:
        """Register the source files of framedex's own binaries, by the paths that these binaries record."""
        files: dict[bool, set[str]] = {True: set(), False: set()}
        for frame in chain.from_iterable(definitions.frames):
            is_framedex = _FRAMEDEX.match(paths[definitions.functions[frame.function].module]) is not None
            files[is_framedex].update(paths[place.path] for place in (frame.recorded, frame.found) if place is not None)
        of_programs = (
            path for each in definitions.programs.values() for line in each.lines for path, _, _ in line.frames
        )
        self._framedex_files = files[True] - files[False] - {paths[path] for path in of_programs}

    def _add_function(self, name: str, path: str) -> None:
        last = name.rpartition(".")[2]
        if self._is_public(path):
            self._public.add(last)
            return
        self._own.add(last)
        if self._is_kept(path):
            self._kept_functions.add(last)

    def redact_function(self, function: SharedFunction, module: str) -> SharedFunction:
        """Redact a function. `module` is the redacted path of its module."""
        if self._is_public(module):
            return function
        if function.language is Language.PYTHON:
            name = self.redact_python(function.name, module)
            return replace(function, name=name, symbol=name if function.symbol else "", mangled="", unit="")
        if self._is_kept(module):
            self._record_kept_name(_FUNCTION, function.name)
            return replace(function, unit="")
        name = self._redact_native(function, module)
        return replace(function, name=name, symbol=name if function.symbol else "", mangled="", unit="")

    def redact_python(self, name: str, path: str) -> str:
        """Redact the name of a Python function. `path` is the redacted path of its file."""
        if self._is_public(path) and not is_system_file(path) and _PYTHON_NAME.fullmatch(name):
            return name
        return self._redact_code(name, self._is_kept(path))

    def redact_file(self, path: str) -> str:
        """Redact the file name in a path whose folders are redacted already."""
        if self._is_public(path) or path in self._framedex_files or _PSEUDO_FILE.fullmatch(path):
            return path
        if not path.startswith("/"):
            return self._number_name("file", path, "<file_{}>")
        if not self._is_kept(path):
            ending = re.search(r"\.(?:py|pyx|cc|cpp|cu|c|h|hpp|so)$", path)
            return self._number_name("file", path, f"/project/file_{{}}{ending[0] if ending else ''}")
        return self._record_kept_name(_FILE, path)

    def record_shared_source(self, path: str) -> None:
        """Register a file whose text is shared. `path` is its redacted path."""
        self._record_kept_name(_SOURCE, self.redact_file(path))

    def redact_thread(self, name: str) -> str:
        """Redact the name of a thread."""
        plain = _THREAD_OF_FUNCTION.sub(r"\1", name)
        return plain if _is_system_thread(plain) else self._number_name("thread", name)

    def redact_program(self, name: str) -> str:
        """Redact the name of a program, `jit_f` or `jit(f)`."""
        match = _PROGRAM.fullmatch(name)
        if match is None or (match[2] == "(") != (match[4] == ")"):
            return name if name in _PLAIN_NAMES else self._number_name("program", name)
        return f"{match[1]}{match[2]}{self.redact_jitted_name(match[3])}{match[4]}"

    def redact_jitted_name(self, name: str) -> str:
        """Redact the name of a function that JAX compiled or refers to."""
        if name in _PLAIN_NAMES:
            return name
        is_public = name in self._public or harmless.is_jax_function(name)
        if is_public and name not in self._own:
            return name
        return self._redact_own_name(name) if name in self._own else self._number_name("function", name)

    def redact_operation(self, kind: str) -> str:
        """Redact the kind of an op of a program: of StableHLO, HLO or JAX."""
        is_public = not kind or harmless.is_op(kind) or harmless.is_jax_function(kind)
        return kind if is_public else self._number_name("op", kind)

    def redact_scope(self, scope: str) -> str:
        """Redact a scope in the name of an op: `transpose(jvp(f))`; empty if a user named it."""
        match = _SCOPE.fullmatch(scope)
        if match is None or not (match[1] or match[2] in _JAX_SCOPES):
            return ""
        return f"{match[1]}{self.redact_jitted_name(match[2]) if match[1] and match[2] else match[2]}{match[3]}"

    def redact_argument(self, name: str) -> str:
        """Redact the name of an argument or result of a program: `params['w'].bias`."""
        match = _PARAMETER.fullmatch(name)
        if match is None:
            return self._number_name("argument", name) if name else name
        root = match[1]
        if root not in _ROOTS:
            root = self._number_name("argument", root) if self._are_hidden else self._record_kept_name(_ARGUMENT, root)
        return root + _STEP.sub(self._redact_step, match[2])

    def redact_target(self, name: str) -> str:
        """Redact the target of an `ffi_call`."""
        if not name or harmless.is_target(name):
            return name
        return self._redact_own_name(name) if name in self._own else self._number_name("target", name)

    def redact_axis(self, name: str) -> str:
        """Redact the name of a mesh axis."""
        return self._number_name("axis", name)

    def redact_name(self, kind: str, name: str) -> str:
        """Redact any other name that users choose."""
        return self._number_name(kind, name) if name else name

    def _redact_step(self, match: re.Match[str]) -> str:
        index, key, attribute = match.groups()
        if attribute:
            return attribute if not self._are_hidden else f".{self._number_name('key', attribute)}"
        return f"[{index}]" if index and not key else f"[{self._number_name('key', match[0])}]"

    def _redact_native(self, function: SharedFunction, module: str) -> str:
        glue = _GLUE.match(function.name)
        if glue is not None and classify_native_frame(module, f"{glue[0]}<...>") is FrameRole.GLUE:
            return f"{glue[0]}<...>"
        return self._number_name("function", function.name) if function.name else ""

    def _redact_own_name(self, name: str) -> str:
        """Redact the name of a captured function whose file is unknown."""
        return self._redact_code(name, name in self._kept_functions or not self._are_hidden)

    def _redact_code(self, name: str, is_kept: bool) -> str:
        if name in _PLAIN_NAMES:
            return name
        if not is_kept or not _PYTHON_NAME.fullmatch(name):
            return self._number_name("function", name)
        return self._record_kept_name(_FUNCTION, name)

    def _number_name(self, kind: str, name: str, form: str = "") -> str:
        numbers = self._numbers[kind]
        return numbers.setdefault(name, (form or f"{kind}_{{}}").format(len(numbers)))

    def _record_kept_name(self, kind: str, name: str) -> str:
        self._kept_names[kind][name] = None
        return name

    def _is_kept(self, path: str) -> bool:
        """Whether the names in a private file stay."""
        if not self._are_hidden:
            return True
        package = _PACKAGE.match(path)
        return package is not None and package[1].removesuffix(".py") in self._packages

    def _is_public(self, path: str) -> bool:
        """Whether a redacted path belongs to Python, JAX or the system."""
        if frozen := _FROZEN.fullmatch(path):
            return harmless.is_standard_module(frozen[1])
        if package := _PACKAGE.match(path):
            return package[1].removesuffix(".py") in PUBLIC_PACKAGES or _GPU_PACKAGE.match(path) is not None
        if library := _LIBRARY.match(path):
            return harmless.is_standard_module(library[1].removesuffix(".py"))
        return _MAPPED.fullmatch(path) is not None or _BUILT.match(path) is not None or is_system_file(path)


def _is_system_thread(name: str) -> bool:
    if not name or _NUMBERED_THREAD.fullmatch(name):
        return True
    match = _NUMBERED.fullmatch(name)
    if match is not None and match[1] in _POOLS:
        return True
    return len(name) == _MAX_THREAD_NAME and any(pool.startswith(name) for pool in _POOLS)
