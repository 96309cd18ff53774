"""Machines mutated at random: each loads, can be inspected and stepped, or is refused with a MachineError."""

import json
import re
from pathlib import Path

import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import grouser
from grouser.commands.inspection import machine_facts, report
from grouser.physics.base.errors import DivergenceError, MachineError
from grouser.physics.description.elements.hydraulics.circuit import circuit_lines, constant_pressures
from grouser.resources import share_path

DATA = Path(__file__).parents[1] / "data"

ATTRIBUTE = re.compile(r'\s[\w:]+="[^"]*"')
VALUE = re.compile(r'"[^"]*"')
NUMBER = re.compile(r"(?<=[\" ])-?[0-9][0-9.e-]*(?=[\" ])")
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"[A-Za-z_]+")
ELEMENT = re.compile(r"<(\w+)[^>]*?(?:/>|>[^<]*</\1>)")

NASTY_NUMBERS = [
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "-1e308",
    "1e-308",
    "1e999",
    "",
    "pi",
    "1 2",
    "0x1",
    "1e15",
    "1e16",
    "-inf",
    "1e-35",
    "-1e-35",
    "${x}",
    "1e9",
    "½",
]
NASTY_TEXTS = [
    "", "\x00", "\ufeff", "<", "&", "]]>", "<!--", "-->", "<![CDATA[", "<!DOCTYPE a [", "&#x0;", "&#65;", "&a;", '"',
    "<?xml version='1.1'?>", "<grouser>", "</grouser>", "</robot>", "\u202e", "<link name='l'/>", 'xmlns="x"',
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mutations")
    trimesh.creation.box().export(place / "tetrahedron.stl")
    return place


@pytest.fixture(scope="module")
def originals(folder):
    xacro = folder / "every_joint.urdf.xacro"
    xacro.write_text((DATA / "machines" / "every_joint.urdf.xacro").read_text())
    every_joint = grouser.load_machine(xacro).urdf
    rover = (DATA / "models" / "rover_cyl.urdf").read_text()
    robot = grouser.load_machine(share_path("urdf", "demolition_robot.urdf.xacro")).urdf
    return [every_joint, rover, robot]


def described_or_refused(path):
    """Loads and inspects the machine; None if it is refused."""
    try:
        machine = grouser.load_machine(path)
    except MachineError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
        return None
    facts = machine_facts(machine)
    json.dumps(facts, allow_nan=False)
    assert "\n".join(report(machine, facts))
    return machine


def is_fine_or_refused(path):
    machine = described_or_refused(path)
    if machine is None:
        return
    try:
        grouser.Simulation(machine).step(3)
    except (MachineError, DivergenceError) as error:
        assert "\n" not in str(error)


def spans(text):
    """Tokens of the text, by kind."""
    kind = st.sampled_from([ATTRIBUTE, VALUE, NUMBER, TAG, WORD, ELEMENT])
    found = kind.map(lambda pattern: [match.span() for match in pattern.finditer(text)])
    return found.filter(bool).flatmap(st.sampled_from)


def replacements(text, piece):
    """Replacements of a token: nothing, itself twice, another token of the text, or a hostile value."""
    return st.one_of(
        st.sampled_from(["", piece * 2]),
        st.sampled_from(NASTY_NUMBERS),
        st.sampled_from(NASTY_TEXTS),
        st.floats().map(repr),
        spans(text).map(lambda span: text[slice(*span)]),
        st.text(max_size=5),
    )


@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_mutated_machines_load_or_are_refused(folder, originals, data):
    text = data.draw(st.sampled_from(originals))
    for _ in range(data.draw(st.integers(1, 3))):
        start, end = data.draw(spans(text))
        text = text[:start] + data.draw(replacements(text, text[start:end])) + text[end:]
    path = folder / "mutated.urdf"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    is_fine_or_refused(path)


FIXED = re.compile(r'(<joint [^>]*type="fixed"[^>]*>)')
LIMIT = re.compile(r"<limit [^>]*/>")
VISUAL = re.compile(r"<visual>|(?=</link>)")
INERTIA = re.compile(r"<inertia [^>]*/>")
MESHES = ["nowhere.dae", "package://nowhere/a.stl", "package:///a", "file:///nowhere.stl", "model://a/b.dae", "a.step"]
SPECKS = ["1e-36", "-2.4e-35", "3e-19", "-1e-17"]
# Comments, and elements of grouser, which may need what is mended.
OWN = re.compile(r"<!--.*?-->|<grouser>.*?</grouser>", re.DOTALL)
UNLIMITED = ['lower="-inf" upper="inf"', 'lower="-1e16" upper="1e16"', 'lower="0" upper="inf"', 'lower="-1e300"']


@st.composite
def harmless_faults(draw, text):
    """The text with faults that other programs' files have and that change no motion; some of them several times."""
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from([FIXED, LIMIT, VISUAL, INERTIA]))
        found = list(kind.finditer(text))
        if not found:
            continue
        match = draw(st.sampled_from(found))
        if kind is FIXED:
            written = match[0] + f'<mimic joint="{draw(st.sampled_from(["nothing", "sweep"]))}" multiplier="-1"/>'
            written = match[0] if "<mimic" in text[match.end() : text.index("</joint>", match.end())] else written
        elif kind is LIMIT:
            efforts = ['effort="inf" velocity="inf"', 'effort="1e999"', ""]
            written = f"<limit {draw(st.sampled_from(UNLIMITED))} {draw(st.sampled_from(efforts))}/>"
        elif kind is VISUAL:
            mesh = f'<visual><geometry><mesh filename="{draw(st.sampled_from(MESHES))}"/></geometry></visual>'
            written = mesh + match[0]
        else:
            written = f'<inertia ixx="0" iyy="0" izz="0" ixz="{draw(st.sampled_from(SPECKS))}"/>'
        text = text[: match.start()] + written + text[match.end() :]
    return text


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_harmless_faults_are_told_and_load(folder, originals, data):
    plain = OWN.sub("", data.draw(st.sampled_from(originals)))
    text = data.draw(harmless_faults(plain))
    path = folder / "harmless.urdf"
    path.write_text(text)
    machine = grouser.load_machine(path)
    assert all("\n" not in warning for warning in machine.warnings)
    mimics = ['"nothing"', '"sweep"']
    for faults, told in ((MESHES, "is not shown"), (mimics, "cannot mimic"), (SPECKS, "taken as zero")):
        times = sum(told in warning for warning in machine.warnings)
        assert times == any(fault in text for fault in faults), told


@settings(deadline=None, max_examples=75)
@given(data=st.data())
def test_mutated_numbers_load_or_are_refused(folder, originals, data):
    """Mutates numbers only: the files stay well-formed, and all checks run."""
    text = data.draw(st.sampled_from(originals))
    for _ in range(data.draw(st.integers(1, 5))):
        found = [match.span() for match in NUMBER.finditer(text)]
        start, end = data.draw(st.sampled_from(found))
        number = data.draw(st.sampled_from(NASTY_NUMBERS) | st.floats(allow_nan=False, allow_infinity=False).map(repr))
        text = text[:start] + number + text[end:]
    path = folder / "mutated.urdf"
    path.write_text(text, encoding="utf-8")
    is_fine_or_refused(path)


@pytest.mark.parametrize("name", ["loops_and_springs", "wheels"])
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_mutated_loops_springs_and_wheels_load_or_are_refused(folder, name, data):
    text = (DATA / "machines" / f"{name}.urdf").read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        start, end = data.draw(spans(text))
        text = text[:start] + data.draw(replacements(text, text[start:end])) + text[end:]
    path = folder / "mutated.urdf"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    described_or_refused(path)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_mutated_circuits_load_or_are_refused(folder, data):
    text = (DATA / "machines" / "load_sensing.urdf").read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        start, end = data.draw(spans(text))
        text = text[:start] + data.draw(replacements(text, text[start:end])) + text[end:]
    path = folder / "mutated.urdf"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        machine = grouser.load_machine(path)
    except MachineError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
    else:
        assert set(constant_pressures(machine)) <= set(circuit_lines(machine))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_damaged_bytes_load_or_are_refused(folder, originals, data):
    raw = bytearray(data.draw(st.sampled_from(originals)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=4))
    path = folder / "mutated.urdf"
    path.write_bytes(raw)
    is_fine_or_refused(path)


def test_unmutated_machines_load(folder, originals):
    for text in originals:
        path = folder / "original.urdf"
        path.write_text(text)
        assert grouser.load_machine(path).joints
