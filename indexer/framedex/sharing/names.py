"""Names in a redacted file: those that are public stay, those of users become numbers.

Functions and files of users stay, unless packages are named: then names outside of these are hidden. What stays is
listed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from framedex.binaries import role_of
from framedex.model import Language, Role
from framedex.shared.contents import Definitions, SharedFunction
from framedex.sharing import harmless
from framedex.sharing.paths import PYTHON, is_system_file

ALWAYS = frozenset({"jax", "jaxlib", "framedex_native", "framedex", "libtpu", "numpy", "ml_dtypes"})
"""Packages whose names tell nothing of the one who shares."""

_FUNCTION, _ARGUMENT, _FILE = "is the name of a function", "is the name of an argument", "is a file"
_SOURCE = "is a file whose text is shared"
_PACKAGE = re.compile(rf"{PYTHON}/(?:site|dist)-packages/([^/]+)")
_GPU_PACKAGE = re.compile(
    rf"{PYTHON}/(?:site|dist)-packages/(?:jax_plugins/xla_(?:cuda|rocm)\d*(?:/|$)|jax_(?:cuda|rocm)\d*_plugin(?:/|$)|nvidia/)"
)
_LIBRARY = re.compile(rf"{PYTHON}/lib(?:64)?/python\d+\.\d+/([^/]+)")
_OF_NO_FILE = re.compile(
    r"<(?:string|stdin|unknown|module|lambda|genexpr|(?:list|dict|set)comp)>|\[(?:vdso|vsyscall|heap|stack"
    r"|outside every module)\]|"
)
_FROZEN = re.compile(r"<frozen ([\w.]+)>")
_MAPPED = re.compile(r"(?:xla|jaxlib|jax|cpython)@[0-9a-f]{7,64}(?:\+(?:nearest|changes))*:[\w./+-]+", re.ASCII)
_BUILT = re.compile(r"/proc/self/cwd/|/python/(?:external|python)/")
# Threads that Python, XLA and the system name, without numbers; others have the names that a program gives them.
_POOLS = (
    *("python", "main", "MainThread", "Thread", "ThreadPoolExecutor", "framedex", "py_xla_execute", "tf_XLAEigen"),
    *("tf_XLATfrtCpuClient", "XLATfrtCpuClient", "tf_XLAPjRtCpuClient", "XLAPjRtCpuClient", "tf_xla-cpu-codegen"),
    *("tf_xla-cpu-llvm-codegen", "tf_pjrt_thread_pool", "tf_pjrt_async_work", "tf_Compute"),
)
_LONGEST_THREAD = 15  # characters that Linux keeps of a thread's name
_NUMBERED = re.compile(r"(.+?)(?:[/_-]?\d{1,6})?", re.ASCII)  # longer numbers may be those of a phone or a card
_NUMBERED_OTHERWISE = re.compile(
    r"python[23]\.\d{1,2}|ThreadPoolExecutor-\d{1,6}_\d{1,6}|/(?:host|device):(?:CPU|GPU|TPU)(?::\d{1,6})?(?: python)?",
    re.ASCII,
)
_OF_FUNCTION = re.compile(r"(Thread-\d+) \(\w+\)")
_PYTHON_NAME = re.compile(r"(?:[\w.]|<(?:locals|lambda|module|genexpr|listcomp|dictcomp|setcomp)>){1,400}")
_PLAIN_NAMES = frozenset({"", "<module>", "<lambda>", "main", "_lambda", "_lambda_", "unnamed"})
_PROGRAM = re.compile(r"(jit|pmap|shmap|xmap|remat|checkpoint|custom_jvp|custom_vjp)([_(])(.+?)(\)?)")
_PARAMETER = re.compile(r"([A-Za-z_]\w*)((?:\[[^\]]*\]|\.[A-Za-z_]\w*)*)")
_STEP = re.compile(r"\[(\d*)([^\]]*)\]|(\.\w+)")
_ROOTS = frozenset({"args", "kwargs", "result"})  # which JAX gives where it knows no other
_GLUE = re.compile(
    r"(?:std::(?:function|_Function_handler|_Function_base|__invoke_impl|__invoke|invoke_r|invoke|thread|call_once)"
    r"|absl::(?:AnyInvocable|FunctionRef|functional_internal::InvokeObject)|pybind11::cpp_function"
    r"|nanobind::detail::func_create|llvm::(?:function_ref|unique_function))(?=\W|$)"
)


class Names:
    """Replaces names. Paths are plain already.

    `packages` are those outside of which functions and files are hidden; None if these names stay.
    """

    def __init__(self, packages: Collection[str] | None) -> None:
        self._are_hidden = packages is not None
        self._packages = ALWAYS.union(package.partition(".")[0] for package in packages or ())
        self._numbers: dict[str, dict[str, str]] = defaultdict(dict)
        self._kept_names: dict[str, dict[str, None]] = defaultdict(dict)
        self._public: set[str] = set()
        self._own: set[str] = set()
        self._kept_functions: set[str] = set()

    @property
    def count(self) -> int:
        """The number of names that were replaced."""
        return sum(map(len, self._numbers.values()))

    def kept_names(self) -> Iterator[tuple[str, str]]:
        """What each name is of that stayed and is not public, and the name."""
        for kind in (_SOURCE, _FUNCTION, _ARGUMENT, _FILE):
            for name in self._kept_names[kind]:
                yield kind, name

    def add_definitions(self, definitions: Definitions, paths: tuple[str, ...]) -> None:
        """Note which functions there are, by the plain paths of definitions, before other names refer to them."""
        for function in definitions.functions:
            self._add_function(function.name, paths[function.module])
        for note in definitions.notes.values():
            if note.function:
                self._own.add(note.function)
        for program in definitions.programs.values():
            for path, _, name in (frame for line in program.lines for frame in line.frames):
                self._add_function(name, paths[path])

    def _add_function(self, name: str, path: str) -> None:
        last = name.rpartition(".")[2]
        if self._is_public(path):
            self._public.add(last)
            return
        self._own.add(last)
        if self._is_kept(path):
            self._kept_functions.add(last)

    def function(self, function: SharedFunction, module: str) -> SharedFunction:
        """A function. `module` is its plain path."""
        if self._is_public(module):
            return function
        if function.language is Language.PYTHON:
            name = self.python(function.name, module)
            return replace(function, name=name, symbol=name if function.symbol else "", mangled="", unit="")
        if self._is_kept(module):
            self._keep(_FUNCTION, function.name)
            return replace(function, unit="")
        name = self._native(function, module)
        return replace(function, name=name, symbol=name if function.symbol else "", mangled="", unit="")

    def python(self, name: str, path: str) -> str:
        """The name of a function of Python. `path` is the plain path of its file."""
        if self._is_public(path) and not is_system_file(path) and _PYTHON_NAME.fullmatch(name):
            return name
        return self._code(name, self._is_kept(path))

    def file(self, path: str) -> str:
        """A plain path."""
        if self._is_public(path) or _OF_NO_FILE.fullmatch(path):
            return path
        if not path.startswith("/"):
            return self._number("file", path, "<file_{}>")
        if not self._is_kept(path):
            ending = re.search(r"\.(?:py|pyx|cc|cpp|cu|c|h|hpp|so)$", path)
            return self._number("file", path, f"/project/file_{{}}{ending[0] if ending else ''}")
        return self._keep(_FILE, path)

    def source(self, path: str) -> None:
        """List a file whose text is shared. `path` is its plain path."""
        self._keep(_SOURCE, self.file(path))

    def thread(self, name: str) -> str:
        """The name of a thread."""
        plain = _OF_FUNCTION.sub(r"\1", name)
        return plain if _is_system_thread(plain) else self._number("thread", name)

    def program(self, name: str) -> str:
        """The name of a program, `jit_f` or `jit(f)`."""
        match = _PROGRAM.fullmatch(name)
        if match is None or (match[2] == "(") != (match[4] == ")"):
            return name if name in _PLAIN_NAMES else self._number("program", name)
        return f"{match[1]}{match[2]}{self.jitted(match[3])}{match[4]}"

    def jitted(self, name: str) -> str:
        """The name of a function that JAX compiled, or calls by its name."""
        is_public = name in self._public or harmless.is_jax_function(name)
        if is_public and name not in self._own:
            return name
        return self._own_name(name) if name in self._own else self._number("function", name)

    def operation(self, kind: str) -> str:
        """The kind of an op of a program."""
        return kind if not kind or harmless.is_op(kind) else self._number("op", kind)

    def argument(self, name: str) -> str:
        """The name of an argument or result of a program: `params['w'].bias`."""
        match = _PARAMETER.fullmatch(name)
        if match is None:
            return self._number("argument", name) if name else name
        root = match[1]
        if root not in _ROOTS:
            root = self._number("argument", root) if self._are_hidden else self._keep(_ARGUMENT, root)
        return root + _STEP.sub(self._step, match[2])

    def target(self, name: str) -> str:
        """The target of an `ffi_call`; of a function of the boundary also with the stage."""
        if not name or harmless.is_target(name):
            return name
        return self._own_name(name) if name in self._own else self._number("target", name)

    def axis(self, name: str) -> str:
        """The name of an axis of a mesh."""
        return self._number("axis", name)

    def other(self, kind: str, name: str) -> str:
        """A name of another kind, which users choose."""
        return self._number(kind, name) if name else name

    def _step(self, match: re.Match[str]) -> str:
        index, key, attribute = match.groups()
        if attribute:
            return attribute if not self._are_hidden else f".{self._number('key', attribute)}"
        return f"[{index}]" if index and not key else f"[{self._number('key', match[0])}]"

    def _native(self, function: SharedFunction, module: str) -> str:
        glue = _GLUE.match(function.name)
        if glue is not None and role_of(module, f"{glue[0]}<...>") is Role.GLUE:
            return f"{glue[0]}<...>"
        return self._number("function", function.name) if function.name else ""

    def _own_name(self, name: str) -> str:
        """The name of a function that a capture has, where its file is not known."""
        return self._code(name, name in self._kept_functions or not self._are_hidden)

    def _code(self, name: str, is_kept: bool) -> str:
        if name in _PLAIN_NAMES:
            return name
        if not is_kept or not _PYTHON_NAME.fullmatch(name):
            return self._number("function", name)
        return self._keep(_FUNCTION, name)

    def _number(self, kind: str, name: str, form: str = "") -> str:
        numbers = self._numbers[kind]
        return numbers.setdefault(name, (form or f"{kind}_{{}}").format(len(numbers)))

    def _keep(self, kind: str, name: str) -> str:
        self._kept_names[kind][name] = None
        return name

    def _is_kept(self, path: str) -> bool:
        """Whether names of a file that is not public stay."""
        if not self._are_hidden:
            return True
        package = _PACKAGE.match(path)
        return package is not None and package[1].removesuffix(".py") in self._packages

    def _is_public(self, path: str) -> bool:
        """Whether a plain path is of Python, JAX or the system."""
        if frozen := _FROZEN.fullmatch(path):
            return harmless.is_standard_module(frozen[1])
        if package := _PACKAGE.match(path):
            return package[1].removesuffix(".py") in ALWAYS or _GPU_PACKAGE.match(path) is not None
        if library := _LIBRARY.match(path):
            return harmless.is_standard_module(library[1].removesuffix(".py"))
        return _MAPPED.fullmatch(path) is not None or _BUILT.match(path) is not None or is_system_file(path)


def _is_system_thread(name: str) -> bool:
    if not name or _NUMBERED_OTHERWISE.fullmatch(name):
        return True
    match = _NUMBERED.fullmatch(name)
    if match is not None and match[1] in _POOLS:
        return True
    return len(name) == _LONGEST_THREAD and any(pool.startswith(name) for pool in _POOLS)
