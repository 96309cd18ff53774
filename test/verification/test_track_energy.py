"""Energy of machines on tracks by name: driving, turning on the spot, braking, sliding with locked belts."""

import pytest
from tracked_vehicle import GRAVITY, RADIUS, tracked_vehicle

from grouser import Simulation, World, load_soil
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground

GROUNDS = {"rigid": World(), "sand": World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),))))}
WEIGHT = 20e3
NAMES = {"ground under track left", "ground under track right"}


def run(simulation, left, right, duration):
    """Change of kinetic energy, work, losses by name and residual over a manoeuvre [J]."""
    simulation.command["left_sprocket"], simulation.command["right_sprocket"] = left / RADIUS, right / RADIUS
    before = simulation.energy_balance()
    simulation.step(round(duration / simulation.step_size))
    after = simulation.energy_balance()
    work = sum(abs(after.actuator_work[name] - before.actuator_work.get(name, 0.0)) for name in after.actuator_work)
    losses = {name: after.dissipation[name] - before.dissipation.get(name, 0.0) for name in after.dissipation}
    return after.kinetic - before.kinetic, work, losses, after.residual - before.residual


@pytest.mark.parametrize("ground", GROUNDS)
def test_account_of_a_driven_turning_and_braking_vehicle_closes(ground):
    """To 1e-3 of what is turned over; all that is lost is lost under the tracks."""
    simulation = Simulation(tracked_vehicle(weight=WEIGHT, pretension=2e4, shear=5e-3), GROUNDS[ground])
    simulation.step(500)
    for left, right, duration in ((0.8, 0.8, 1.5), (-0.5, 0.5, 1.5), (0.0, 0.0, 0.8), (-0.6, -0.2, 1.0)):
        kinetic, work, losses, residual = run(simulation, left, right, duration)
        assert set(losses) == NAMES
        assert min(losses.values()) > 0.0
        assert abs(residual) < 1e-3 * (abs(kinetic) + work + sum(losses.values()))


def test_locked_belts_turn_the_motion_into_friction_below_them():
    simulation = Simulation(tracked_vehicle(weight=WEIGHT, pretension=2e4, shear=5e-3), World())
    simulation.step(300)
    run(simulation, 2.0, 2.0, 2.0)
    _, _, losses, _ = run(simulation, 0.0, 0.0, 1.0)
    assert max(abs(track.speed) for track in simulation.track.values()) < 1e-3
    assert sum(losses.values()) == pytest.approx(0.5 * WEIGHT / GRAVITY * 2.0**2, rel=0.02)
    left, right = losses.values()
    assert left == pytest.approx(right, rel=1e-6)
