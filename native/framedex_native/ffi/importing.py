"""Runs actions right after the program imports a module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Action = Callable[[ModuleType], None]


def after_import(actions: dict[str, Action]) -> None:
    """Run each action on the module of its name: now if it is imported, otherwise right after its import.

    Ignores modules that already have a pending action. If an action fails, prints one line to stderr, because the
    program's import must succeed.
    """
    imported = {name: sys.modules[name] for name in actions if name in sys.modules}
    left_out = imported.keys() | _awaited_modules()
    pending = {name: action for name, action in actions.items() if name not in left_out}
    if pending:
        sys.meta_path.insert(0, _Finder(pending))
    for name, module in imported.items():
        _run(actions[name], module)


def stop_awaiting(name: str) -> None:
    """Cancel the action of a module that is not imported yet."""
    for finder in [*sys.meta_path]:
        pending = getattr(finder, "framedex_awaits", None)
        if isinstance(pending, dict) and pending.pop(name, None) is not None and not pending:
            sys.meta_path.remove(finder)


def _awaited_modules() -> set[str]:
    """The modules with pending actions, including those from copies of this package under another name."""
    pending = (getattr(finder, "framedex_awaits", None) for finder in sys.meta_path)
    return {name for names in pending if isinstance(names, dict) for name in tuple(names)}


def _run(action: Action, module: ModuleType) -> None:
    try:
        action(module)
    except Exception as error:
        print(f"framedex: FFI handlers are not recorded: {error!r}", file=sys.stderr)


class _Finder:
    """A finder that handles only the awaited modules, and removes itself after the last one."""

    def __init__(self, pending: dict[str, Action]) -> None:
        self.framedex_awaits = pending

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        action = self.framedex_awaits.pop(name, None)
        if action is None:
            return None
        if not self.framedex_awaits and self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = _find_spec(name, path, target, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, action)  # type: ignore[assignment] # it implements the protocol
        return spec


def _find_spec(name: str, path: Sequence[str] | None, target: Any, left_out: Any) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        if finder is not left_out and find_spec is not None:
            spec: ModuleSpec | None = find_spec(name, path, target)
            if spec is not None:
                return spec
    return None


class _Loader:
    """Wraps a module's loader to run an action after execution, and then restores the loader."""

    def __init__(self, loader: Any, action: Action) -> None:
        self._loader = loader
        self._action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _run(self._action, module)
