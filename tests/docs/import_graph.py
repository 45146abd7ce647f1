"""The import graph of the indexer and the server, and its figures: `python tests/docs/import_graph.py [CHECKOUT]`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parents[2]


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_bytes())


def imports(file: Path, *, for_types: bool = True) -> Iterator[str]:
    """The modules that a file imports, anywhere in it; of `from a import b` that is `a.b`."""
    return (name for name, is_for_types in _imports(file) if for_types or not is_for_types)


@cache
def _imports(file: Path) -> tuple[tuple[str, bool], ...]:
    """What a file imports, each with whether that is for type checkers alone."""
    found: list[tuple[str, bool]] = []
    passed: list[tuple[ast.AST, bool]] = [(tree_of(file), False)]
    while passed:
        node, is_for_types = passed.pop()
        match node:
            case ast.Import():
                found += ((alias.name, is_for_types) for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                found += ((f"{module}.{alias.name}", is_for_types) for alias in node.names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                is_for_types = True
        # A statement is in no expression, and those are most of a tree.
        inner = (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr))
        passed += ((each, is_for_types) for each in inner)
    return tuple(found)


@cache
def modules(checkout: Path = HERE) -> dict[str, Path]:
    """Every module of the indexer and the server of a checkout, by its name."""
    found = {}
    for package in (checkout / "indexer" / "framedex", checkout / "server" / "framedex_server"):
        for file in package.rglob("*.py"):
            name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = file
    return found


@cache
def needs_of_modules(checkout: Path = HERE, *, for_types: bool = True) -> dict[str, set[str]]:
    """The modules of ours that each module imports, those for type checkers alone too unless `for_types` is off."""
    known = modules(checkout)
    return {
        name: {_module(needed, known) for needed in imports(file, for_types=for_types)} - {name, ""}
        for name, file in known.items()
    }


def _module(name: str, known: Collection[str]) -> str:
    """The module that an imported name is, or is in; empty where that is none of ours."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def _largest_circle(needs: dict[str, set[str]]) -> int:
    """The size of the largest set of modules of which each leads to each other; 1 where there is no circle."""
    reached: dict[str, set[str]] = {}
    for start in needs:
        seen: set[str] = set()
        front = [start]
        while front:
            for each in needs[front.pop()] - seen:
                seen.add(each)
                front.append(each)
        reached[start] = seen
    return max(len({each for each in seen if start in reached[each]} | {start}) for start, seen in reached.items())


def main() -> None:
    """Print the figures of a checkout."""
    checkout = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
    known = modules(checkout)
    for title, for_types in (("without imports for types", False), ("all imports", True)):
        needs = needs_of_modules(checkout, for_types=for_types)
        edges = [(name, needed) for name, each in needs.items() for needed in each]
        across = sum(known[name].parent != known[needed].parent for name, needed in edges)
        rooms = len({file.parent for file in known.values()})
        print(
            f"{title}: {len(known)} modules in {rooms} rooms, {len(edges)} edges, {across} of them across rooms,"
            f" largest circle {_largest_circle(needs)}"
        )


if __name__ == "__main__":
    main()
