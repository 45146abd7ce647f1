"""Names of what is in none of the packages that may be told: each becomes a number."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from framedex.binaries import role_of
from framedex.model import Language, Role
from framedex.shared.contents import Definitions, SharedFunction
from framedex.sharing.paths import PYTHON
from framedex.whereabouts.files import is_of_a_process

ALWAYS = frozenset({"jax", "jaxlib", "jax_plugins", "framedex_native", "framedex", "libtpu", "numpy"})
"""Packages whose names tell nothing of the one who shares."""

_PACKAGE = re.compile(rf"{PYTHON}/(?:site|dist)-packages/([^/]+)")
_PUBLIC = re.compile(rf"{PYTHON}/(?!site-|dist-)|/(?:usr|lib|lib64|bin|sbin)/|<frozen ")
# What is of no file has a name that its maker chose, such as `<attrs generated init app.Config>`, or one of these.
_GENERATED = re.compile(r"<(?!(?:string|stdin|unknown|module|lambda|genexpr|(?:list|dict|set)comp)>|frozen )[^<>]*>")
_XLA = re.compile(
    r"(?:xla|tsl|stream_executor|pjrt|jax|nanobind|absl|std|Eigen|llvm|mlir|google)::|_?Py|PJRT_|framedex"
)
# Threads that Python, XLA and the system name; others have the names that a program gives them.
_THREAD = re.compile(
    r"(?:python[\d.]*|main|MainThread|Thread-\d+(?: \(\w+\))?|ThreadPoolExecutor-\d+_\d+"
    r"|(?:tf_|pjrt|xla|jax)[\w/-]*|/(?:host|device):[\w/: -]*)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_LEAST = 3  # letters of a name that is looked for in texts


class HiddenNames:
    """Hides the names of functions outside some packages, of their files, and of threads. Paths are plain already."""

    def __init__(self, packages: Collection[str]) -> None:
        self._packages = ALWAYS.union(package.partition(".")[0] for package in packages)
        self._names: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._threads: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many names of functions, files and threads were hidden."""
        return len(self._names) + len(self._files) + len(self._threads)

    def learn(self, definitions: Definitions) -> None:
        """Note which functions are hidden, before texts are looked at."""
        paths = definitions.paths
        for function in definitions.functions:
            if not self._is_public(function, paths[function.module]):
                self._hide(function.name)
        for program in definitions.programs.values():
            for path, _, name in (frame for line in program.lines for frame in line.frames):
                if self.file(paths[path]) != paths[path]:
                    self._hide(name)
        for note in definitions.notes.values():
            defined = note.defined.rpartition(":")[0] or note.defined
            if self.file(defined) != defined:
                self._hide(note.function)

    def function(self, function: SharedFunction, module: str) -> SharedFunction:
        """A function, without its name if it is of no package that may be told."""
        if self._is_public(function, module):
            return function
        name = self._name(function.name)
        return replace(function, name=name, symbol=name, mangled="", unit="")

    def file(self, path: str) -> str:
        """A plain path, without the names in it if it is of no package that may be told."""
        if _GENERATED.fullmatch(path):
            return self._files.setdefault(path, f"<file_{len(self._files)}>")
        if _PUBLIC.match(path) or not path.startswith("/") or self._is_told(path) or is_of_a_process(path):
            return path
        ending = re.search(r"\.\w{1,4}$", path)
        hidden = f"/project/file_{len(self._files)}{ending[0] if ending else ''}"
        return self._files.setdefault(path, hidden)

    def thread(self, name: str) -> str:
        """The name of a thread, if it is none that a program gave."""
        plain = self.text(name)
        return plain if _THREAD.fullmatch(plain) else self._threads.setdefault(name, f"thread_{len(self._threads)}")

    def text(self, text: str) -> str:
        """A text without the words that are hidden names."""
        return _WORD.sub(lambda match: self._word(match[0]), text)

    def _hide(self, name: str) -> None:
        self._name(name)
        for word in _WORD.findall(name):
            self._name(word)

    def _word(self, word: str) -> str:
        if word in self._names:
            return self._names[word]
        beginning, _, rest = word.partition("_")  # jit_step
        return f"{beginning}_{self._names[rest]}" if rest in self._names and beginning else word

    def _name(self, name: str) -> str:
        if name in ("<module>", "<lambda>", "locals", "lambda", "module") or len(name) < _LEAST:
            return name
        return self._names.setdefault(name, f"function_{len(self._names)}")

    def _is_public(self, function: SharedFunction, module: str) -> bool:
        if function.language is Language.NATIVE and role_of(module, function.name) is not Role.CODE:
            return True
        is_of_xla = function.language is Language.NATIVE and _XLA.match(function.name) is not None
        return is_of_xla or _PUBLIC.match(module) is not None or self._is_told(module)

    def _is_told(self, path: str) -> bool:
        package = _PACKAGE.match(path)
        return package is not None and package[1].removesuffix(".py") in self._packages
