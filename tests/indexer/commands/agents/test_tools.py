"""The tools: their verbs and options exist, and the verbs' suggestions become tool calls."""

from __future__ import annotations

import click
import pytest

from framedex.commands.agents.pages import find_proposals
from framedex.commands.agents.tools import TOOLS, ArgumentRole, Tool, build_verb_arguments
from framedex.commands.main import cli


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.verbs], ids=lambda tool: tool.name)
def test_each_verb_accepts_the_parameters_of_its_tool(tool: Tool) -> None:
    for verb in tool.verbs:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        options = {option for parameter in command.params for option in parameter.opts}
        assert {each.option for each in tool.arguments if each.role is ArgumentRole.OPTION} <= options
        words = [each for each in command.params if isinstance(each, click.Argument) and each.name != "arguments"]
        assert len([each for each in tool.arguments if each.role in (ArgumentRole.WORD, ArgumentRole.INPUT)]) == len(
            words
        )


def test_parameter_values_never_become_options() -> None:
    trace, costs, calls = (next(tool for tool in TOOLS if tool.name == name) for name in ("trace", "costs", "calls"))

    assert list(build_verb_arguments(trace, {"call": "--output=x"})) == ["trace", "--", "--output=x"]
    assert list(build_verb_arguments(trace, {"call": 61, "capture": 3})) == ["trace", "--capture=3", "--", "61"]
    assert list(build_verb_arguments(costs, {"of": "memory", "limit": 3})) == ["memory", "--limit=3", "--"]
    assert list(build_verb_arguments(calls, {"errors": True, "all": False, "capture": "-1"})) == [
        *("calls", "--errors", "--capture=-1", "--")
    ]


def test_commands_become_tool_calls() -> None:
    told = find_proposals(
        [
            "`framedex trace 61` shows it; `framedex --index 'a b.db' where train.py:3` too.",
            "`framedex memory --all-lines --capture 3`; `framedex callers NAME`; `framedex calls --limit 0`",
        ]
    )

    assert told == [
        {"tool": "trace", "arguments": {"call": "61"}},
        {"tool": "where", "arguments": {"place": "train.py:3"}},
        {"tool": "costs", "arguments": {"of": "memory", "all_lines": True, "capture": "3"}},
        {"tool": "callers"},
        {"tool": "calls"},
    ]
    assert find_proposals(["`framedex --index x.db index`", "`pip install x`", "`framedex trace 'a`"]) == [
        {"user_runs": "framedex --index x.db index"}
    ]
