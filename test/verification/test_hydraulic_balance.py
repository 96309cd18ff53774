"""Energy balance of whole circuits: pump work equals work, throttling, leakage and compression."""

import numpy as np
import pytest
from shipped import shipped_machine

from grouser import Simulation, World, load_machine

# Tolerance, as a share of the energy from pumps and supplies over a work cycle.
SHARE = 1e-3


def work_cycle(simulation, commands, seconds=0.5):
    """Each valve forth and back in turn, then all together; then at rest."""
    for command in commands:
        for sign in (1.0, -1.0):
            simulation.command[command] = sign * commands[command]
            simulation.step(round(seconds / simulation.step_size))
            simulation.command[command] = 0.0
    for command, size in commands.items():
        simulation.command[command] = 0.5 * size
    simulation.step(round(seconds / simulation.step_size))
    for command in commands:
        simulation.command[command] = 0.0
    simulation.step(round(seconds / simulation.step_size))


def check(simulation):
    balance = simulation.hydraulic_balance()
    totals = balance.totals()
    given = totals["pump_work"] + totals["supplied"]
    parts = ("actuator_work", "throttling", "leakage", "compression")
    assert given - sum(totals[part] for part in parts) == pytest.approx(totals["residual"], abs=1e-9 * abs(given))
    assert given > 100.0
    assert abs(totals["residual"]) < SHARE * given
    return balance


@pytest.mark.parametrize("name, step", [("excavator", 1e-3), ("excavator", 2e-3), ("demolition_robot", 1e-3)])
def test_hydraulic_balance_of_machines_over_a_work_cycle(name, step):
    simulation = Simulation(shipped_machine(name), World(), step=step)
    work_cycle(simulation, {valve.name: 0.8 for valve in simulation.machine.valves})
    balance = check(simulation)
    assert min(balance.throttling.values()) > -1e-9 * balance.totals()["throttling"]


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_hydraulic_balance_of_every_element_over_a_work_cycle(request, step):
    file = request.path.parent.parent / "data" / "machines" / "load_sensing.urdf"
    simulation = Simulation(load_machine(file), World(ground=None, gravity=(0.0, 0.0, -9.81)), step=step)
    work_cycle(simulation, dict.fromkeys(("boom", "jack", "swing"), 0.9))
    balance = check(simulation)
    assert set(balance.pump_work) == {"main", "charge"}
    assert balance.leakage["main"] > 0.0
    assert balance.leakage["boom_left"] > 0.0


@pytest.mark.parametrize("scheme", ["implicit", "semi_implicit"])
def test_hydraulic_balance_of_the_crane(scheme):
    simulation = Simulation(shipped_machine("loader_crane"), World(ground=None), scheme=scheme)
    work_cycle(simulation, {"lift_valve": 0.6})
    balance = check(simulation)
    assert balance.leakage == {}
    assert set(balance.friction) == set(balance.actuator_work) == {"lift"}


def test_throttling_never_gives_energy():
    """Rough commands: loads above the pressure of the saturated pump push oil back through the compensators.

    A flow that turns round in a sub-step may count against its drop by the tolerance of the pressures, 2e-3 of them:
    1e-4 of all throttling is left for that. Implicit slopes that feed a line against its pressure gave 2e-3.
    """
    simulation = Simulation(shipped_machine("excavator"))
    random, valves = np.random.default_rng(0), simulation.command.valves
    lost, given = simulation.state.hydraulics.flow_element_loss, 0.0
    for _ in range(75):
        simulation.command.update(dict(zip(valves, random.uniform(-1.0, 1.0, len(valves)), strict=True)))
        for _ in range(20):
            before = lost.copy()
            simulation.step(1)
            given -= np.minimum(lost - before, 0.0).sum()
    assert given < 1e-4 * lost.sum()
