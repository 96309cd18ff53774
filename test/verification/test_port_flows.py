"""Flows through lines and ports: by areas and speeds, by the orifice equation, and against the oil that lines store."""

import math
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Member, Simulation, World, combine, load_machine
from grouser.physics.description.elements.hydraulics.circuit import flow_ports
from grouser.physics.hydraulics.oil import pressure_rise
from grouser.runtime.sampling import circuit_groups, sample_circuit

# Share of the pump's flow that is the tolerance of one line's balance: sub-steps end where the pressures are predicted,
# and the speeds of the actuators are those that the mechanism has in the end.
SHARE = 2e-4


@pytest.fixture(scope="module")
def every_element(request):
    """Load-sensing machine with every element, in the middle of its motion, and what it was one step before."""
    file = request.path.parent.parent / "data" / "machines" / "load_sensing.urdf"
    simulation = Simulation(load_machine(file), World(ground=None, gravity=(0.0, 0.0, -9.81)))
    for name in ("boom", "jack", "swing"):
        simulation.command[name] = 0.9
    simulation.step(3000)
    before = dict(simulation.circuit.line_pressure)
    simulation.step()
    return simulation, before


def net_flows(simulation):
    """What leaves each line [m3/s]."""
    net = defaultdict(float)
    for port in flow_ports(simulation.machine):
        net[port.line] += simulation.circuit.port_flow[port.name]
    return net


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
def test_flow_is_area_times_speed_at_steady_speed(scheme):
    simulation = Simulation(shipped_machine("hydraulic_lift"), World(ground=None), scheme=scheme)
    simulation.command["lift_valve"] = 0.5
    simulation.step(400)
    (cylinder,), circuit = simulation.machine.cylinders, simulation.circuit
    speed = simulation.cylinder["lift"].velocity
    assert speed > 0.05
    into = speed * math.pi / 4.0 * cylinder.bore**2
    out = speed * math.pi / 4.0 * (cylinder.bore**2 - cylinder.rod_diameter**2)
    expected = {
        "cylinders/lift/piston_side": into,
        "cylinders/lift/rod_side": -out,
        "valves/lift_valve/a": -into,
        "valves/lift_valve/b": out,
        "valves/lift_valve/supply": into,
        "valves/lift_valve/tank": -out,
        "pumps/supply/outlet": -into,
    }
    assert dict(circuit.port_flow) == pytest.approx(expected, rel=1e-6)
    flows = {line: flow for line, flow in circuit.line_flow.items() if flow}
    assert flows == pytest.approx({"supply": into, "lift_valve.a": into, "lift_valve.b": out, "tank": out}, rel=1e-6)


def test_nothing_flows_at_rest_before_and_after_a_motion():
    simulation = Simulation(shipped_machine("hydraulic_lift"), World(ground=None))
    assert not any(simulation.circuit.port_flow.values())
    simulation.command["lift_valve"] = 0.5
    simulation.step(100)
    simulation.command["lift_valve"] = 0.0
    simulation.step(1000)
    assert max(simulation.circuit.line_flow.values()) < 1e-9
    simulation.command["lift_valve"] = 0.5
    simulation.step(100)
    assert any(simulation.circuit.port_flow.values())
    simulation.reset()
    assert not any(simulation.circuit.port_flow.values())


def test_a_line_gives_what_it_gets_and_what_compression_stores(every_element):
    simulation, before = every_element
    network, lines = simulation.arrays.system.hydraulics.network, simulation.arrays.lines
    given = simulation.circuit.pump["main"].flow
    net, compared = net_flows(simulation), 0
    for line, flow in net.items():
        number = lines.index(line)
        moving = line in ("jack.piston", "boom.piston", "boom.b", "pilot")  # chambers, cushions, an accumulator
        if network.constant[number] or moving:
            continue
        after = simulation.circuit.line_pressure[line]
        room = network.volume[number] / pressure_rise(network.oil, 0.5 * (before[line] + after))
        stored = (room + network.compliance[number]) * (after - before[line]) / simulation.step_size
        assert -flow == pytest.approx(stored, rel=0.02, abs=SHARE * given), line
        compared += 1
    assert compared == 18
    assert net["pilot"] == pytest.approx(0.0, abs=1e-15)


def test_flows_are_those_of_orifice_motor_and_pumps(every_element):
    simulation, _ = every_element
    flow, pressure, machine = simulation.circuit.port_flow, simulation.circuit.line_pressure, simulation.machine
    throttle = next(one for one in machine.orifices if one.name == "swing_throttle")
    drop = pressure["swing.right"] - pressure["swing.b"]
    area = throttle.discharge_coefficient * math.pi / 4.0 * throttle.diameter**2
    expected = area * math.sqrt(2.0 * drop / machine.fluid.density)
    assert flow["orifices/swing_throttle/outlet"] == pytest.approx(expected, rel=5e-3)
    assert flow["orifices/swing_throttle/inlet"] == -flow["orifices/swing_throttle/outlet"]
    # a valve and a motor have one name, and ports of one name
    (motor,), state = machine.hydraulic_motors, simulation.circuit.hydraulic_motor["swing"]
    swept = motor.displacement * state.velocity
    assert swept > 1e-4
    leak = motor.leakage * (state.pressure_a - state.pressure_b) + motor.drain_leakage * state.pressure_a
    leak *= math.exp(0.03 * 10.0)  # the oil is 10 K warmer than at the temperature of the leakages
    assert flow["hydraulic_motors/swing/a"] == pytest.approx(swept + leak, rel=1e-3)
    assert flow["valves/swing/a"] < 0.0 < flow["valves/swing/supply"]
    for pump in machine.pumps:
        assert flow[f"pumps/{pump.name}/outlet"] == pytest.approx(-simulation.circuit.pump[pump.name].flow, rel=1e-12)
    signals = np.abs([flow[f"shuttle_valves/all/{port}"] for port in ("a", "b", "outlet")])
    assert signals[2] == pytest.approx(signals[:2].sum(), rel=1e-9)


def test_actuators_that_share_lines_have_flows_of_their_own(every_element):
    simulation, _ = every_element
    ports = dict(simulation.circuit.port_flow)
    for cylinder in simulation.machine.cylinders:
        state = simulation.cylinder[cylinder.name]
        bore, ring = cylinder.bore**2, cylinder.bore**2 - cylinder.rod_diameter**2
        sides = (("piston_side", bore, 1.0), ("rod_side", ring if cylinder.rod_side else 0.0, -1.0))
        for side, square, sign in sides:
            flow = getattr(state, f"flow_{side}")
            assert flow == ports.get(f"cylinders/{cylinder.name}/{side}", 0.0)
            if not cylinder.cushion_length:  # no leakage either, and no oil behind its ports but in the lines
                swept = sign * math.pi / 4.0 * square * state.velocity
                assert flow == pytest.approx(swept, rel=1e-9, abs=1e-15)
    motor = simulation.circuit.hydraulic_motor["swing"]
    assert (motor.flow_a, motor.flow_b) == (ports["hydraulic_motors/swing/a"], ports["hydraulic_motors/swing/b"])


def test_a_member_of_a_fleet_has_its_own_flows_by_its_own_names():
    lift = shipped_machine("hydraulic_lift")
    fleet = Simulation(combine({"one": Member(lift), "two": Member(lift)}), World(ground=None))
    alone = Simulation(lift, World(ground=None))
    one, two = fleet.part("one"), fleet.part("two")
    two.command["lift_valve"] = alone.command["lift_valve"] = 0.5
    for simulation in (fleet, alone):
        simulation.step(200)
    assert dict(two.circuit.port_flow) == pytest.approx(dict(alone.circuit.port_flow), rel=1e-9)
    assert two.cylinder["lift"].flow_piston_side == two.circuit.port_flow["cylinders/lift/piston_side"] > 0.0
    assert not any(abs(flow) > 1e-9 for flow in one.circuit.line_flow.values())


def test_a_leak_leaves_its_line_until_it_is_mended():
    simulation = Simulation(shipped_machine("hydraulic_lift"), World(ground=None))
    simulation.command["lift_valve"] = 0.5
    simulation.step(300)
    whole = simulation.circuit.line_flow["lift_valve.a"]
    simulation.faults["lift_valve.a"]["burst"] = 1e-6
    simulation.step(300)
    net = net_flows(simulation)["lift_valve.a"]
    assert -net > 0.1 * whole
    simulation.faults["lift_valve.a"]["burst"] = 0.0
    simulation.step(300)
    assert net_flows(simulation)["lift_valve.a"] == pytest.approx(0.0, abs=1e-6 * whole)


def test_the_published_values_have_the_names_of_their_lines_and_ports(every_element):
    """The network has lines that the description does not have: the air at open sides, and cushions."""
    simulation, _ = every_element
    circuit = simulation.circuit
    values = sample_circuit(SimpleNamespace(simulation=simulation))
    groups = circuit_groups(simulation.machine)
    published = {
        group: dict(zip(names, numbers.tolist(), strict=True))
        for (group, names), numbers in zip(groups, values, strict=True)
    }
    assert set(published["pressure"]) < set(circuit.line_pressure)
    for group, view in (("pressure", circuit.line_pressure), ("flow", circuit.line_flow)):
        assert published[group] == {line: view[line] for line in published[group]}
    assert published["port_flow"] == dict(circuit.port_flow)
    assert published["spool_position"] == dict(circuit.spool_position)
