"""The drawing of a circuit, by its own geometry: labels beside each other, lines with few crossings, symbols."""

import itertools
import json
import re
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from shipped import shipped_machine

import grouser
from grouser.circuit_drawing import circuit_svg, placing
from grouser.circuit_drawing.labels import ELEMENT_VALUE, LINE_VALUE
from grouser.physics.description import parse_machine
from grouser.physics.description.elements.hydraulics.circuit import PORTS, circuit_tanks, flow_ports, named_lines

LOAD_SENSING = Path(__file__).parents[1] / "data" / "machines" / "load_sensing.urdf"
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"(-?[\d.]+)"


def circuit(hydraulics, name="bench"):
    return parse_machine(
        f"""<robot name="{name}"><link name="world"/><link name="load"><inertial><mass value="9"/>
        <inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="lift" type="continuous"><parent link="world"/>
        <child link="load"/><axis xyz="0 0 1"/></joint><grouser><fluid/>{hydraulics}</grouser></robot>""",
        "bench.urdf",
    )


def functions(count, load_sensing=True, pumps=1, name="function {} of the machine"):
    """Motors with their valves; with load sensing also compensators and a chain of shuttle valves."""
    text = ""
    for number in range(pumps):
        text += f'<relief_valve name="relief{number}" inlet="p{number}" pressure="2e7" rated_flow="1e-3"/>'
        control = (
            ""
            if number or not load_sensing
            else f' control="load_sensing" sense="to{count - 1}" setting="2e7" margin="2e6"'
        )
        text += f'<pump name="pump{number}" outlet="p{number}" displacement="1e-5" speed="150"{control}/>'
    for number in range(count):
        title, supply, sense = name.format(number), f"p{number % pumps}", ""
        if load_sensing:
            sense = f' sense="ls{number}"' if number else ' sense="to0"'
            load = sense.split('"')[1]
            text += f"""<compensator name="{title} compensator" inlet="{supply}" outlet="c{number}" load="{load}"
                margin="1e6" rated_flow="1e-3"/>"""
            supply = f"c{number}"
            if number:
                text += f'<shuttle_valve name="s{number}" a="to{number - 1}" b="{load}" outlet="to{number}"/>'
        text += f"""<directional_valve name="{title}" supply="{supply}"{sense} rated_flow="1e-3"/>
            <hydraulic_motor name="{title} motor" joint="lift" a="{title}.a" b="{title}.b" displacement="1e-5"
            dead_volume="1e-4"/>"""
    return circuit(text)


SHIPPED = ("demolition_robot", "excavator", "hydraulic_lift", "loader_crane")
MACHINES = {name: partial(shipped_machine, name) for name in SHIPPED} | {
    "load_sensing": partial(grouser.load_machine, LOAD_SENSING),
    "without load sensing": partial(functions, 3, load_sensing=False),
    "three pumps": partial(functions, 6, load_sensing=False, pumps=3),
    "many functions": partial(functions, 12),
    "long names": partial(functions, 3, name="the_left_one_of_both_rear_outriggers_{}_" + 30 * "m"),
    "other letters": partial(functions, 2, name="ЭКСКАВАТОР 掘削機 &lt;{}&gt; &amp;"),
}


LIVE = ("excavator", "hydraulic_lift", "load_sensing", "three pumps", "long names")


@pytest.fixture(scope="module")
def machines():
    return {name: make() for name, make in MACHINES.items()}


@pytest.fixture(scope="module")
def drawings(machines):
    return {name: ElementTree.fromstring(circuit_svg(machine)) for name, machine in machines.items()}


@pytest.fixture(scope="module")
def live_drawings(machines):
    """As a page shows them, with the widest values."""
    roots = {name: ElementTree.fromstring(circuit_svg(machines[name], live=True)) for name in LIVE}
    for root in roots.values():
        for kind, value in (("line", LINE_VALUE), ("element", ELEMENT_VALUE)):
            for group in groups(root, kind).values():
                for text in group.findall(f"{SVG}text[@class='value']"):
                    text.text = value
    return roots


def groups(root, kind):
    return {g.get("id").partition("-")[2]: g for g in root.iter(f"{SVG}g") if g.get("id", "").startswith(f"{kind}-")}


def segments(root):
    """Straight parts of each line: x0, y0, x1, y1 in order."""
    found = defaultdict(list)
    for name, group in groups(root, "line").items():
        for path in group.findall(f"{SVG}path"):
            for part in re.findall(f"M{NUMBER} {NUMBER}L{NUMBER} {NUMBER}", path.get("d")):
                x0, y0, x1, y1 = map(float, part)
                found[name].append((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
    return found


def crossings(root):
    """Points where one line crosses another one."""
    points = set()
    for (one, its), (other, others) in itertools.combinations(segments(root).items(), 2):
        for a, b in itertools.chain(itertools.product(its, others), itertools.product(others, its)):
            if a[0] == a[2] and b[1] == b[3] and b[0] < a[0] < b[2] and a[1] < b[1] < a[3]:
                points.add((one, other, a[0], b[1]))
    return points


@cache
def width_of(words, weight):
    """Of a text of size 1, in a font that is wider than most."""
    return TextPath((0, 0), words, size=1.0, prop=FontProperties(family="DejaVu Sans", weight=weight)).get_extents().x1


def boxes(root):
    """Rectangles of all texts, and their words."""

    def add(text, x, y):
        size = float(text.get("font-size"))
        width = size * width_of(text.text, text.get("font-weight", "normal"))
        x, y = x + float(text.get("x")), y + float(text.get("y"))
        start = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor")]
        if text.get("transform"):
            return (x - 0.75 * size, y - width, x, y)
        return (start, y - 0.75 * size, start + width, y)

    for text, moved in [(t, (0.0, 0.0)) for g in groups(root, "line").values() for t in g.findall(f"{SVG}text")] + [
        (t, tuple(map(float, re.findall(NUMBER, g.get("transform")))))
        for g in groups(root, "element").values()
        for t in g.findall(f"{SVG}text")
    ]:
        yield text.text, add(text, *moved)


def overlaps(some, others):
    """Pairs of rectangles that share more than a side, as a matrix."""
    a, b = (np.array(list(boxes), dtype=float).reshape(-1, 4) for boxes in (some, others))
    a, b = a[:, None], b[None]
    return (a[..., :2] < b[..., 2:]).all(-1) & (b[..., :2] < a[..., 2:]).all(-1)


@pytest.mark.parametrize("name", MACHINES)
def test_every_element_and_line_has_a_group_and_its_name(machines, drawings, name):
    machine, root = machines[name], drawings[name]
    elements = {element.name for field in PORTS for element in getattr(machine, field)}
    tanks = {tank.name for tank in circuit_tanks(machine)}
    lines = {line for field in PORTS for each in getattr(machine, field) for _, line in named_lines(field, each)}
    assert set(groups(root, "element")) == elements
    # A line with one port ends there and is not drawn.
    assert set(groups(root, "line")) <= lines - tanks
    words = [words for words, _ in boxes(root)]
    assert elements <= set(words)
    named = {line for line, group in groups(root, "line").items() if group.find(f"{SVG}text") is not None}
    # A name that is longer than the room beside its line is left to the pointer.
    assert named == set(groups(root, "line")) or name == "long names"
    assert all(group.find(f"{SVG}title").text == line for line, group in groups(root, "line").items())


@pytest.mark.parametrize(("name", "live"), [*((name, False) for name in MACHINES), *((name, True) for name in LIVE)])
def test_no_text_is_on_another_text_or_on_a_line(drawings, live_drawings, name, live):
    root = (live_drawings if live else drawings)[name]
    words, rectangles = zip(*boxes(root), strict=True)
    twice = overlaps(rectangles, rectangles) & ~np.eye(len(words), dtype=bool)
    assert not twice.any(), [(words[a], words[b]) for a, b in np.argwhere(twice)]
    for line, parts in segments(root).items():
        covered = overlaps(rectangles, parts).any(1)
        assert not covered.any(), (line, [words[number] for number in np.flatnonzero(covered)])


@pytest.mark.parametrize("name", LIVE)
def test_lines_of_a_live_drawing_have_their_values_and_flows(machines, live_drawings, name):
    """A part of a line has the ports beyond it: from all ports of a line, each part divides them in two."""
    root, machine = live_drawings[name], machines[name]
    ports = {line: {port.name for port in flow_ports(machine) if port.line == line} for line in groups(root, "line")}
    valued = {
        line for line, group in groups(root, "line").items() if group.find(f"{SVG}text[@class='value']") is not None
    }
    # the stub before a check valve is shorter than its values
    assert set(groups(root, "line")) - valued <= {"boom.a"}
    for line, group in groups(root, "line").items():
        beyond = [set(json.loads(path.get("data-ports"))) for path in group.findall(f"{SVG}path[@class='flow']")]
        ends = [each & ports[line] for each in beyond]
        for port in ports[line]:
            assert {port} in ends or ports[line] - {port} in ends, "a branch to each port"


@pytest.mark.parametrize("name", MACHINES)
def test_no_line_is_on_another_line(drawings, name):
    for (one, its), (other, others) in itertools.combinations(segments(drawings[name]).items(), 2):
        for a, b in itertools.product(its, others):
            flat = a[1] == a[3] == b[1] == b[3] and a[0] < b[2] and b[0] < a[2]
            steep = a[0] == a[2] == b[0] == b[2] and a[1] < b[3] and b[1] < a[3]
            assert not flat and not steep, (one, other, a, b)


# The pump's line and the chain of shuttle valves both reach every function, and lines to a cylinder pass the valves on
# them. The counts are those of the drawings that were looked at: more means that the layout is worse.
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("excavator", 11),
        ("demolition_robot", 18),
        ("load_sensing", 10),
        ("hydraulic_lift", 0),
        ("loader_crane", 0),
        ("without load sensing", 0),
    ],
)
def test_lines_cross_no_more_than_in_the_accepted_drawings(drawings, name, most):
    assert len(crossings(drawings[name])) <= most


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_chain_of_load_sensing_functions_crosses_once_a_function(count):
    """The line of the pump and the chain pass each other once for every function but the first."""
    assert len(crossings(ElementTree.fromstring(circuit_svg(functions(count))))) <= count


def test_no_order_of_the_rows_has_fewer_crossings(monkeypatch):
    """Two functions: every order of every row is tried."""
    machine = functions(2)
    least = len(crossings(ElementTree.fromstring(circuit_svg(machine))))
    orders = []

    def count_orders(rows):
        orders.append([len(row) for row in rows])

    monkeypatch.setattr(placing, "_order", count_orders)
    circuit_svg(machine)
    found = []
    for order in itertools.product(*(itertools.permutations(range(length)) for length in orders[0])):

        def fix(rows, order=order):
            for row, places in zip(rows, order, strict=True):
                row[:] = [row[place] for place in places]

        monkeypatch.setattr(placing, "exchange", lambda rows, reach: None)
        monkeypatch.setattr(placing, "_order", fix)
        found.append(len(crossings(ElementTree.fromstring(circuit_svg(machine)))))
    assert len(set(found)) > 1
    assert least == min(found)
