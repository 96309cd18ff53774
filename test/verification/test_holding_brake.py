"""Holding brake of a cylinder: holding, release, stopping, slip at its limit; other things that block an arm."""

import math

import numpy as np
import pytest

from grouser import Simulation, World
from grouser.physics.base.packed import Packed
from grouser.physics.description.data.world import Ground
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics
from grouser.physics.multibody.newton_euler import inverse_dynamics

GRAVITY = 9.81
SUPPLY, TANK = 10e6, 1e5
AREA_A, AREA_B = math.pi / 4 * 0.04**2, math.pi / 4 * (0.04**2 - 0.025**2)
AIR = World(ground=None)


def hydraulics(brake, barrel, rod, stroke, retracted, valve='spool_diameter="6e-3" spool_travel="2e-4"'):
    return f"""
    <fluid/><pump supply_pressure="{SUPPLY}"/><directional_valve name="valve" {valve}/>
    <cylinder name="piston" valve="valve" bore="0.04" rod_diameter="0.025" stroke="{stroke}"
              retracted_length="{retracted}" piston_mass="2" dead_volume_piston_side="1e-4"
              dead_volume_rod_side="1e-4" {brake}>
      {barrel}{rod}</cylinder>"""


def braked(force):
    return f'holding_brake="true" holding_force="{force}"'


def arm(parts, brake='holding_brake="true"', *, world=AIR, scheme="implicit", step=1e-3):
    """A level arm of 40 kg, its cylinder below it; it extends to raise the arm."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("arm", 40, (1.0, 1.0, 1.0), '<sphere radius="0.05"/>', com=(0.5, 0, 0)).replace(
            "<collision>", '<collision><origin xyz="1 0 0"/>'
        ),
        parts.joint("hinge", "continuous", "world", "arm", axis=(0, -1, 0)),
        extension=hydraulics(
            brake, '<barrel link="world" xyz="0.2 0 -0.6"/>', '<rod link="arm" xyz="0.5 0 0"/>', 0.5, 0.55
        ),
    )
    return Simulation(machine, world, step=step, scheme=scheme)


def gravity_torque(simulation):
    """Torque at the hinge that holds the arm up [N m]."""
    model, kinematics, torque = (
        Packed(simulation.arrays.model),
        Packed(make_kinematics(simulation.arrays.model)),
        np.zeros(1),
    )
    update_kinematics(model, simulation.state.q, np.zeros(1), kinematics)
    inverse_dynamics(model, kinematics, np.zeros(1), np.zeros((1, 6)), np.zeros((1, 6)), torque)
    return torque[0]


def lever(simulation):
    """Change of the cylinder's length with the hinge's angle [m/rad]."""
    angle = simulation.joint_position["hinge"]
    rod = 0.5 * np.array([math.cos(angle), math.sin(angle)])
    along = rod - [0.2, -0.6]
    return (along[1] * rod[0] - along[0] * rod[1]) / np.linalg.norm(along)


def run_until_standing(simulation):
    for _ in range(2000):
        simulation.step()
        if abs(simulation.cylinder["piston"].velocity) < 1e-9:
            return
    raise AssertionError("it still moves after 2000 steps")


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit", "split"])
def test_arm_hangs_on_its_holding_brake_without_creeping(parts, scheme):
    simulation = arm(parts, scheme=scheme)
    start = simulation.cylinder["piston"].position
    simulation.step(20_000)
    held = simulation.cylinder["piston"]
    assert held.brake_engaged
    assert held.position == pytest.approx(start, abs=1e-6)
    assert held.force * lever(simulation) == pytest.approx(gravity_torque(simulation), rel=1e-6)
    # the neutral valve has the oil at tank pressure (the split scheme with its explicit orifice swings
    # about it): without the brake the arm sinks
    stray = 0.5 if scheme == "split" else 1e-3
    assert (held.pressure_piston_side, held.pressure_rod_side) == pytest.approx((TANK, TANK), rel=stray)
    sinking = arm(parts, "", scheme=scheme)
    sinking.step(1000)
    assert sinking.cylinder["piston"].position < start - 1e-4
    assert not sinking.cylinder["piston"].brake_engaged


def test_holding_brake_releases_on_command_and_engages_at_neutral(parts):
    simulation = arm(parts)
    simulation.command["valve"] = 0.6
    for _ in range(1000):
        before = simulation.cylinder["piston"]
        simulation.step()
        # it releases as soon as the spool has opened its supply edge
        assert simulation.cylinder["piston"].brake_engaged == (abs(before.spool_position) <= 0.05)
    raised = simulation.cylinder["piston"].position
    assert raised > before.position > 0.2
    simulation.command["valve"] = 0.0
    run_until_standing(simulation)
    stopped = simulation.cylinder["piston"].position
    assert simulation.cylinder["piston"].brake_engaged
    simulation.step(5000)
    assert simulation.cylinder["piston"].position == pytest.approx(stopped, abs=1e-6)
    simulation.command["valve"] = -0.6
    simulation.step(500)
    assert simulation.cylinder["piston"].position < stopped - 0.02


@pytest.mark.parametrize("command", [0.6, -0.6])
def test_emergency_stop_within_the_limit_of_the_holding_brake(parts, command):
    holding = 2e4
    simulation = arm(parts, braked(holding))
    simulation.command["valve"] = command
    simulation.step(400)
    moving = simulation.cylinder["piston"]
    assert abs(moving.velocity) > 0.05 and not moving.brake_engaged
    simulation.emergency_stop = True
    start = simulation.step_count
    run_until_standing(simulation)
    # the brake stops the arm's mass against the greatest push of oil and weight; times are whole steps
    mass = (1.0 + 40 * 0.5**2) / lever(simulation) ** 2 + 2.0
    pushing = AREA_A * SUPPLY + abs(gravity_torque(simulation) / lever(simulation))
    longest = mass * abs(moving.velocity) / (holding - pushing)
    assert (simulation.step_count - start) * 1e-3 < longest + 2e-3
    stopped = simulation.cylinder["piston"]
    assert stopped.brake_engaged
    assert abs(stopped.position - moving.position) < abs(moving.velocity) * (longest + 2e-3)
    simulation.step(2000)
    assert simulation.cylinder["piston"].position == pytest.approx(stopped.position, abs=1e-6)


def hoist(parts, brake, valve):
    """100 kg on an upright cylinder."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("load", 100),
        parts.joint("slide", "prismatic", "world", "load", xyz=(0, 0, 0.9)),
        extension=hydraulics(brake, '<barrel link="world"/>', '<rod link="load"/>', 0.5, 0.6, valve),
    )
    return Simulation(machine, AIR)


def test_overloaded_brake_slips_at_its_force(parts):
    # the rest of the weight is carried by the oil that leaves through the tank edges, open by 5 % at neutral
    holding = 600.0
    simulation = hoist(parts, braked(holding), 'spool_diameter="6e-3" spool_travel="2e-4"')
    simulation.step(1000)
    before, friction = simulation.cylinder["piston"], simulation.circuit.cylinder_energy["piston"].friction_loss
    simulation.step(1000)
    after, friction = (
        simulation.cylinder["piston"],
        simulation.circuit.cylinder_energy["piston"].friction_loss - friction,
    )
    edge = 0.62 * math.pi * 6e-3 * 2e-4 * math.sqrt(2 / 850) * 0.05
    surplus = 100 * GRAVITY - holding - TANK * (AREA_A - AREA_B)
    speed = edge * math.sqrt(surplus / (AREA_A**3 + AREA_B**3))
    # the turbulent root is smoothed: (1 + (1 kPa / drop)^2)^(1/4), at the rod side's drop of 8e4 Pa 4e-5
    assert before.position - after.position == pytest.approx(speed * 1.0, rel=1e-3)
    assert friction == pytest.approx(holding * (before.position - after.position), rel=1e-6)
    assert after.force == pytest.approx(100 * GRAVITY, rel=1e-6)
    assert after.pressure_piston_side * AREA_A - after.pressure_rod_side * AREA_B + holding == pytest.approx(
        after.force, rel=1e-4
    )


def test_overloaded_brake_slips_under_gravity(parts):
    # edges a hundred times as wide: hardly any resistance of the oil
    holding = 600.0
    simulation = hoist(parts, braked(holding), 'spool_diameter="6e-2" spool_travel="2e-3"')
    simulation.step(40)
    edge = 0.62 * math.pi * 6e-2 * 2e-3 * math.sqrt(2 / 850) * 0.05
    surplus = 100 * GRAVITY - holding - TANK * (AREA_A - AREA_B)
    drag = (AREA_A**3 + AREA_B**3) / edge**2
    terminal = math.sqrt(surplus / drag)
    speed = terminal * math.tanh(math.sqrt(surplus * drag) / 102.0 * 0.04)
    assert speed < 0.7 * terminal, "it should still accelerate"
    # first order in the sub-step of 0.1 ms, and the smoothed root
    assert -simulation.joint_velocity["slide"] == pytest.approx(speed, rel=5e-3)


@pytest.mark.parametrize("command, end", [(1.0, 0.5), (-1.0, 0.0)])
@pytest.mark.parametrize("brake", ["", 'holding_brake="true"'])
def test_braked_cylinder_at_the_ends_of_the_stroke(parts, brake, command, end):
    simulation = arm(parts, brake)
    simulation.command["valve"] = command
    for _ in range(4000):
        simulation.step()
        assert -1e-12 <= simulation.cylinder["piston"].position <= 0.5 + 1e-12
    blocked = simulation.cylinder["piston"]
    assert blocked.position == pytest.approx(end, abs=1e-9)
    assert blocked.velocity == pytest.approx(0.0, abs=1e-6)
    pressures = (SUPPLY, TANK) if command > 0 else (TANK, SUPPLY)
    assert (blocked.pressure_piston_side, blocked.pressure_rod_side) == pytest.approx(pressures, rel=1e-3)
    # oil, stop and brake together carry the arm and nothing else
    assert blocked.force * lever(simulation) == pytest.approx(gravity_torque(simulation), rel=1e-5)
    angle = simulation.joint_position["hinge"]
    length = math.hypot(0.5 * math.cos(angle) - 0.2, 0.5 * math.sin(angle) + 0.6)
    assert length - 0.55 == pytest.approx(end, abs=1e-6)


def contact_torque(simulation):
    """Torque of the contacts about the hinge [N m], positive when it raises the arm."""
    return sum(
        contact.point_world[0] * contact.force_world[2] - contact.point_world[2] * contact.force_world[0]
        for contact in simulation.contacts()
    )


def test_braked_arm_pressed_on_the_ground_is_in_balance(parts):
    simulation = arm(parts, world=World(ground=Ground(point=(0.0, 0.0, -0.1))))
    simulation.command["valve"] = -1.0
    simulation.step(3000)
    pressed = simulation.cylinder["piston"]
    push = AREA_A * pressed.pressure_piston_side - AREA_B * pressed.pressure_rod_side
    assert push == pytest.approx(AREA_A * TANK - AREA_B * SUPPLY, rel=1e-3)
    assert pressed.force == pytest.approx(push, rel=1e-6)
    assert not pressed.brake_engaged
    torque = pressed.force * lever(simulation) + contact_torque(simulation)
    assert torque == pytest.approx(gravity_torque(simulation), abs=1e-3)
    press = simulation.contacts()[0].force_world[2]
    assert press > 2000.0
    # at neutral the oil flows to the tank and the brake keeps its load; no force grows
    simulation.command["valve"] = 0.0
    simulation.step(500)
    held, first = simulation.cylinder["piston"], simulation.contacts()[0].force_world[2]
    simulation.step(10_000)
    assert held.brake_engaged
    assert 0.0 < first < 1.01 * press
    assert simulation.contacts()[0].force_world[2] == pytest.approx(first, rel=1e-3)
    assert simulation.cylinder["piston"].position == pytest.approx(held.position, abs=1e-6)
    torque = simulation.cylinder["piston"].force * lever(simulation) + contact_torque(simulation)
    assert torque == pytest.approx(gravity_torque(simulation), abs=1e-3)
    # the arm leaves the ground again
    simulation.command["valve"] = 1.0
    simulation.step(500)
    assert simulation.contacts() == []


def test_holding_brake_carries_the_oil_force_as_well(parts):
    # closed centre; 18 MPa push with 22.6 kN against a load of 0.98 kN: 15 kN hold the load, but not the oil
    holding = 15_000.0
    simulation = hoist(parts, braked(holding), 'spool_diameter="6e-3" spool_travel="2e-4" tank_underlap="-0.05"')
    simulation.step(20)
    start = simulation.cylinder["piston"].position
    simulation.circuit.set_line_pressure("valve.a", 18e6)
    simulation.step(200)
    now = simulation.cylinder["piston"]
    push = now.pressure_piston_side * AREA_A - now.pressure_rod_side * AREA_B
    assert now.position > start + 1e-3
    assert push - 100 * GRAVITY < holding * 1.001
    assert abs(simulation.joint_velocity["slide"]) < 1e-6


LOAD_HOLDING = """<line name="load" volume="1e-5"/>
    <counterbalance_valve name="holding" load="load" valve="valve.a" pilot="valve.b" pressure="12e6" pilot_ratio="3"
                          rated_flow="1e-3"/>"""
WAYS = {
    "counterbalance valve": LOAD_HOLDING,
    "hose": '<hose name="hose" inlet="valve.a" outlet="load" length="2" diameter="0.012"/>',
    "orifice and check valve": """<line name="load" volume="1e-5"/>
        <orifice name="out" inlet="load" outlet="valve.a" diameter="2e-3"/>
        <check_valve name="in" inlet="valve.a" outlet="load" rated_flow="1e-3"/>""",
    "hose before a counterbalance valve": LOAD_HOLDING.replace('valve="valve.a"', 'valve="hose"')
    + '<hose name="hose" inlet="valve.a" outlet="hose" length="2" diameter="0.012"/>',
}
HOIST = """<cylinder name="lift" piston_side="load" {} bore="0.04" rod_diameter="0.025" stroke="0.5"
    retracted_length="0.6" piston_mass="2" dead_volume_piston_side="1e-4" holding_brake="true">
    <barrel link="world"/><rod link="load"/></cylinder>"""
LIFTS = {
    "cylinder": HOIST.format('rod_side="other" dead_volume_rod_side="1e-4"'),
    "single-acting cylinder": HOIST.format(""),
    "motor": """<hydraulic_motor name="lift" joint="slide" a="load" b="other" displacement="1e-3" dead_volume="1e-4"
        leakage="1e-11" holding_brake="true"/>""",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", LIFTS)
def test_holding_brake_follows_the_feeding_valve_through_other_elements(parts, kind, way):
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("load", 100),
        parts.joint("slide", "prismatic", "world", "load", xyz=(0, 0, 0.9)),
        extension='<fluid/><pump supply_pressure="10e6"/><line name="other" volume="1e-4"/>'
        '<hose name="return" inlet="other" outlet="valve.b" length="2" diameter="0.012"/>'
        '<directional_valve name="valve" spool_diameter="6e-3" spool_travel="2e-4" tank_underlap="0.05"/>'
        + WAYS[way]
        + LIFTS[kind],
    )
    simulation = Simulation(machine, AIR)

    def lift():
        return simulation.circuit.hydraulic_motor["lift"] if kind == "motor" else simulation.cylinder["lift"]

    # without the brake the load sinks, over the open tank edge or until its line has its pressure
    start = simulation.joint_position["slide"]
    simulation.step(1000)
    assert lift().brake_engaged
    assert simulation.joint_position["slide"] == pytest.approx(start, abs=1e-6)
    simulation.command["valve"] = 0.6
    simulation.step(500)
    raised = simulation.joint_position["slide"]
    assert not lift().brake_engaged
    assert lift().spool_position == pytest.approx(0.6, rel=1e-2)
    assert raised > start + 0.01
    simulation.command["valve"] = 0.0
    simulation.step(500)
    assert lift().brake_engaged
    stopped = simulation.joint_position["slide"]
    simulation.step(1000)
    assert simulation.joint_position["slide"] == pytest.approx(stopped, abs=1e-6)


def test_braked_twin_cylinders_share_the_load(parts):
    twins = parts.machine(
        '<link name="world"/>',
        parts.link("load", 100),
        parts.joint("slide", "prismatic", "world", "load", xyz=(0, 0, 0.9)),
        extension="".join(
            hydraulics(
                braked(10_000.0),
                f'<barrel link="world" xyz="{x} 0 0"/>',
                f'<rod link="load" xyz="{x} 0 0"/>',
                0.5,
                0.6,
            )
            .replace('name="valve"', f'name="valve{number}"')
            .replace('valve="valve"', f'valve="valve{number}"')
            .replace('name="piston"', f'name="piston{number}"')
            .replace("<fluid/>", "<fluid/>" if number == 0 else "")
            .replace(
                f'<pump supply_pressure="{SUPPLY}"/>', f'<pump supply_pressure="{SUPPLY}"/>' if number == 0 else ""
            )
            for number, x in enumerate((-0.2, 0.2))
        ),
    )
    simulation = Simulation(twins, AIR)
    simulation.step(1000)
    forces = [simulation.cylinder[name].force for name in simulation.cylinder]
    assert forces == pytest.approx([50 * GRAVITY] * 2, rel=1e-6)
    assert simulation.joint_position["slide"] == pytest.approx(0.0, abs=1e-6)
