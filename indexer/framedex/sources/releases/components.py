"""The component of a recorded frame, and its installation folder.

The frame's binary or Python file decides. jaxlib's binaries contain XLA, jaxlib itself and third-party libraries. There
the source file of the frame's line decides or, without a known line, the namespace of its function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from framedex.model.locations import is_framedex_file
from framedex.sources.releases.repository import find_compiled_source


class Component(StrEnum):
    """The components of frames, in the order in which users look for them."""

    XLA = "xla"
    JAXLIB = "jaxlib"
    IN_JAXLIB = "in-jaxlib"  # absl, LLVM, Eigen and the other libraries built into jaxlib
    JAX = "jax"
    PLUGIN = "plugin"
    OWN = "own"
    PACKAGES = "packages"
    FRAMEDEX = "framedex"
    CPYTHON = "cpython"
    SYSTEM = "system"
    GENERATED = "generated"  # machine code generated at run time


class FrameOwner(NamedTuple):
    """A frame's component.

    `name` is the file name of a plug-in, `folder` the installation folder of a plug-in, jax or jaxlib.
    """

    component: Component
    name: str = ""
    folder: str = ""


_PACKAGE = re.compile(r"(?P<folder>/.*/(?:site|dist)-packages/(?P<package>[^/]+))/")
_LIBRARY = re.compile(r"/.*/lib(?:64)?/python\d+\.\d+t?/")
_INTERPRETER = re.compile(r"(?:lib)?python(?:\d+(?:\.\d+)?)?[a-z]*(?:-dbg)?(?:\.so[\d.]*)?")
_PLUGIN = re.compile(r"/jax_plugins/|/jax_\w+_plugin/|/[^/]*(?:libtpu|pjrt|xla_[^/]*plugin)[^/]*\.so[\d.]*$")
_SYSTEM = ("/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/", "/usr/local/cuda")
_RUNTIME = re.compile(r"(?:ld-linux[\w-]*|ld-musl[\w-]*|lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp))[-.\d]*\.so[\d.]*")
_NAMESPACES = {
    **dict.fromkeys(("xla", "tsl", "stream_executor", "pjrt", "ifrt", "xla_ifrt"), Component.XLA),
    **dict.fromkeys(("", "jax", "jaxlib"), Component.JAXLIB),
}
_IN_REPOSITORIES = {"xla": Component.XLA, "jax": Component.JAXLIB, "jaxlib": Component.JAXLIB}


def find_owner_of_python(file: str) -> FrameOwner:
    """The owner of a Python frame, from its code's file path or Python's name for code without a file."""
    if file.startswith("<frozen "):
        return FrameOwner(Component.CPYTHON)
    if is_framedex_file(file):
        return FrameOwner(Component.FRAMEDEX)
    if package := _PACKAGE.match(file):
        component = {"jax": Component.JAX, "jaxlib": Component.JAXLIB}.get(package["package"])
        return FrameOwner(component, folder=package["folder"]) if component else FrameOwner(Component.PACKAGES)
    return FrameOwner(Component.CPYTHON if _LIBRARY.match(file) else Component.OWN)


def find_owner_of_native(binary: str, source: str, source_component: str, namespace: str) -> FrameOwner:
    """The owner of a native frame in a binary.

    `source` is the path of its line. `source_component` is the component of the source folder or source map with that
    path. `namespace` is the first part of its function's name. Each is empty if unknown.
    """
    file = binary.rpartition("/")[2]
    if binary.startswith("[outside"):
        return FrameOwner(Component.GENERATED)
    if is_framedex_file(binary):
        return FrameOwner(Component.FRAMEDEX)
    package = _PACKAGE.match(binary)
    if package and package["package"] == "jaxlib":
        return FrameOwner(_component_in_jaxlib(source, source_component, namespace), folder=package["folder"])
    if _PLUGIN.search(binary):
        return FrameOwner(Component.PLUGIN, file, binary.rpartition("/")[0])
    if package:
        return FrameOwner(Component.PACKAGES)
    if _INTERPRETER.fullmatch(file) or _LIBRARY.match(binary):
        return FrameOwner(Component.CPYTHON)
    is_of_the_kernel = "/" not in binary  # linux-vdso.so.1
    is_system = binary.startswith(_SYSTEM) or is_of_the_kernel or _RUNTIME.fullmatch(file)
    return FrameOwner(Component.SYSTEM if is_system else Component.OWN)


def _component_in_jaxlib(source: str, source_component: str, namespace: str) -> Component:
    compiled = find_compiled_source(source)
    component = source_component or (compiled[0] if compiled else "")
    if component:
        return _IN_REPOSITORIES.get(component, Component.IN_JAXLIB)
    return _NAMESPACES.get(namespace, Component.IN_JAXLIB)


NAMES: Mapping[Component, str] = {
    Component.XLA: "XLA",
    Component.JAXLIB: "jaxlib",
    Component.IN_JAXLIB: "others in jaxlib",
    Component.JAX: "JAX",
    Component.PLUGIN: "plug-in",
    Component.OWN: "your own code",
    Component.PACKAGES: "other packages",
    Component.FRAMEDEX: "framedex",
    Component.CPYTHON: "CPython",
    Component.SYSTEM: "system libraries",
    Component.GENERATED: "run-time code",
}
"""The names of the components in output."""
