"""Hydraulic circuits: reading of elements, their lines, and errors."""

import dataclasses
import math
import re
from pathlib import Path

import pytest

import grouser
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description import parse_machine
from grouser.physics.description.data.hydraulics import Pump, Tank
from grouser.physics.description.elements.hydraulics.circuit import (
    PORTS,
    circuit_lines,
    circuit_tanks,
    constant_pressures,
    feeding_valve,
)
from grouser.physics.description.elements.hydraulics.pumps import PUMP_DEFAULTS
from grouser.physics.description.elements.hydraulics.table import HYDRAULIC_ELEMENTS
from grouser.physics.description.table.attributes import Kind

MACHINE = Path(__file__).parents[1] / "data" / "machines" / "load_sensing.urdf"

# The <grouser> element starts in line 7, its content in line 8.
ROBOT = """<robot name="r">
<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="100"/></joint>
<link name="ball"/><joint name="free" type="floating"><parent link="base"/><child link="ball"/></joint>
<grouser>
{}
</grouser></robot>
"""
OIL = "<fluid/>"
SUPPLY = '<pump supply_pressure="1e7"/>'
PUMP = '<pump displacement="1e-5" speed="200"/>'
CONTROLLED = '<pump displacement="1e-5" speed="200" control="pressure" setting="1e7"/>'
RELIEF = '<relief_valve name="relief" inlet="supply" pressure="1e7" rated_flow="1e-3"/>'
VALVE = '<directional_valve name="v" spool_diameter="0.006" spool_travel="2e-4"/>'


def cylinder(name="c", feed='valve="v"', more=""):
    volumes = 'dead_volume_piston_side="1e-4" dead_volume_rod_side="1e-4"'
    if "valve" not in feed and "rod_side" not in feed:
        volumes = 'dead_volume_piston_side="1e-4"'
    return (
        f'<cylinder name="{name}" {feed} bore="0.04" rod_diameter="0.02" stroke="0.5" retracted_length="0.9" '
        f'piston_mass="3" {volumes} {more}><barrel link="base" xyz="1 0 0"/><rod link="arm" xyz="1 0 1"/></cylinder>'
    )


def motor(a="v.a", b="v.b", joint="hinge"):
    return f'<hydraulic_motor name="m" joint="{joint}" a="{a}" b="{b}" displacement="1e-4" dead_volume="1e-4"/>'


def check_valve(inlet, outlet, more=""):
    return f'<check_valve name="check" inlet="{inlet}" outlet="{outlet}" rated_flow="1e-3" {more}/>'


def counterbalance(load, valve):
    return (
        f'<counterbalance_valve name="hold" load="{load}" valve="{valve}" pilot="v.b" pressure="1e7" rated_flow="1"/>'
    )


def reducing(inlet, outlet):
    return f'<reducing_valve name="low" inlet="{inlet}" outlet="{outlet}" pressure="3e6" rated_flow="1e-4"/>'


WORKING = OIL + SUPPLY + VALVE + cylinder()
RATED = '<directional_valve name="v" rated_flow="1e-3"/>'
NO_DEAD_VOLUME = OIL + SUPPLY + VALVE + cylinder().replace('"1e-4"', '"0"')
FILLED = '<line name="{}" volume="1e-5"/>'


def of_valve(text, more):
    return text.replace("/>", f" {more}/>")


def load(tmp_path, content):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT.format(content))
    return grouser.load_machine(path)


def written(tmp_path, extension):
    """The only valve and the only cylinder of an extension."""
    machine = load(tmp_path, extension)
    return machine.valves[0], machine.cylinders[0]


def refusal(tmp_path, content):
    with pytest.raises(MachineError) as caught:
        load(tmp_path, content)
    assert caught.value.file == str(tmp_path / "robot.urdf")
    assert caught.value.element is not None
    return caught.value


def test_circuit_of_a_valve_and_a_cylinder(tmp_path):
    machine = load(tmp_path, WORKING)
    assert circuit_lines(machine) == ("tank", "supply", "v.a", "v.b")
    assert constant_pressures(machine) == {"tank": 1e5, "supply": 1e7}
    assert circuit_tanks(machine) == (Tank("tank", 1e5),)
    (piston,) = machine.cylinders
    assert (piston.valve, piston.piston_side, piston.rod_side) == ("v", "v.a", "v.b")
    assert machine.pumps == (Pump("pump", 1e7, 1e5),)


def test_machine_without_hydraulics_has_no_lines(tmp_path):
    machine = load(tmp_path, "")
    assert circuit_lines(machine) == ()
    assert circuit_tanks(machine) == ()


def test_all_hydraulic_elements_are_read():
    machine = grouser.load_machine(MACHINE)
    assert constant_pressures(machine) == {"tank": 1.2e5}
    assert circuit_lines(machine) == (
        *("tank", "gallery", "jack.b", "ls", "charge", "boom.p", "return", "boom.a", "boom.b", "boom.ls", "jack.p"),
        *("jack.a", "jack.ls", "swing.p", "swing.a", "swing.b", "swing.ls", "swing.left", "swing.right"),
        *("jack.piston", "pilot", "boom.piston", "arms.ls"),
    )
    for field in PORTS:
        assert getattr(machine, field), field
    main, charge = machine.pumps
    assert (main.control, main.sense, main.inlet, main.setting, main.power_limit) == (
        "load_sensing",
        "ls",
        "tank",
        21e6,
        15e3,
    )
    assert main.regulation_range == PUMP_DEFAULTS["regulation_range"]
    assert (charge.control, charge.leakage, charge.torque_loss) == ("fixed", 0.0, 0.0)
    assert charge.setting is charge.margin is charge.response_time is charge.minimum_stroke is None
    boom = machine.valves[0]
    assert (boom.supply_a_overlap, boom.supply_b_overlap) == (0.1, 0.1)
    assert (boom.tank_a_underlap, boom.tank_b_underlap) == (0.0, -0.1)
    left, right, jack = machine.cylinders
    assert (left.static_friction, right.static_friction) == (300.0, 0.0)
    assert (jack.rod_side, jack.dead_volume_rod_side) == ("", 0.0)
    assert machine.hoses[0].expansion == 1e9
    laminar, turbulent = machine.orifices
    assert (laminar.diameter, turbulent.resistance) == (None, None)


def test_directional_valve_size_by_spool_or_rated_flow(tmp_path):
    spool, _ = written(tmp_path, WORKING)
    assert (spool.spool_diameter, spool.spool_travel, spool.rated_flow) == (0.006, 2e-4, None)
    rated, _ = written(tmp_path, OIL + SUPPLY + RATED + cylinder())
    assert (rated.spool_diameter, rated.spool_travel, rated.rated_flow, rated.rated_drop) == (None, None, 1e-3, 35e5)
    assert (rated.transition_drop, rated.transition, rated.time_constant) == (1e3, "smooth", None)
    more = 'rated_drop="5e5" transition_drop="2e5" transition="linear" time_constant="0.02"'
    rated, _ = written(tmp_path, OIL + SUPPLY + of_valve(RATED, more) + cylinder())
    assert (rated.rated_drop, rated.transition_drop, rated.transition, rated.time_constant) == (
        5e5,
        2e5,
        "linear",
        0.02,
    )


def test_cylinder_barrel_modulus_and_buffers(tmp_path):
    _, piston = written(tmp_path, WORKING)
    assert (piston.barrel_modulus, piston.buffer_length) == (math.inf, 0.0)
    more = 'barrel_modulus="2e9" buffer_length="0.25" buffer_stiffness="1e7" buffer_damping="2e4"'
    _, piston = written(tmp_path, OIL + SUPPLY + VALVE + cylinder(more=more))
    assert (piston.barrel_modulus, piston.buffer_length) == (2e9, 0.25)
    assert (piston.buffer_stiffness, piston.buffer_damping) == (1e7, 2e4)


def test_line_expansion_and_start_pressure(tmp_path):
    plain = FILLED.format("v.a")
    (line,) = load(tmp_path, WORKING + plain).lines
    assert (line.volume, line.expansion, line.start_pressure) == (1e-5, math.inf, None)
    (line,) = load(tmp_path, WORKING + plain.replace("volume", 'expansion="3e9" start_pressure="2e6" volume')).lines
    assert (line.volume, line.expansion, line.start_pressure) == (1e-5, 3e9, 2e6)


def test_massless_piston_is_refused_by_the_split_scheme(tmp_path):
    load(tmp_path, WORKING.replace('piston_mass="3"', 'piston_mass="0"'))
    path = tmp_path / "robot.urdf"
    path.write_text(path.read_text().replace('"floating"', '"fixed"'))
    machine = grouser.load_machine(path)
    assert machine.cylinders[0].piston_mass == 0.0
    with pytest.raises(ParameterError, match="'c' has no piston_mass") as caught:
        grouser.Simulation(machine, scheme="split")
    assert caught.value.name == "scheme"
    grouser.Simulation(machine, scheme="implicit")


@pytest.mark.parametrize("kind", HYDRAULIC_ELEMENTS, ids=lambda kind: kind.tag)
def test_defaults_of_dataclasses_equal_those_of_the_table(kind):
    fields = {field.name: field for field in dataclasses.fields(kind.build)}
    for attribute in kind.attributes:
        default = fields[attribute.name].default
        if default is not dataclasses.MISSING:
            assert default == attribute.default, attribute.name
            assert not attribute.required


def test_feeding_valve_is_found_through_series_elements():
    machine = grouser.load_machine(MACHINE)
    valves = {
        cylinder.name: feeding_valve(machine, [cylinder.piston_side, cylinder.rod_side])
        for cylinder in machine.cylinders
    }
    assert valves == {"boom_left": "boom", "boom_right": "boom", "jack": "jack"}
    assert feeding_valve(machine, ["swing.left", "swing.right"]) == "swing"
    assert feeding_valve(machine, ["pilot"]) is None
    assert feeding_valve(machine, ["gallery", "tank", ""]) is None


def test_feeding_valve_is_the_nearest_of_several(tmp_path):
    """Valve `u` also reaches the cylinder's line, through an orifice, as for a float position."""
    machine = load(
        tmp_path,
        OIL
        + SUPPLY
        + VALVE.replace('"v"', '"u"')
        + VALVE
        + '<line name="u.b" volume="1e-5"/><orifice name="o" inlet="u.a" outlet="v.a" diameter="1e-3"/>'
        + cylinder(),
    )
    assert feeding_valve(machine, ["v.a", "v.b"]) == "v"
    assert feeding_valve(machine, ["u.a"]) == "u"


WORKS = {
    "parallel cylinders on one valve": WORKING + cylinder("d"),
    "single-acting cylinder, other port closed off": OIL
    + SUPPLY
    + VALVE
    + cylinder(feed='piston_side="v.a"')
    + '<line name="v.b" volume="1e-5"/>',
    "plunger with both sides on one line": OIL
    + SUPPLY
    + VALVE
    + cylinder(feed='piston_side="v.a" rod_side="v.a"')
    + '<line name="v.b" volume="1e-5"/>',
    "motor": OIL + SUPPLY + VALVE + motor(),
    "motors in series": OIL + SUPPLY + VALVE + motor(b="between") + motor("between").replace('"m"', '"n"'),
    "fixed pump with relief valve": OIL + PUMP + RELIEF + VALVE + cylinder(),
    "fixed pump with relief valve behind a check valve": OIL
    + PUMP.replace("displacement", 'outlet="p" displacement')
    + check_valve("p", "supply")
    + RELIEF
    + VALVE
    + cylinder(),
    "fixed pump with a bleed": OIL
    + PUMP
    + '<orifice name="bleed" inlet="tank" outlet="supply" diameter="2e-3"/>'
    + VALVE
    + cylinder(),
    "controlled pump without relief valve": OIL + CONTROLLED + VALVE + cylinder(),
    "least stroke that leaks away": OIL
    + CONTROLLED.replace("setting", 'minimum_stroke="0.02" leakage="5e-12" setting')
    + VALVE
    + cylinder(),
    "two pumps with one relief valve": OIL
    + PUMP
    + PUMP.replace("<pump", '<pump name="q"')
    + RELIEF
    + VALVE
    + cylinder(),
    "closed circuit": OIL
    + '<pump name="travel" inlet="low" outlet="high" displacement="1e-5" speed="200"/>'
    + motor("high", "low")
    + '<pump name="charge" outlet="charge" supply_pressure="2e6"/>'
    + check_valve("charge", "low")
    + check_valve("charge", "high").replace('"check"', '"other"')
    + '<relief_valve name="cross" inlet="high" outlet="low" pressure="2e7" rated_flow="1e-3"/>'
    + '<relief_valve name="back" inlet="low" outlet="high" pressure="2e7" rated_flow="1e-3"/>',
    "hydropneumatic spring": OIL
    + cylinder(feed='piston_side="strut"')
    + '<orifice name="damper" inlet="strut" outlet="gas" diameter="2e-3"/>'
    + '<accumulator name="gas" port="gas" volume="1e-3" precharge="2e6"/>',
    "tank of another name": OIL
    + '<tank name="reservoir"/>'
    + SUPPLY
    + VALVE.replace("spool_d", 'tank="reservoir" spool_d')
    + cylinder(),
    "return over a hose": OIL
    + '<tank name="reservoir"/><hose name="h" inlet="tank" outlet="reservoir" length="1" diameter="0.02"/>'
    + SUPPLY
    + VALVE
    + cylinder(),
    "no dead volume beside lines with oil": NO_DEAD_VOLUME + FILLED.format("v.a") + FILLED.format("v.b"),
    "no dead volume behind a hose": OIL
    + SUPPLY
    + VALVE
    + '<hose name="h" inlet="v.a" outlet="load" length="1" diameter="0.01"/>'
    + cylinder(feed='piston_side="load"').replace('"1e-4"', '"0"')
    + FILLED.format("v.b"),
    "no dead volume on a supply": OIL + SUPPLY + cylinder(feed='piston_side="supply"').replace('"1e-4"', '"0"'),
    "buffers of a damper alone": OIL + SUPPLY + VALVE + cylinder(more='buffer_length="0.01" buffer_damping="1"'),
    "start just above the vapour pressure": '<fluid vapour_pressure="100"/>'
    + SUPPLY
    + VALVE
    + cylinder()
    + FILLED.format("v.a").replace("volume", 'start_pressure="101" volume'),
    "counterbalance valve": OIL
    + SUPPLY
    + VALVE
    + counterbalance("load", "v.a")
    + cylinder(feed='piston_side="load" rod_side="v.b"'),
}


@pytest.mark.parametrize("name", WORKS)
def test_valid_circuits_load(tmp_path, name):
    assert circuit_lines(load(tmp_path, WORKS[name]))


# Content of <grouser> (which starts in line 8), the line of the error, words of the message.
BAD = {
    "neither supply nor displacement": ('<pump name="p"/>', 8, ["'supply_pressure' is missing", "displacement"]),
    "supply and displacement": (
        '<pump supply_pressure="1e7" displacement="1e-5"/>',
        8,
        ["supply_pressure = 1e+07 Pa and displacement = 1e-05 m3/rad"],
    ),
    "speed of a supply": ('<pump supply_pressure="1e7" speed="3"/>', 8, ["speed does not apply to a supply"]),
    "setting of a fixed pump": (
        '<pump displacement="1e-5" speed="3" setting="1e7"/>',
        8,
        ["setting does not apply to", 'control="fixed"'],
    ),
    "sense of a pressure control": (
        CONTROLLED.replace("setting", 'sense="ls" setting'),
        8,
        ["sense does not apply to", 'control="pressure"'],
    ),
    "no speed": ('<pump displacement="1e-5"/>', 8, ["'speed' is missing"]),
    "no setting": ('<pump displacement="1e-5" speed="3" control="pressure"/>', 8, ["'setting' is missing"]),
    "no sense": (CONTROLLED.replace('"pressure"', '"load_sensing"'), 8, ["'sense' is missing"]),
    "unknown control": (PUMP.replace("speed", 'control="press" speed'), 8, ["did you mean 'pressure'?"]),
    "margin above the setting": (
        '<pump displacement="1e-5" speed="3" control="load_sensing" sense="ls" setting="1e6"/>',
        8,
        ["margin = 2e+06 Pa is not below setting = 1e+06 Pa"],
    ),
    "oil that boils first": (
        '<fluid vapour_pressure="4e4"/>',
        8,
        ["vapour_pressure = 40000 Pa", "saturation_pressure = 30000 Pa"],
    ),
    "tank that boils": (
        '<fluid vapour_pressure="100"/>\n<pump supply_pressure="1e7" tank_pressure="50"/>',
        9,
        ["'tank' is at 50 Pa", "vapour_pressure = 100 Pa"],
    ),
    "tank's pressure twice": (
        '<tank/>\n<pump supply_pressure="1e7" tank_pressure="1e5"/>',
        9,
        ["there is a tank 'tank'"],
    ),
    "two tank pressures": (
        SUPPLY + '\n<pump name="q" outlet="high" supply_pressure="2e7" tank_pressure="2e5"/>',
        9,
        ["tank_pressure = 200000 Pa", "pump 'pump' has 100000 Pa"],
    ),
    "supply below a tank": (
        '<tank name="tank"/><tank name="high" pressure="2e7"/>\n' + SUPPLY,
        9,
        ["pressure of tank 'high' = 2e+07 Pa", "supply_pressure = 1e+07 Pa"],
    ),
    "pump on a supply": (
        WORKING + "\n" + CONTROLLED.replace("<pump", '<pump name="q"'),
        9,
        ["it does nothing", "pump 'pump' holds its outlet 'supply' at 1e+07 Pa"],
    ),
    "volume of a tank": (WORKING + '\n<line name="tank" volume="1"/>', 9, ["does nothing", "'tank' at 100000 Pa"]),
    "volume of nothing": (
        WORKING + '\n<line name="v.c" volume="1"/>',
        9,
        ["no port names line 'v.c'", "did you mean 'v.b'?"],
    ),
    "line without volume": (WORKING + '\n<line name="v.a"/>', 9, ["'volume' is missing"]),
    "motor without oil": (SUPPLY + VALVE + "\n" + motor(), 9, ["a motor needs oil", "add <fluid/>"]),
    "pump without oil": (PUMP + RELIEF, 8, ["it needs oil"]),
    "motor of a floating joint": (OIL + SUPPLY + VALVE + "\n" + motor(joint="free"), 9, ["'free' is floating"]),
    "motor of no joint": (OIL + SUPPLY + VALVE + "\n" + motor(joint="hing"), 9, ["did you mean 'hinge'?"]),
    "cylinder on the air": (OIL + SUPPLY + cylinder(feed=""), 8, ["nothing feeds it", "open to the air"]),
    "cylinder with valve and side": (
        OIL + SUPPLY + VALVE + "\n" + cylinder(feed='valve="v" rod_side="v.b"'),
        9,
        ["valve = 'v' and rod_side = 'v.b'", "remove rod_side"],
    ),
    "no dead volume": (
        WORKING.replace('dead_volume_rod_side="1e-4"', ""),
        8,
        ["'dead_volume_rod_side' is missing"],
    ),
    "dead volume of the air": (
        OIL + SUPPLY + VALVE + cylinder(feed='piston_side="v.a"', more='dead_volume_rod_side="1e-4"'),
        8,
        ["its rod_side is open to the air"],
    ),
    "leakage of an open rod side": (
        OIL + SUPPLY + VALVE + cylinder(feed='piston_side="v.a"', more='rod_leakage="1e-12"'),
        8,
        ["rod_leakage = 1e-12 m3/(s Pa)", "open to the air"],
    ),
    "static friction below the dry one": (
        OIL + SUPPLY + VALVE + cylinder(more='dry_friction="30" static_friction="20"'),
        8,
        ["static_friction = 20 N is below dry_friction = 30 N"],
    ),
    "stribeck speed alone": (
        OIL + SUPPLY + VALVE + cylinder(more='stribeck_speed="0.1"'),
        8,
        ["stribeck_speed is given without static_friction"],
    ),
    "cushion without throttle": (
        OIL + SUPPLY + VALVE + cylinder(more='cushion_length="0.02"'),
        8,
        ["cushion_length = 0.02 m and cushion_diameter = 0 m"],
    ),
    "cushions that meet": (
        OIL + SUPPLY + VALVE + cylinder(more='cushion_length="0.3" cushion_diameter="1e-3"'),
        8,
        ["cushion_length = 0.3 m", "half of stroke = 0.5 m"],
    ),
    "cushion as wide as the bore": (
        OIL + SUPPLY + VALVE + cylinder(more='cushion_length="0.02" cushion_diameter="0.04"'),
        8,
        ["cushion_diameter = 0.04 m is not below bore = 0.04 m"],
    ),
    "buffer's spring without length": (
        OIL + SUPPLY + VALVE + cylinder(more='buffer_stiffness="1e7"'),
        8,
        ["buffer_stiffness is given without buffer_length"],
    ),
    "buffer's damper without length": (
        OIL + SUPPLY + VALVE + cylinder(more='buffer_damping="1e4" buffer_length="0"'),
        8,
        ["buffer_damping is given without buffer_length"],
    ),
    "buffer without spring and damper": (
        OIL + SUPPLY + VALVE + cylinder(more='buffer_length="0.02"'),
        8,
        ["buffer_length = 0.02 m", "neither buffer_stiffness nor buffer_damping"],
    ),
    "buffers that meet": (
        OIL + SUPPLY + VALVE + cylinder(more='buffer_length="0.26" buffer_stiffness="1e7"'),
        8,
        ["buffer_length = 0.26 m", "half of stroke = 0.5 m"],
    ),
    "no oil at the end of the stroke": (
        NO_DEAD_VOLUME,
        8,
        ["dead_volume_piston_side = 0 m3", "line 'v.a' has no oil of its own", '<line name="v.a" volume=.../>'],
    ),
    "no oil at the other end of the stroke": (
        NO_DEAD_VOLUME + FILLED.format("v.a"),
        8,
        ["dead_volume_rod_side = 0 m3", "line 'v.b' has no oil of its own"],
    ),
    "line that boils at the start": (
        '<fluid vapour_pressure="100"/>'
        + SUPPLY
        + VALVE
        + cylinder()
        + '\n<line name="v.a" volume="1e-5" start_pressure="100"/>',
        9,
        ["start_pressure = 100 Pa is not above", "vapour_pressure = 100 Pa"],
    ),
    "valve without size": (
        OIL + SUPPLY + cylinder() + '\n<directional_valve name="v"/>',
        9,
        ["'spool_diameter' is missing, and so is 'rated_flow'"],
    ),
    "valve with half a size": (
        OIL + SUPPLY + cylinder() + '\n<directional_valve name="v" spool_diameter="0.006"/>',
        9,
        ["'spool_travel' is missing, and so is 'rated_flow'"],
    ),
    "valve with two sizes": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(VALVE, 'rated_flow="1e-3"'),
        9,
        ["it has rated_flow and spool_diameter and spool_travel", "its size is given twice"],
    ),
    "valve with one size and a half": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(RATED, 'spool_travel="2e-4"'),
        9,
        ["it has rated_flow and spool_travel"],
    ),
    "drop of a flow that is not given": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(VALVE, 'rated_drop="5e5"'),
        9,
        ["rated_drop is given without rated_flow"],
    ),
    "spool of two orders": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(VALVE, 'time_constant="0.02" natural_frequency="100"'),
        9,
        ["it has time_constant and natural_frequency", "keep the one"],
    ),
    "damped spool of first order": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(VALVE, 'time_constant="0.02" damping_ratio="0.7"'),
        9,
        ["it has time_constant and damping_ratio"],
    ),
    "unknown transition": (
        OIL + SUPPLY + cylinder() + "\n" + of_valve(VALVE, 'transition="liner"'),
        9,
        ["did you mean 'linear'?"],
    ),
    "orifice without size": (
        WORKING + '\n<orifice name="o" inlet="supply" outlet="tank"/>',
        9,
        ["of diameter and resistance it has neither"],
    ),
    "orifice of two kinds": (
        WORKING + '\n<orifice name="o" inlet="supply" outlet="tank" diameter="1e-3" resistance="1e9"/>',
        9,
        ["it has both"],
    ),
    "laminar orifice with a coefficient": (
        WORKING + '\n<orifice name="o" inlet="supply" outlet="tank" resistance="1e9" discharge_coefficient="0.6"/>',
        9,
        ["discharge_coefficient is given without diameter"],
    ),
    "pilot ratio without pilot": (
        WORKING + "\n" + check_valve("tank", "v.a", 'pilot_ratio="3"'),
        9,
        ["pilot_ratio is given without pilot"],
    ),
    "open port": (
        OIL + SUPPLY + VALVE + "\n" + cylinder(feed='piston_side="v.a"'),
        8,
        ["its b is not connected", "'v.b'", '<line name="v.b" volume=.../>'],
    ),
    "mistyped port": (
        OIL
        + SUPPLY
        + VALVE.replace("spool_d", 'a="boom" spool_d')
        + "\n"
        + cylinder(feed='piston_side="bom" rod_side="v.b"'),
        8,
        ["its a is not connected", "did you mean 'bom'?"],
    ),
    "no supply": (OIL + VALVE + cylinder(feed='piston_side="v.a" rod_side="v.b"'), 8, ["its supply", "add <pump"]),
    "mistyped pilot": (
        WORKING + "\n" + check_valve("tank", "v.a", 'pilot="v.d"'),
        9,
        ["its pilot is not connected", "'v.d'"],
    ),
    "locked oil": (
        WORKING
        + "\n"
        + cylinder("d", feed='piston_side="x" rod_side="y"')
        + cylinder("e", 'piston_side="y" rod_side="x"'),
        9,
        ["its piston_side is on line 'x'", "join the line"],
    ),
    "pilot that nothing feeds": (
        WORKING
        + "\n"
        + check_valve("tank", "v.a", 'pilot="x"')
        + check_valve("tank", "v.b", 'pilot="x"').replace('"check"', '"other"'),
        9,
        ["its pilot is on line 'x'", "which nothing joins"],
    ),
    "return without tank": (
        OIL + '<tank name="reservoir"/>' + SUPPLY + VALVE + "\n" + cylinder(),
        8,
        ["its tank is not connected", "add <tank/>"],
    ),
    "returns without tank": (
        OIL
        + '<tank name="reservoir"/>'
        + SUPPLY
        + VALVE
        + cylinder()
        + VALVE.replace('"v"', '"w"')
        + cylinder("d").replace('"v"', '"w"'),
        8,
        ["its tank is on line 'tank', from which oil finds no tank", "reservoir", '<tank name="tank"/>'],
    ),
    "dead-headed pump": (
        OIL + "\n" + PUMP + VALVE + cylinder(),
        9,
        ["dead-headed", "0.002 m3/s", "1e-05 m3/rad at speed = 200 rad/s", "'supply'", "add <relief_valve"],
    ),
    "pump behind a tandem centre alone": (
        OIL + "\n" + PUMP + VALVE.replace("spool_d", 'centre="tandem" spool_d') + cylinder(),
        9,
        ["dead-headed"],
    ),
    "relief valve behind what closes": (
        OIL + "\n" + PUMP + RELIEF.replace("supply", "low") + reducing("supply", "low") + VALVE + cylinder(),
        9,
        ["dead-headed"],
    ),
    "pumps against each other": (
        OIL + "\n" + PUMP + PUMP.replace("<pump", '<pump name="q"') + VALVE + cylinder(),
        9,
        ["dead-headed", "against pump 'q'"],
    ),
    "pumps against each other over a hose": (
        OIL
        + "\n"
        + PUMP
        + PUMP.replace("<pump", '<pump name="q" outlet="far"')
        + '<hose name="h" inlet="far" outlet="supply" length="1" diameter="0.01"/>'
        + VALVE
        + cylinder(),
        9,
        ["dead-headed", "against pump 'q'"],
    ),
    "least stroke without relief valve": (
        OIL + "\n" + CONTROLLED.replace("setting", 'minimum_stroke="0.1" setting') + VALVE + cylinder(),
        9,
        ["dead-headed", "0.0002 m3/s", "minimum_stroke = 0.1 of", "set minimum_stroke to 0"],
    ),
    "check valve against a pump": (
        OIL + "\n" + CONTROLLED.replace("<pump", '<pump outlet="p"') + check_valve("supply", "p") + VALVE + cylinder(),
        9,
        ["nothing takes oil from its outlet 'p'", "swapped"],
    ),
    "relief valve on a tank": (
        WORKING + "\n" + RELIEF.replace("supply", "tank").replace("pressure", 'outlet="supply" pressure'),
        9,
        ["its inlet 'tank' is a tank", "swap inlet and outlet"],
    ),
    "relief valve to a supply": (
        WORKING + "\n" + RELIEF.replace("supply", "v.a").replace("pressure", 'outlet="supply" pressure'),
        9,
        ["its outlet 'supply' is a supply", "swap outlet and inlet"],
    ),
    "pump on the tank": (
        OIL + VALVE + cylinder() + '\n<pump outlet="tank" inlet="supply" displacement="1e-5" speed="200"/>',
        9,
        ["its outlet 'tank' is a tank", "swap outlet and inlet"],
    ),
    "supply and tank swapped": (
        OIL + SUPPLY + "\n" + VALVE.replace("spool_d", 'supply="tank" tank="supply" spool_d') + cylinder(),
        9,
        ["its supply 'tank' is a tank", "swap supply and tank"],
    ),
    "counterbalance valve swapped": (
        OIL
        + SUPPLY
        + VALVE
        + cylinder(feed='piston_side="load" rod_side="v.b"')
        + "\n"
        + counterbalance("v.a", "load"),
        9,
        ["its load 'v.a' is the line of a directional valve", "swap load and valve"],
    ),
    "reducing valve swapped": (
        WORKING + "\n" + reducing("low", "supply") + check_valve("low", "tank"),
        9,
        ["its outlet 'supply' is a supply"],
    ),
    "valve between one line": (WORKING + "\n" + check_valve("v.a", "v.a"), 9, ["its inlet and its outlet", "'v.a'"]),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_circuits_are_refused_with_line_and_reason(tmp_path, name):
    content, line, words = BAD[name]
    error = refusal(tmp_path, content)
    assert error.line == line, str(error)
    for word in words:
        assert word in str(error)


def ports_as_written():
    """Every connected port in the machine's file: its place in the text, and a name for the test."""
    text = MACHINE.read_text()
    names = {kind.tag: {a.name for a in kind.attributes if a.kind is Kind.PORT} for kind in HYDRAULIC_ELEMENTS}
    for element in re.finditer(r"<(\w+)\s[^>]*>", text):
        for attribute in re.finditer(r'\b(\w+)="([^"]*)"', element[0]):
            if attribute[1] in names.get(element[1], ()):
                start = element.start() + attribute.start(2)
                yield pytest.param(start, start + len(attribute[2]), id=f"{element[1]}-{attribute[1]}")


@pytest.mark.parametrize(("start", "end"), list(ports_as_written()))
def test_disconnected_ports_are_refused(tmp_path, start, end):
    text = MACHINE.read_text()
    path = tmp_path / "robot.urdf"
    path.write_text(text[:start] + "nowhere" + text[end:])
    with pytest.raises(MachineError) as caught:
        grouser.load_machine(path)
    assert caught.value.line is not None
    assert "nowhere" in str(caught.value) or text[start:end] in str(caught.value)


def numbers_of_the_table():
    for kind in HYDRAULIC_ELEMENTS:
        for attribute in kind.attributes:
            if attribute.kind is Kind.NUMBER and attribute.minimum is not None:
                beyond = attribute.minimum if attribute.above_minimum else attribute.minimum - 1.0
                yield pytest.param(kind.tag, attribute.name, beyond, id=f"{kind.tag}-{attribute.name}")


@pytest.mark.parametrize(("tag", "name", "value"), list(numbers_of_the_table()))
def test_numbers_below_their_range_are_refused(tmp_path, tag, name, value):
    text = MACHINE.read_text()
    element = re.search(rf"<{tag}\s[^>]*?(?=/?>)", text)
    written = re.sub(rf'\s{name}="[^"]*"', "", element[0]) + f' {name}="{value:g}"'
    path = tmp_path / "robot.urdf"
    path.write_text(text.replace(element[0], written, 1))
    with pytest.raises(MachineError, match=re.escape(f"{name} = {value:g}")) as caught:
        grouser.load_machine(path)
    assert caught.value.line == text[: element.start()].count("\n") + 1
    assert "out of range; valid: " in str(caught.value)


IN_OTHER_UNITS = [
    (cylinder().replace('bore="0.04"', 'bore="60"'), "bore", r"60 m is .* in mm\? 60 mm are 0.06 m"),
    (cylinder().replace('bore="0.04"', 'bore="60" meant="stroke"'), "bore", r"60 mm are 0.06 m"),
    (SUPPLY.replace("1e7", "220"), "supply_pressure", r"in bar or MPa\? 220 bar are 2.2e\+07 Pa, 220 MPa are 2.2e\+08"),
    (RELIEF.replace('"1e7"', '"220"'), "pressure", r"in bar or MPa\?"),
    (RELIEF.replace("1e-3", "40"), "rated_flow", r"in l/min\? 40 l/min are 0.0006667 m3/s"),
    (PUMP.replace("1e-5", "45"), "displacement", r"in cm3/rev\? 45 cm3/rev are 7.162e-06 m3/rad"),
    (PUMP.replace("200", "1500"), "speed", r"in rpm\? 1500 rpm are 157.1 rad/s"),
    (VALVE.replace("2e-4", "200"), "spool_travel", r"in mm\?"),
]


@pytest.mark.parametrize(("element", "name", "told"), IN_OTHER_UNITS)
def test_a_value_that_is_plausible_in_another_unit_only_is_asked_about(element, name, told):
    with pytest.raises(MachineError, match=f'{name} = .*{told}.*meant="{name}"'):
        parse_machine(ROBOT.format(element), "r.urdf")


def test_an_implausible_value_that_is_meant_is_accepted():
    valve = RELIEF.replace('"1e7"', '"220" meant="pressure"')
    (found,) = parse_machine(ROBOT.format("<fluid/>" + SUPPLY + valve), "r.urdf").relief_valves
    assert found.pressure == 220.0
    with pytest.raises(MachineError, match="meant = .press. is not valid .*pressure"):
        parse_machine(ROBOT.format(valve.replace('meant="pressure"', 'meant="press"')), "r.urdf")
    with pytest.raises(MachineError, match="unknown attribute 'meant'"):
        parse_machine(ROBOT.format('<servo_drive joint="j" meant="kp"/>'), "r.urdf")


def test_defaults_and_the_limits_of_plausible_ranges_are_not_asked_about():
    guarded = [a for kind in HYDRAULIC_ELEMENTS for a in kind.attributes if a.plausible is not None]
    assert len(guarded) > 40
    for attribute in guarded:
        its = attribute.plausible
        assert not any(its.meant(value) for value in (attribute.default or 0.0, its.low, its.high))
        for unit, size in its.others:
            # As much as is plausible, written in the other unit.
            middle = math.sqrt(its.low * its.high) / size
            assert its.low <= middle <= its.high or unit in dict(its.meant(middle))
