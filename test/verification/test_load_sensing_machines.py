"""Load-sensing circuits of the excavator and the demolition robot under operator commands."""

import math
from dataclasses import replace

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World
from grouser.physics.description.data.contact import SelfCollision
from grouser.physics.hydraulics.actuator_geometry import piston_area, rod_side_area
from grouser.recording.state_hash import state_hash

MACHINES = ("excavator", "demolition_robot")
GRAVITY = 9.81
# Two functions of each machine that are moved together, where the arm is put first, and their commands: the first
# bears the arm's weight, the second is pulled by its own.
PAIRS = {
    "excavator": ({"boom": 0.2, "stick": -1.2}, {"boom_valve": 0.6, "stick_valve": 0.5}),
    "demolition_robot": ({"boom": 0.1, "stick": -1.0, "tool": -0.5}, {"boom_valve": 0.6, "tool_valve": 0.5}),
}
# What loads the pump to its limit of power: a mass on the last link of the arm [kg], and commands.
HEAVY = {
    "excavator": ("bucket_body", 330.0, {"boom_valve": 1.0, "bucket_valve": 0.5}),
    "demolition_robot": ("tool_link", 600.0, {"boom_valve": 1.0, "stick_valve": -1.0}),
}


def held(name, angles=None, gravity=(0.0, 0.0, -GRAVITY), **changes):
    """The machine with its base fixed in the air and parts of its arm at these angles [rad]."""
    machine = shipped_machine(name, base="fixed")
    angles = angles or {}
    placed = [replace(entry, position=angles.get(entry.joint, entry.position)) for entry in machine.initial_positions]
    machine = replace(machine, initial_positions=tuple(placed), self_collision=SelfCollision(False), **changes)
    return Simulation(machine, World(ground=None, gravity=gravity))


def settled(name, angles=None, **changes):
    """The same machine after its oil carries the arm."""
    simulation = held(name, angles, **changes)
    simulation.step(1500)
    return simulation


def supplied_flow(simulation, name, commands, ramp=300, window=200):
    """Mean flow into a moving cylinder [m3/s], from its speed."""
    simulation.command.update(commands)
    simulation.step(ramp)
    before = simulation.cylinder[name].position
    simulation.step(window)
    cylinder = next(cylinder for cylinder in simulation.machine.cylinders if cylinder.name == name)
    moved = simulation.cylinder[name].position - before
    area = piston_area(cylinder) if moved > 0.0 else rod_side_area(cylinder)
    return abs(moved) * area / (window * simulation.step_size)


def flows(name, angles, commands, valves, ramp=300):
    """Flow into the cylinder of each valve when all of `commands` are given [m3/s], and the simulation then."""
    found = {}
    for valve in valves:
        simulation = settled(name, angles)
        found[valve] = supplied_flow(simulation, valve.removesuffix("_valve"), commands, ramp)
    return found, simulation


@pytest.mark.parametrize("name", MACHINES)
def test_two_functions_with_unequal_loads_keep_their_flows(name):
    angles, commands = PAIRS[name]
    alone = {valve: flows(name, angles, {valve: value}, [valve])[0][valve] for valve, value in commands.items()}
    together, simulation = flows(name, angles, commands, commands)
    first, second = commands
    loads = [simulation.circuit.line_pressure[f"{valve.removesuffix('_valve')}.ls"] for valve in commands]
    assert abs(loads[0] - loads[1]) > 2e6
    assert simulation.circuit.pump["pump"].swash < 0.95
    assert together[first] / together[second] == pytest.approx(alone[first] / alone[second], rel=0.05)
    # and each of them by itself: the range of a compensator is 15 % of its margin, half of that in the root
    for valve, flow in alone.items():
        assert together[valve] == pytest.approx(flow, rel=0.075), valve


@pytest.mark.parametrize("name", MACHINES)
def test_heavier_function_slows_down_when_the_pump_saturates(name):
    angles, commands = PAIRS[name]
    first, second = commands
    full = dict.fromkeys([valve.name for valve in settled(name).machine.valves], 1.0)
    alone = {valve: flows(name, angles, {valve: 1.0}, [valve])[0][valve] for valve in commands}
    together, simulation = flows(name, angles, full, commands)
    assert simulation.circuit.pump["pump"].swash > 0.99
    gallery, highest = simulation.circuit.line_pressure["gallery"], simulation.circuit.line_pressure["ls"]
    assert gallery - highest < 0.5 * simulation.machine.pumps[0].margin
    # the margin is lost, and with it the ratio: the flow takes the path of least resistance
    assert together[first] / together[second] < 0.5 * alone[first] / alone[second]


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("command", [0.2, 0.5, 0.8])
def test_pump_keeps_its_margin_above_the_highest_load(name, command):
    simulation = settled(name, PAIRS[name][0])
    simulation.command["boom_valve"] = command
    simulation.step(700)
    description, seen = simulation.machine.pumps[0], []
    for _ in range(50):  # the arm oscillates on its oil: means over half a second
        simulation.step(10)
        pump, highest = simulation.circuit.pump["pump"], simulation.circuit.line_pressure["ls"]
        seen.append((pump.pressure - highest, pump.swash, highest, simulation.circuit.line_pressure["boom_valve.a"]))
    above, swash, highest, load = np.mean(seen, axis=0)
    assert load > 2e6
    assert highest == pytest.approx(load, rel=0.01)
    # its control takes its regulation range from full to no stroke; 5 % of that range for what is left of the bouncing
    expected = description.margin + description.regulation_range * (1.0 - swash)
    assert above == pytest.approx(expected, abs=0.05 * description.regulation_range)


@pytest.mark.parametrize("name", MACHINES)
def test_load_sensing_pump_at_neutral_holds_its_margin_without_flow(name):
    simulation = settled(name)
    simulation.step(1500)
    pump, description = simulation.circuit.pump["pump"], simulation.machine.pumps[0]
    tank = simulation.machine.tanks[0].pressure
    assert simulation.circuit.line_pressure["ls"] == pytest.approx(tank, rel=0.01)
    assert pump.pressure - tank == pytest.approx(description.margin + description.regulation_range, rel=0.02)
    assert pump.swash < 0.02
    assert pump.flow < 1e-3 * description.displacement * description.speed


@pytest.mark.parametrize("name", MACHINES)
def test_pump_stays_within_its_power_limit(name):
    link, mass, commands = HEAVY[name]
    machine = shipped_machine(name)
    links = tuple(
        replace(part, inertial=replace(part.inertial, mass=part.inertial.mass + mass)) if part.name == link else part
        for part in machine.links
    )
    simulation = settled(name, PAIRS[name][0], links=links)
    description, seen = simulation.machine.pumps[0], []
    simulation.command.update(commands)
    simulation.step(600)
    for _ in range(30):
        simulation.step(10)
        pump = simulation.circuit.pump["pump"]
        seen.append((pump.flow * pump.pressure, pump.swash, pump.pressure - simulation.circuit.line_pressure["ls"]))
    power, swash, above = np.array(seen).T
    # 2 %: the swash follows the pressure with a lag of 50 ms; below the limit by what leaks inside of the pump, 5 %
    assert power.max() < 1.02 * description.power_limit
    assert power.min() > 0.92 * description.power_limit
    # it is the limit that takes stroke back: for the load's sake there would be more
    assert swash.min() < 0.97
    assert above.min() < description.margin


@pytest.mark.parametrize("name", MACHINES)
def test_boom_is_held_by_its_load_holding_valve(name):
    simulation = settled(name, PAIRS[name][0])
    start = simulation.joint_position["boom"]
    simulation.step(10_000)
    # nothing leaks behind a seated valve
    assert simulation.joint_position["boom"] == pytest.approx(start, abs=1e-6)
    pressure, tank = simulation.circuit.line_pressure, simulation.machine.tanks[0].pressure
    assert pressure["boom_valve.a"] == pytest.approx(tank, rel=0.01)
    assert pressure["boom.piston"] > 2e6
    # it sinks when commanded to lower
    simulation.command["boom_valve"] = -0.3
    simulation.step(500)
    assert simulation.joint_position["boom"] < start - 0.02


# --- the excavator's motors -----------------------------------------------------------------------------------------


def test_swing_motor_starts_and_stops_smoothly():
    simulation = settled("excavator", {"boom": 0.3, "stick": -1.0})
    relief = next(valve for valve in simulation.machine.relief_valves if valve.name == "swing_relief_a")
    motor = next(motor for motor in simulation.machine.hydraulic_motors if motor.joint == "swing")
    speeds = []
    for command, steps in ((1.0, 4000), (0.0, 2000)):
        simulation.command["swing_valve"] = command
        for _ in range(steps // 10):
            simulation.step(10)
            speeds.append(simulation.joint_velocity["swing"])
        if command:
            inertia = 2.0 * simulation.energy().kinetic / speeds[-1] ** 2
    speeds = np.array(speeds)
    running, stopping = speeds[:400], speeds[400:]
    assert running[-1] == pytest.approx(10 * 2 * math.pi / 60, rel=0.05)
    assert running.max() < 1.25 * running[-1]
    assert running.min() > -1e-3
    # no swing back
    assert stopping.min() > -0.02
    assert abs(stopping[120:]).max() < 1e-3
    # it is the oil that stops it, not the brake: that takes the time that the relief valves need at least
    by_oil = motor.displacement * (relief.pressure + relief.rated_rise) + motor.dry_friction
    stopped = 0.01 * np.argmax(stopping < 0.05 * running[-1])
    assert stopped > inertia * running[-1] / by_oil
    # and oil and brake together are the most that it is accelerated with
    assert np.abs(np.diff(speeds)).max() / 0.01 < (by_oil + motor.holding_torque) / inertia


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_swing_motor_holds_on_a_slope(side):
    slope = math.radians(15)
    gravity = (0.0, side * GRAVITY * math.sin(slope), -GRAVITY * math.cos(slope))
    simulation = settled("excavator", {"boom": 0.3, "stick": -0.8}, gravity=gravity)
    start = simulation.joint_position["swing"]
    assert abs(start) < 1e-3
    simulation.step(5000)
    assert simulation.joint_position["swing"] == pytest.approx(start, abs=1e-5)
    # it is the brake that does: neutral lets it go where the motor's leakage would
    without = tuple(replace(motor, holding_brake=False) for motor in simulation.machine.hydraulic_motors)
    free = settled("excavator", {"boom": 0.3, "stick": -0.8}, gravity=gravity, hydraulic_motors=without)
    start = free.joint_position["swing"]
    free.step(5000)
    assert side * (free.joint_position["swing"] - start) > 1e-3


@pytest.mark.parametrize("name", MACHINES)
def test_snapshot_has_the_length_of_the_sub_steps(name):
    """A restart in the middle of a start of all functions, where the oil needs sub-steps, gives the same bits."""
    simulation = held(name)
    simulation.step(100)
    simulation.command.update(dict.fromkeys((valve.name for valve in simulation.machine.valves), 0.6))
    for _ in range(200):
        simulation.step()
        if simulation.state.hydraulics.first_share[0] < 0.5:
            break
    assert simulation.state.hydraulics.first_share[0] < 0.5
    saved = simulation.snapshot()
    simulation.step(40)
    expected = state_hash(simulation.state)
    simulation.step(37)
    simulation.restore(saved)
    simulation.step(40)
    assert state_hash(simulation.state) == expected
    # another simulation, whose sub-steps were whole steps
    other = held(name)
    other.restore(saved)
    other.step(40)
    assert state_hash(other.state) == expected
