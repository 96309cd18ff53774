"""`--json` of all commands: to the screen or a file, valid, with the keys that docs/json.md has."""

import json
import re
from pathlib import Path

import pytest

from grouser import cli
from grouser.commands.registry import COMMANDS
from grouser.json_output import SCREEN, with_json_target

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", PAGE, re.MULTILINE))
NO_RESULT = {"run", "record", "completion", "rviz"}


def keys_of(row):
    """The words in code of a row, without those in brackets."""
    return set(re.findall(r"`(\w+)`", re.sub(r"\([^()]*\)", "", ROWS[row])))


def test_every_command_with_a_result_is_on_the_page():
    assert {row.split()[0] for row in ROWS} == set(COMMANDS) - NO_RESULT


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - NO_RESULT))
def test_every_command_with_a_result_has_the_option(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert "--json [FILE.json]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "arguments", "exact"),
    [
        ("list", ["list"], True),
        ("inspect", ["inspect", "four_bar"], False),
        ("map", ["map", "step", "--output", "{}/map.yaml"], True),
        ("inspect --hydraulics", ["inspect", "hydraulic_lift", "--hydraulics", "--output", "{}/c.svg"], True),
        ("reproduce NAME", ["reproduce", "plate_sinkage"], True),
        ("reproduce NAME --parameters", ["reproduce", "plate_sinkage", "--parameters"], True),
    ],
)
def test_the_keys_are_those_of_the_page(row, arguments, exact, tmp_path, capsys):
    arguments = [word.format(tmp_path) for word in arguments]
    cli.main([*arguments, "--json"])
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert set(found) == keys_of(row) if exact else keys_of(row) <= set(found)
    file = tmp_path / "result.json"
    cli.main([*arguments, *(["--overwrite"] if row == "map" else []), "--json", str(file)])
    assert json.loads(file.read_text(encoding="utf-8")).keys() == found.keys()
    assert capsys.readouterr().out not in ("", shown)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--json", "rover"], [f"--json={SCREEN}", "rover"]),
        (["rover", "--json"], ["rover", f"--json={SCREEN}"]),
        (["--json", "out.json", "rover"], ["--json", "out.json", "rover"]),
        (["--json", "-", "rover"], ["--json", "-", "rover"]),
        (["--json", "--set", "a=1"], [f"--json={SCREEN}", "--set", "a=1"]),
        (["--json=out.txt"], ["--json=out.txt"]),
    ],
)
def test_only_a_json_file_is_the_value_of_the_option(words, expected):
    assert with_json_target(words) == expected


def test_a_file_that_cannot_be_written_is_told(tmp_path, capsys):
    assert cli.main(["list", "--json", str(tmp_path / "none" / "a.json")]) == 2
    assert "--json" in capsys.readouterr().err
