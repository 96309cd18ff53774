"""The example of docs/identify.md runs as it stands."""

import re
from pathlib import Path

import yaml

from grouser.identification import reading

PAGE = (Path(__file__).parents[2] / "docs" / "identify.md").read_text(encoding="utf-8")
TASK, VALUES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_finds_what_was_hidden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lift.yaml").write_text(TASK)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/identify.md", "exec"), names)
    result, real = names["result"], names["real"]
    gain, modulus = result.estimates
    assert gain.lower < real.valves[0].gain < gain.upper
    assert modulus.lower < real.fluid.bulk_modulus < modulus.upper
    assert names["better"].valves[0].gain == gain.value
    assert all(result.same_optimum(number) for number in range(2))


def test_keys_of_the_page_are_those_of_the_reader():
    for heading, keys in (
        ("key", reading._KEYS),
        ("key of a parameter", reading._PARAMETER_KEYS),
        ("key of a file", [key for key in reading._FILE_KEYS if key != "values"]),
        ("key of a number", [*reading._NUMBER_KEYS, "sigma"]),
    ):
        (table,) = re.findall(rf"^\| {heading} \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
        named = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines()))
        assert sorted(named) == sorted(keys)
    assert set(yaml.safe_load(VALUES)) < set(reading._KEYS)
