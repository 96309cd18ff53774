"""docs/ros_interface.md equals the page generated from the nodes, and every parameter has a description."""

import math
import re

import pytest

from grouser import catalogue
from grouser.docs_pages import ros_interface as interface_docs
from grouser.docs_pages.ros_interface import (
    ARGUMENTS,
    MEANINGS,
    WORLDS,
    interface_page,
    machine_names,
    node_classes,
    simulator_offers,
)
from grouser.nodes.simulator.parameters import DECLARATIONS
from grouser.physics.description import load_machine, load_world
from grouser.resources import share_path

REMEDY = "run: python -m grouser.docs_pages.ros_interface > docs/ros_interface.md"


@pytest.fixture(scope="module")
def page() -> str:
    return interface_page()


@pytest.mark.slow
def test_page_equals_the_generated_one(page):
    assert share_path("docs", "ros_interface.md").read_text(encoding="utf-8") == page, REMEDY


def test_page_lists_every_executable(page):
    programs = set(re.findall(r'"(\w+) = grouser\.cli:\w+"', share_path("setup.py").read_text())) - {
        "grouser",
        "composed",
    }
    assert {name for name, _, _ in node_classes()} == programs
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == programs


def test_every_topic_has_a_meaning_and_a_rate(page):
    named = set(re.findall(r"^\| `([^`]+)` \| \w+/(?:msg|action)/", page, re.MULTILINE))
    assert named <= set(MEANINGS)
    rates = {meaning.rate for meaning in MEANINGS.values() if meaning.rate}
    assert rates == {name for name in DECLARATIONS if name.endswith("_rate")}


@pytest.mark.parametrize("machine", machine_names())
def test_topics_of_a_machine_fulfil_the_conditions_on_the_page(machine, page):
    described = load_machine(catalogue.machine_file(machine), ARGUMENTS.get(machine))
    explained = {name for _, name in interface_docs.simulator_offers("rover", WORLDS[0])}
    explained |= {name for name, meaning in MEANINGS.items() if meaning.given is not interface_docs.ALWAYS}
    for name in WORLDS:
        world = load_world(catalogue.world_file(name))
        offered = {topic for _, topic in simulator_offers(machine, name)}
        assert offered == {topic for topic in explained if MEANINGS[topic].given.holds(described, world)}


@pytest.mark.parametrize(("name", "declarations"), [(name, declared) for name, _, declared in node_classes()])
def test_every_parameter_is_described_and_bounded(name, declarations):
    for parameter, one in declarations.items():
        assert re.match(r"[A-Z].*\.$", one.description), f"{name}: {parameter}"
        entry = one.default[0] if isinstance(one.default, tuple) else one.default
        if isinstance(entry, float):
            assert re.search(r"\[[^\]]+\]", one.description), f"{name}: {parameter} has no unit"
        if isinstance(one.default, int | float) and not isinstance(one.default, bool):
            assert math.isfinite(one.lowest) and math.isfinite(one.highest), f"{name}: {parameter} has no range"
