"""The speeds and forces that `grouser inspect --hydraulics` lists, against the running simulation."""

import pytest

from grouser import Simulation, World
from grouser.commands.actuator_ranges import actuator_ranges

GRAVITY = 9.81
AIR = World(ground=None)
# Steadiness criterion of the listing: see `actuator_ranges`.
STEADY = 1e-3
CONSTANT = """<fluid/><pump supply_pressure="10e6"/>
    <directional_valve name="v" spool_diameter="6e-3" spool_travel="2e-4"/>"""
LOAD_SENSING = """<fluid/><tank/>
    <pump name="main" outlet="gallery" displacement="2e-6" speed="150" control="load_sensing" sense="ls" setting="15e6"
          margin="2e6" leakage="2e-12"/>
    <relief_valve name="r" inlet="gallery" pressure="17e6" rated_flow="1e-3"/>
    <orifice name="bleed" inlet="ls" outlet="tank" resistance="2e12"/>
    <compensator name="k" inlet="gallery" outlet="p" load="ls" margin="8e5" rated_flow="1e-3"/>
    <directional_valve name="v" supply="p" sense="ls" spool_diameter="6e-3" spool_travel="3e-4"/>
    <line name="gallery" volume="5e-4"/>"""


def lift(parts, circuit, mass=100.0):
    """A load on a vertical cylinder that starts at half of its stroke."""
    return parts.machine(
        '<link name="world"/>',
        parts.link("load", mass),
        parts.joint("lift", "prismatic", "world", "load"),
        extension=f"""{circuit}
        <cylinder name="c" valve="v" bore="0.04" rod_diameter="0.025" stroke="0.5" retracted_length="0.6"
                  piston_mass="5" viscous_friction="300" dry_friction="150" dead_volume_piston_side="1e-4"
                  dead_volume_rod_side="1e-4"><barrel link="world" xyz="0 0 -0.85"/><rod link="load"/></cylinder>""",
    )


@pytest.mark.parametrize("circuit", [CONSTANT, LOAD_SENSING])
@pytest.mark.parametrize("case, command", [("resisted", 1.0), ("unloaded", -1.0), ("unloaded", 1.0)])
def test_cylinder_speed_is_as_listed(parts, circuit, case, command):
    (found,) = actuator_ranges(lift(parts, circuit))
    listed = found.forward_speed if command > 0.0 else found.backward_speed
    # the load's weight is the load, or next to nothing
    mass = 0.5 * found.forward_force / GRAVITY if case == "resisted" else 1e-3
    simulation = Simulation(lift(parts, circuit, mass), AIR)
    simulation.command["v"] = command
    # the spool opens within 0.1 s, and 900 kg swing on the oil and the pump's control until about 0.7 s
    simulation.step(900 if case == "resisted" else 300)
    start = simulation.cylinder["c"].position
    simulation.step(200)
    cylinder = simulation.cylinder["c"]
    assert 0.02 < cylinder.position < 0.48
    speed = (cylinder.position - start) / 0.2
    assert command * speed == pytest.approx(getattr(listed, case), rel=2 * STEADY)
    assert cylinder.velocity == pytest.approx(speed, rel=5e-3)


@pytest.mark.parametrize("circuit", [CONSTANT, LOAD_SENSING])
def test_cylinder_stalls_above_the_listed_force(parts, circuit):
    (found,) = actuator_ranges(lift(parts, circuit))
    for share, rises in ((0.98, True), (1.02, False)):
        simulation = Simulation(lift(parts, circuit, share * found.forward_force / GRAVITY), AIR)
        simulation.command["v"] = 1.0
        simulation.step(1500)
        assert (simulation.cylinder["c"].velocity > 1e-3) == rises


def test_hydraulic_motor_speed_is_as_listed(parts):
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("upper", 50.0),
        parts.joint("swing", "continuous", "world", "upper"),
        extension=CONSTANT
        + """<hydraulic_motor name="m" joint="swing" a="v.a" b="v.b" displacement="5e-5" dead_volume="1e-4"
             leakage="2e-12" drain_leakage="1e-12" viscous_friction="2" dry_friction="30"/>""",
    )
    (found,) = actuator_ranges(machine)
    simulation = Simulation(machine, AIR)
    simulation.command["v"] = 1.0
    simulation.step(2000)
    assert simulation.joint_velocity["swing"] == pytest.approx(found.forward_speed.unloaded, rel=2 * STEADY)
