"""Mappings with any part replaced by something else: each is read, or refused with file, line and remedy."""

from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
import yaml

from grouser.bridges.mapping import reader
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.physics.base.errors import MachineError

FOLDER = Path(__file__).resolve().parent.parent.parent / "config" / "bridges"
NAMES = ("excavator_j1939", "excavator_ecu", "excavator_udp", "levelling_modbus", "levelling_opcua", "grips_j1939")
OTHERS = (
    *("null", "[]", "{}", "[[]]", "{a: {b: c}}", "text", '""', "true", ".nan", "-.inf", "-1", "0", "1e400", "1e-320"),
    *("99999999999999999999999999", "0x", "'\\0'", "!!binary aGk=", "!!python/object/apply:os.getcwd []", "2026-11-27"),
)


@pytest.fixture
def machines_once(monkeypatch):
    """Machines are read from their files once."""
    monkeypatch.setattr(reader, "load_machine", cache(reader.load_machine))


def places(node, path=()):
    """Nodes below one with the keys that lead to them; one of each path, and of the entries of each list."""
    found = {path: node}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            found.setdefault((*path, key.value, "its key"), key)
            for longer, deeper in places(value, (*path, key.value)).items():
                found.setdefault(longer, deeper)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            for longer, deeper in places(value, (*path, "entry")).items():
                found.setdefault(longer, deeper)
    return found


def mutations(text):
    """The text with one of its nodes replaced: a key by a list, another one by something that goes round."""
    others = cycle(OTHERS)
    for path, node in places(yaml.compose(text)).items():
        start, end = node.start_mark.index, node.end_mark.index
        other = "[]" if path[-1:] == ("its key",) else next(others)
        yield text[:start] + other + "\n" * text[start:end].endswith("\n") + text[end:]


@pytest.mark.parametrize("name", NAMES)
def test_a_mapping_with_one_part_replaced_is_read_or_refused(machines_once, tmp_path, name):
    for other in FOLDER.iterdir():
        if other.suffix != ".yaml":
            (tmp_path / other.name).write_bytes(other.read_bytes())
    path = tmp_path / "mapping.yaml"
    refused = 0
    for text in mutations((FOLDER / f"{name}.yaml").read_text()):
        path.write_text(text)
        try:
            load_bridge_mapping(path)
        except MachineError as error:
            refused += 1
            assert Path(error.file or "").name == "mapping.yaml", text
    assert refused > 25
