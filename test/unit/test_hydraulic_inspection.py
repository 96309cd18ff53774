"""`grouser inspect --hydraulics`: forces, speeds and regeneration against closed forms; the drawing of the circuit."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.optimize import brentq

import grouser
import grouser.catalogue
from grouser.commands import actuator_ranges as ranges_module
from grouser.commands import inspection
from grouser.commands.actuator_ranges import actuator_ranges
from grouser.commands.hydraulic_inspection import hydraulic_facts, hydraulic_report
from grouser.physics.base.errors import ParameterError
from grouser.physics.description import parse_machine

LOAD_SENSING = Path(__file__).parents[1] / "data" / "machines" / "load_sensing.urdf"
SUPPLY, TANK = 10e6, 1e5
AREA_A, AREA_B = math.pi * 0.04**2 / 4, math.pi * (0.04**2 - 0.025**2) / 4
EDGE = 0.62 * math.pi * 6e-3 * 2e-4 * math.sqrt(2 / 850)  # of the valve, [m3/s/sqrt(Pa)]
VISCOUS, DRY = 300.0, 150.0
# Steadiness criterion of the listing, and pressure tolerance of the scheme: see `actuator_ranges`, `implicit`.
STEADY, PRESSURE = 1e-3, 2e-3


def bench(extension, cylinders=1, joint="prismatic"):
    """A load of 100 kg on a joint, with hydraulics from a text and cylinders on the lines v.a and v.b."""
    cylinder = f"""<cylinder name="c%d" %s bore="0.04" rod_diameter="0.025" stroke="0.5" retracted_length="0.6"
      piston_mass="5" viscous_friction="{VISCOUS}" dry_friction="{DRY}" dead_volume_piston_side="1e-4"
      dead_volume_rod_side="1e-4"><barrel link="world" xyz="0 0 -0.8"/><rod link="load"/></cylinder>"""
    limit = '<limit lower="-1" upper="1" effort="1e9" velocity="9"/>' if joint == "prismatic" else ""
    each = "".join(cylinder % (number, 'piston_side="v.a" rod_side="v.b"') for number in range(cylinders))
    return parse_machine(
        f"""<robot name="bench"><link name="world"/>
        <link name="load"><inertial><mass value="100"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
        <joint name="lift" type="{joint}"><parent link="world"/><child link="load"/><axis xyz="0 0 1"/>{limit}</joint>
        <grouser><fluid/>{extension}{each}</grouser></robot>""",
        "bench.urdf",
    )


PLAIN = f"""<pump supply_pressure="{SUPPLY}" tank_pressure="{TANK}"/>
    <directional_valve name="v" spool_diameter="6e-3" spool_travel="2e-4"/>"""


def extending_speed(load):
    """Both edges in balance: the supply edge opens by 1 - 0.05, the tank edge by 1 + 0.05 of the travel.

    An overrunning load may move the piston faster than its side fills: a cavity without pressure remains.
    """

    def surplus(speed):
        push = AREA_A * max(SUPPLY - (AREA_A * speed / (0.95 * EDGE)) ** 2, 0.0)
        push -= AREA_B * (TANK + (AREA_B * speed / (1.05 * EDGE)) ** 2)
        return push - VISCOUS * speed - DRY - load

    return brentq(surplus, 0.0, 10.0, xtol=1e-12)


def retracting_speed(load):
    def surplus(speed):
        push = AREA_B * (SUPPLY - (AREA_B * speed / (0.95 * EDGE)) ** 2)
        push -= AREA_A * (TANK + (AREA_A * speed / (1.05 * EDGE)) ** 2)
        return push - VISCOUS * speed - DRY - load

    return brentq(surplus, 0.0, 10.0, xtol=1e-12)


def regenerating_speed(load):
    def surplus(speed):
        rod = AREA_A - AREA_B
        return rod * (SUPPLY - (rod * speed / (0.95 * EDGE)) ** 2) - VISCOUS * speed - DRY - load

    return brentq(surplus, 0.0, 10.0, xtol=1e-12)


def test_inspection_forces_speeds_and_regeneration_in_closed_form():
    (found,) = actuator_ranges(bench(PLAIN))
    push, pull = SUPPLY * AREA_A - TANK * AREA_B - DRY, SUPPLY * AREA_B - TANK * AREA_A - DRY
    assert (found.name, found.kind, found.valve) == ("c0", "cylinder", "v")
    assert found.area_ratio == pytest.approx(AREA_A / AREA_B)
    assert found.forward_force == pytest.approx(push, rel=STEADY)
    assert found.backward_force == pytest.approx(pull, rel=STEADY)
    loads = {"resisted": 0.5 * push, "unloaded": 0.0, "assisted": -0.5 * pull}
    for name, load in loads.items():
        assert getattr(found.forward_speed, name) == pytest.approx(extending_speed(load), rel=STEADY)
    for name, load in {"resisted": 0.5 * pull, "unloaded": 0.0}.items():
        assert getattr(found.backward_speed, name) == pytest.approx(retracting_speed(load), rel=STEADY)
    regeneration = found.regeneration
    assert regeneration.force == pytest.approx((AREA_A - AREA_B) * SUPPLY - DRY, rel=STEADY)
    assert regeneration.helping_load == pytest.approx(DRY - (AREA_A - AREA_B) * TANK)
    assert regeneration.speed == pytest.approx(regenerating_speed(0.0), rel=STEADY)
    worthwhile = brentq(lambda load: regenerating_speed(load) - extending_speed(load), 0.0, 4.5e3)
    # tolerance of the search: a thousandth of the force
    assert regeneration.worthwhile == pytest.approx(worthwhile, abs=2 * STEADY * regeneration.force)


def test_pump_flow_gives_the_speed_and_relief_setting_the_force():
    flow = 2e-4
    (found,) = actuator_ranges(
        bench(f"""<tank pressure="{TANK}"/><pump displacement="{flow / 150}" speed="150"/>
            <relief_valve name="r" inlet="supply" pressure="12e6" rated_flow="1e-3"/>
            <directional_valve name="v" spool_diameter="6e-3" spool_travel="2e-3"/>""")
    )
    # wide open edges: the cylinder gets the whole flow at any load
    for speed in (found.forward_speed.resisted, found.forward_speed.unloaded):
        assert speed == pytest.approx(flow / AREA_A, rel=STEADY)
    assert found.backward_speed.unloaded == pytest.approx(flow / AREA_B, rel=STEADY)
    assert found.regeneration.speed == pytest.approx(flow / (AREA_A - AREA_B), rel=STEADY)
    # the relief valve passes the whole flow, at its setting plus the rise for that flow
    rise = brentq(lambda rise: rise * math.sqrt((12 + rise) / 13) - flow / 1e-3, 0.0, 1.0)
    pressure = TANK + (12 + rise) * 1e6
    assert found.forward_force == pytest.approx(pressure * AREA_A - TANK * AREA_B - DRY, rel=PRESSURE)
    assert found.backward_force == pytest.approx(pressure * AREA_B - TANK * AREA_A - DRY, rel=PRESSURE)


def test_twin_cylinders_share_the_flow():
    one, both = actuator_ranges(bench(PLAIN)), actuator_ranges(bench(PLAIN, cylinders=2))
    assert [found.name for found in both] == ["c0", "c1"]
    for found in both:
        assert found.forward_force == pytest.approx(one[0].forward_force, rel=STEADY)
        assert found.regeneration.force == pytest.approx(one[0].regeneration.force, rel=STEADY)
    # half of the flow and half of the force each, with a little less viscous friction
    assert both[0].forward_speed.resisted == pytest.approx(0.5 * one[0].forward_speed.resisted, rel=0.02)


def test_torque_and_speed_of_a_motor():
    displacement, torque_loss = 5e-5, 40.0
    (found,) = actuator_ranges(
        bench(
            PLAIN
            + f"""<hydraulic_motor name="m" joint="lift" a="v.a" b="v.b" displacement="{displacement}"
            dead_volume="1e-4" dry_friction="{torque_loss}"/>""",
            cylinders=0,
            joint="continuous",
        )
    )
    torque = displacement * (SUPPLY - TANK) - torque_loss
    assert (found.kind, found.valve, found.regeneration) == ("motor", "v", None)
    assert found.forward_force == pytest.approx(torque, rel=STEADY)
    assert found.backward_force == pytest.approx(torque, rel=STEADY)
    drop = SUPPLY - TANK - torque_loss / displacement
    speed = math.sqrt(drop / ((1 / 0.95) ** 2 + (1 / 1.05) ** 2)) * EDGE / displacement
    assert found.forward_speed.unloaded == pytest.approx(speed, rel=STEADY)
    assert found.backward_speed.unloaded == pytest.approx(speed, rel=STEADY)


def test_an_actuator_without_valve_moves_one_way():
    (found,) = actuator_ranges(
        bench(f"""<pump supply_pressure="{SUPPLY}" tank_pressure="{TANK}"/>
            <orifice name="in" inlet="supply" outlet="v.a" diameter="1e-3"/>
            <orifice name="out" inlet="v.b" outlet="tank" diameter="1e-3"/>""")
    )
    assert (found.valve, found.backward_force, found.backward_speed) == (None, None, None)
    assert found.forward_force == pytest.approx(SUPPLY * AREA_A - TANK * AREA_B - DRY, rel=STEADY)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def plain_file(tmp_path):
    """The lift of `hydraulic_lift.urdf.xacro` as a file, and the file of the drawing."""
    return ["hydraulic_lift", "--hydraulics", "--output", str(tmp_path / "circuit.svg")]


def test_inspection_text_lists_the_cylinder(plain_file, tmp_path, capsys):
    assert inspection.main(plain_file) == 0
    text = capsys.readouterr().out
    (found,) = actuator_ranges(grouser.load_machine(grouser.catalogue.machine_file("hydraulic_lift")))
    assert f"{1e-3 * found.forward_force:.1f} / {1e-3 * found.backward_force:.1f}" in text
    assert f"{found.forward_speed.resisted:.3f} / {found.forward_speed.unloaded:.3f}" in text
    assert "regeneration" in text
    assert (tmp_path / "circuit.svg").read_text().startswith("<svg ")


def test_inspection_json_has_the_same_numbers(plain_file, capsys):
    assert inspection.main([*plain_file, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (found,) = actuator_ranges(grouser.load_machine(grouser.catalogue.machine_file("hydraulic_lift")))
    assert facts["actuators"][0]["forward_force"] == found.forward_force
    assert facts["actuators"][0]["regeneration"]["speed"] == found.regeneration.speed


def test_invalid_inspection_arguments_are_refused(tmp_path, capsys):
    with pytest.raises(ParameterError, match=r"ends in \.svg"):
        inspection.main(["hydraulic_lift", "--hydraulics", "--output", str(tmp_path / "circuit.png")])
    with pytest.raises(ParameterError, match="one with hydraulics"):
        inspection.main(["four_bar", "--hydraulics", "--output", str(tmp_path / "circuit.svg")])
    with pytest.raises(ParameterError, match="can be written"):
        inspection.main(["hydraulic_lift", "--hydraulics", "--output", str(tmp_path / "no" / "circuit.svg")])
    with pytest.raises(SystemExit):
        inspection.main(["hydraulic_lift", "--output", str(tmp_path / "circuit.svg")])


def test_a_machine_with_pumps_on_shafts_is_inspected(capsys):
    assert inspection.main([str(LOAD_SENSING)]) == 0
    assert "pump 'main' 62.1 l/min, load sensing displacement to 21 MPa" in capsys.readouterr().out


def test_the_leak_that_lets_peaks_go_does_not_change_the_forces(monkeypatch):
    machine = grouser.load_machine(LOAD_SENSING)
    found = {}
    for share in (1 / 3, 1.0):
        monkeypatch.setattr(ranges_module, "SETTLING_LEAKAGE", share * 1e-13)
        found[share] = [
            each.forward_force for each in ranges_module.actuator_ranges(machine) if each.kind == "cylinder"
        ]
    # The peak itself is 12 %.
    assert found[1 / 3] == pytest.approx(found[1.0], rel=0.01)


def test_cylinders_that_keep_a_peak_are_named(tmp_path, capsys):
    facts = hydraulic_facts(bench(PLAIN), tmp_path / "c.svg")
    assert facts["without_leakage"] == ["c0"]
    assert "keep it until they move:\n  c0" in "\n".join(hydraulic_report(facts))
    leaking = replace(bench(PLAIN).cylinders[0], leakage=1e-14)
    facts = hydraulic_facts(replace(bench(PLAIN), cylinders=(leaking,)), tmp_path / "c.svg")
    assert facts["without_leakage"] == []
    assert "keep it" not in "\n".join(hydraulic_report(facts))
