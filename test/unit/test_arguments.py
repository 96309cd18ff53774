"""Arguments of the commands: their errors, `grouser list`, and completion."""

import json
import shutil
import subprocess

import pytest

from grouser import cli
from grouser.arguments import Parser
from grouser.commands.completion import next_words

COMMANDS = {name: module for name, (module, _) in cli.COMMANDS.items()}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["inspect", "four_bar", "--jsn"], "--jsn is not known here: did you mean --json?"),
        (["map", "flat", "--resolution", "fine"], "--resolution = 'fine' is not valid: a number"),
        (["map"], "world is missing"),
        (["map", "flat", "--margin"], "--margin needs one value"),
        (["list", "machine"], "kind = machine is not valid: one of machines, worlds"),
        (["list", "wolrds"], "did you mean worlds?"),
        (["reprodce"], "did you mean reproduce?"),
    ],
)
def test_errors_of_arguments_are_one_line_with_the_remedy(arguments, told, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    text = capsys.readouterr().err
    assert ended.value.code == 2
    assert told in text and text.count("\n") == 1 and "--help" in text


def test_other_errors_keep_their_words(capsys):
    with pytest.raises(SystemExit):
        Parser(prog="thing").error("say it otherwise")
    assert capsys.readouterr().err == "thing: say it otherwise; 'thing --help' describes all\n"


def test_what_comes_with_grouser_is_listed(capsys):
    assert cli.main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"excavator", "rover"} <= set(found["machines"]) and "sand" in found["worlds"]
    assert "dry_sand" in found["soils"] and "wheel_stress" in found["experiments"] and "tank" in found["patterns"]
    assert cli.main(["list", "worlds"]) == 0
    assert capsys.readouterr().out.split() == found["worlds"]


@pytest.mark.parametrize(
    ("words", "begun", "expected"),
    [
        ([], "", {"run", "inspect", "--version"}),
        (["inspect"], "", {"excavator"}),
        (["inspect"], "--", {"--json", "--hydraulics"}),
        (["run", "--world"], "", {"sand"}),
        (["run", "--no-view", "--machine"], "", {"rover"}),
        (["reproduce"], "w", {"wheel_stress"}),
        (["list"], "", {"machines"}),
    ],
)
def test_words_that_may_come_next(words, begun, expected):
    assert expected <= set(next_words(words, begun, COMMANDS))


def test_nothing_comes_after_what_is_not_known():
    assert next_words(["frobnicate"], "--", COMMANDS) == []
    assert next_words(["inspect", "rover"], "", COMMANDS) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_script_of_completion_is_valid_bash(capsys):
    assert cli.main(["completion"]) == 0
    subprocess.run(["bash", "-n"], input=capsys.readouterr().out, text=True, check=True)


def test_files_are_not_overwritten_unasked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["map", "obstacles", "--resolution", "0.5"]) == 0
    assert "map written to obstacles.yaml and obstacles.pgm" in capsys.readouterr().out
    before = (tmp_path / "obstacles.pgm").read_bytes()
    assert cli.main(["map", "obstacles", "--resolution", "0.25"]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
    assert (tmp_path / "obstacles.pgm").read_bytes() == before
    assert cli.main(["map", "obstacles", "--resolution", "0.25", "--overwrite"]) == 0
    (tmp_path / "bode.png").write_bytes(b"")
    assert cli.main(["bode", "servo_fin", "--plot", "bode.png"]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
