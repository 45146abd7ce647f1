"""The definitions that a call in the source may refer to."""

from __future__ import annotations

from framedex.sources.call_targets import NamedDefinition, Namesakes

A = ("a::Foo::make", "method", "/x/foo.cc")
B = ("b::Bar::make", "method", "/x/bar.cc")
FREE = ("a::make", "function", "/x/free.cc")


def cpp(written: str, caller: str = "c::f", kind: str = "call") -> tuple[list[str], bool]:
    definitions = [NamedDefinition.from_columns(*each, "cpp") for each in (A, B, FREE)]
    found = Namesakes(definitions, "cpp").resolve(
        kind, written, NamedDefinition.from_columns(caller, "function", "/x/caller.cc", "cpp")
    )
    return [each.name for each in found.definitions], found.is_sure


def test_the_qualifier_of_a_name_excludes_definitions() -> None:
    cases: list[tuple[str, list[str], bool]] = [
        ("Foo::make", ["a::Foo::make"], True),
        ("::a::Foo::make", ["a::Foo::make"], True),
        ("Foo<int>::make", ["a::Foo::make"], True),
        ("a::make<std::vector<int>>", ["a::make"], True),
        ("std::make", [], True),
        ("x->make", ["a::Foo::make", "b::Bar::make"], False),
        ("x.y().make", ["a::Foo::make", "b::Bar::make"], False),
        ("", ["a::Foo::make", "b::Bar::make", "a::make"], False),
    ]
    for written, names, is_sure in cases:
        assert cpp(written) == (names, is_sure)


def test_the_innermost_scope_around_the_caller_comes_first() -> None:
    assert cpp("", "a::Foo::other") == (["a::Foo::make"], True)
    assert cpp("", "a::g") == (["a::make"], True)
    assert cpp("this->make", "b::Bar::other") == (["b::Bar::make"], True)


def python(
    written: str, caller: str, path: str, *definitions: tuple[str, str, str]
) -> tuple[list[tuple[str, str]], bool]:
    named = [NamedDefinition.from_columns(*each, "python") for each in definitions]
    found = Namesakes(named, "python").resolve(
        "call", written, NamedDefinition.from_columns(caller, "function", path, "python")
    )
    return [(each.name, each.path) for each in found.definitions], found.is_sure


def test_python_modules_classes_and_the_same_file_are_distinguished() -> None:
    of_api, of_util = ("put", "function", "/p/api.py"), ("put", "function", "/p/util.py")
    method = ("Buffer.put", "method", "/p/buffer.py")
    every = (of_api, of_util, method)

    assert python("api.put", "f", "/p/x.py", *every) == ([("put", "/p/api.py")], True)
    assert python("", "f", "/p/util.py", *every) == ([("put", "/p/util.py")], True)
    assert python("", "f", "/p/x.py", *every) == ([("put", "/p/api.py"), ("put", "/p/util.py")], False)
    assert python("self.put", "Buffer.f", "/p/buffer.py", *every) == ([("Buffer.put", "/p/buffer.py")], True)
    assert python("Buffer.put", "f", "/p/x.py", *every) == ([("Buffer.put", "/p/buffer.py")], True)
    names, is_sure = python("thing.put", "f", "/p/x.py", *every)
    assert len(names) == 3 and not is_sure


def test_a_nested_function_is_called_only_inside_its_parent() -> None:
    inner = ("outer.<locals>.put", "function", "/p/x.py")
    assert python("", "outer", "/p/x.py", inner) == ([("outer.<locals>.put", "/p/x.py")], True)
    assert python("", "other", "/p/x.py", inner) == ([], False)


def test_of_two_trees_with_the_same_file_the_callers_tree_counts() -> None:
    installed, checked_out = (("put", "function", f"{tree}/jax/api.py") for tree in ("/env/site", "/src"))
    assert python("api.put", "f", "/src/jax/x.py", installed, checked_out) == ([("put", "/src/jax/api.py")], True)
    assert python("api.put", "f", "/env/site/jax/x.py", installed, checked_out) == ([("put", installed[2])], True)
