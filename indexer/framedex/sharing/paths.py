"""Redacts paths: public parts stay, and all folders before them are removed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PureWindowsPath
from urllib.parse import urlsplit

PROJECT, PYTHON, ELSEWHERE = "/project", "/python", "/elsewhere"

_INSTALLED = re.compile(r".*(/(?:site|dist)-packages(?:/.*)?)")
_LIBRARY = re.compile(r".*(/lib(?:64)?/python\d+\.\d+(?:/.*)?)")
# Paths of the sources of XLA, JAX, jaxlib's dependencies and CPython in debug information.
_REPOSITORY = (
    r"(?:(?:org_|local_)?(?:xla|tsl|jax)|com_google_absl|abseil-cpp|eigen_archive|llvm-project|llvm-raw|nanobind"
    r"|stablehlo|shardy|com_google_protobuf|protobuf|tensorflow|org_tensorflow)"
)
_WORKSPACE = re.compile(
    r".*?/proc/self/cwd(/(?:bazel-out/(?:k8|aarch64|x86_64)-(?:opt|fastbuild|dbg)/bin/)?"
    rf"(?:external/{_REPOSITORY}|jax|jaxlib|tensorflow|third_party/tsl|tsl|xla)/.*)"
)
_EXTERNAL = re.compile(rf".*?(/external/{_REPOSITORY}/.*)")
_CPYTHON = re.compile(
    r".*?/(?:Python-3\.\d+(?:\.\d+)?\w*|cpython(?:-[\w.]+)?)"
    r"(/(?:Include|Modules|Objects|Parser|Programs|Python)/(?:[\w-]+/){0,3}[\w-]+\.[ch])"
)
_SYSTEM = re.compile(
    r"(?:/usr)?/(?:lib|lib32|lib64|bin|sbin)(?:/[a-z\d_]+-linux-gnu)?(?:/(?:nvidia|rocm))?/(?P<name>[^/]+)"
)
_INTERPRETER = re.compile(r"libpython\d(?:\.\d+)?[a-z]{0,2}\.so[\d.]*|python\d*(?:\.\d+)?[a-z]?")
_SYSTEM_NAME = re.compile(
    r"(?:ld-linux(?:-x86-64|-aarch64)?|ld-musl-(?:x86_64|aarch64)|lib(?:c|m|dl|rt|util|pthread|resolv|nsl|anl|gcc_s|stdc\+\+|c\+\+|c\+\+abi|unwind|z|crypto|ssl"
    r"|ffi|atomic|gomp|omp|numa|cuda|cudart|cublas(?:Lt)?|cudnn(?:_(?:ops|cnn|adv|graph|heuristic)(?:_infer|_train)?)?|cufft|cusolver|cusparse|cupti|nccl|nvrtc|nvidia-(?:ml|ptxjitcompiler|nvvm)|nvJitLink"
    r"|hsa-runtime64|amdhip64|MIOpen|rccl))(?:-[\d.]+)?\.so(?:\.[\d.]+)?"
)
_REDACTED_PATH = re.compile(rf"(?:{PROJECT}|{PYTHON}|{ELSEWHERE})(?:/|$)")

# Names that are not paths: `xla@5a9e73cbd929:xla/shape.cc` from a release map, `<string>`, `[vdso]`.
_NAMED = re.compile(r"[<\[].*[>\]]|[A-Za-z]+@[0-9a-f]{7,64}(?:\+(?:nearest|changes))*:[\w./+-]+|", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z\d+.-]+:")
# The safe characters of a file name. A query, an option or an address begins with `?`, `#`, `=`, `&`, `;`, `%` or `@`.
_NAME = re.compile(r"[\w .+,()\[\]~-]*")
_ENDING = re.compile(r"\.[A-Za-z\d]{1,5}")
_UNKNOWN = "file"


class PathRedactor:
    """Redacts paths. A path below one of `projects` stays relative to that folder."""

    def __init__(self, projects: Sequence[str]) -> None:
        real = dict.fromkeys(each.rstrip("/") for name in projects if name for each in (name, os.path.realpath(name)))
        self._projects = sorted((each for each in real if each.startswith("/")), key=len, reverse=True)

    def redact_absolute_path(self, path: str) -> str:
        """Redact an absolute path. A redacted path stays unchanged."""
        return path if _REDACTED_PATH.match(path) else self._shorten(path)

    def redact_file(self, name: str) -> str:
        """Redact a file name of a capture: an absolute path, or any name from another recorder."""
        if name.startswith("/"):
            return self._shorten(name)
        return name if _NAMED.fullmatch(name) else f"{ELSEWHERE}/{_redact_relative(name)}"

    def _shorten(self, path: str) -> str:
        path = os.path.normpath(path)
        if is_system_file(path):
            return _truncate_unsafe(path)
        for pattern, beginning in (
            (_INSTALLED, PYTHON),
            (_LIBRARY, PYTHON),
            (_WORKSPACE, "/proc/self/cwd"),
            (_EXTERNAL, PYTHON),
            (_CPYTHON, f"{PYTHON}/python"),
        ):
            if match := pattern.fullmatch(path):
                return beginning + _truncate_unsafe(match[1])
        for folder in self._projects:
            if path == folder:
                return PROJECT
            if path.startswith(f"{folder}/"):
                return PROJECT + _truncate_unsafe(path[len(folder) :])
        return f"{ELSEWHERE}/{_truncate_unsafe(path.rstrip('/').rpartition('/')[2])}"


def is_system_file(path: str) -> bool:
    """Whether a path is an interpreter, or an installed library of Linux, CUDA or ROCm."""
    match = _SYSTEM.fullmatch(path)
    name = match["name"] if match else path.removeprefix(f"{ELSEWHERE}/")
    return is_interpreter(name) or (match is not None and _SYSTEM_NAME.fullmatch(name) is not None)


def is_interpreter(name: str) -> bool:
    """Whether a file name is a Python executable or library."""
    return _INTERPRETER.fullmatch(name) is not None


def plain_file_name(name: str) -> str:
    """The file name in a path or URL, without query and other suffixes."""
    return _truncate_unsafe(PureWindowsPath(name).name) if name else ""


def _redact_relative(name: str) -> str:
    if _SCHEME.match(name) is None:
        return plain_file_name(name)
    if not name.lower().startswith(("http:", "https:", "file:")):
        return _UNKNOWN
    try:
        found = plain_file_name(urlsplit(name).path)
    except ValueError:
        return _UNKNOWN
    return found if _ENDING.search(found) else _UNKNOWN


def _truncate_unsafe(path: str) -> str:
    """Truncate each part of a path at its first unsafe character."""
    match = (_NAME.match(part) for part in path.split("/"))
    parts = [found[0].rstrip(" ([") if found else "" for found in match]
    return "/".join(part or _UNKNOWN if place else part for place, part in enumerate(parts)) or _UNKNOWN
