"""Arguments of `%%framedex`: the options of `framedex run`, and a remedy for anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.integrations.notebook.options import parse_cell_options, parse_kernel_options


def test_options_become_the_variables_of_a_run(tmp_path: Path) -> None:
    behaviour = tmp_path / "my tpu.py"
    behaviour.write_text("")
    found = parse_cell_options(
        f"-o run --output 'a b' --include 'PJRT_*' --limit 1MiB --ring --device v4 --behaviour '{behaviour}'"
    )
    assert (found.name, found.output, found.is_fresh, found.plugin) == ("run", Path("a b"), False, "")
    assert found.recording == {"FRAMEDEX_INCLUDE": "PJRT_*", "FRAMEDEX_LIMIT": "1048576", "FRAMEDEX_RING": "1"}
    assert found.machine["FRAMEDEX_DEVICE"] == "v4"
    assert found.machine["FRAMEDEX_BEHAVIOUR"] == str(behaviour)


def test_without_options_defaults_apply() -> None:
    assert parse_cell_options("") == parse_kernel_options("")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--colour", "No such option"),
        ("-o 1x", "-o 1x is not a variable name."),
        ("'", "cannot be parsed: No closing quotation"),
        ("--ring", "--ring needs a size"),
        ("--limit lots", "is not a number of bytes"),
        ("--plugin libtpu --hbm 1GiB", "not for a plug-in"),
        ("run", "unexpected extra argument"),
        ("--behaviour /nowhere.py", "cannot be read: No such file"),
    ],
)
def test_malformed_options_are_reported(line: str, why: str) -> None:
    with pytest.raises(FramedexError, match=why):
        parse_cell_options(line)


def test_a_mock_kernel_records_nothing_by_itself() -> None:
    assert parse_kernel_options("--devices 4").machine == {"FRAMEDEX_DEVICES": "4"}
    with pytest.raises(FramedexError, match="No such option"):
        parse_kernel_options("--ring")
