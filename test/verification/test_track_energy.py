"""Energy of machines on tracks by name: driving, turning on the spot, braking, sliding with locked belts."""

import math

import pytest
from tracked_vehicle import GRAVITY, RADIUS, tracked_vehicle

from grouser import Simulation, World, load_soil
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground

GROUNDS = {"rigid": World(), "sand": World(ground=Ground(soil=SoilGround((load_soil("dry_sand"),))))}
WEIGHT = 20e3
SIDES = ("left", "right")
# What presses on the pads of a track beside its shear.
PRESSED = {"rigid": "pads of track", "sand": "soil pressed by track"}
# Force along the belts that they take to turn [N].
FRICTION = 800.0


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
    """To 1e-3 of what is turned over; all that is lost is lost in the belts and under them."""
    machine = tracked_vehicle(weight=WEIGHT, pretension=2e4, shear=5e-3, track=f'friction="{FRICTION}"')
    simulation = Simulation(machine, GROUNDS[ground])
    simulation.step(500)
    names = {f"{what} {side}" for what in ("friction of belt", PRESSED[ground], "shear under track") for side in SIDES}
    for left, right, duration in ((0.8, 0.8, 1.5), (-0.5, 0.5, 1.5), (0.0, 0.0, 0.8), (-0.6, -0.2, 1.0)):
        kinetic, work, losses, residual = run(simulation, left, right, duration)
        assert set(losses) == names
        assert min(losses[f"shear under track {side}"] for side in SIDES) > 0.0
        # stopped within one step, a belt is held at the end of it by friction of either sign
        way = simulation.step_size * 0.8 if left == right == 0.0 else 0.0
        assert min(losses[f"friction of belt {side}"] for side in SIDES) > -FRICTION * way
        assert abs(residual) < 1e-3 * (abs(kinetic) + work + sum(losses.values()))


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_belts_lose_their_friction_times_the_way_that_they_run(way):
    """Beside a joint with friction of its own, each under its name; the drives give both and what the ground takes."""
    own = "".join(f'<joint_friction joint="{side}_sprocket" law="coulomb" static="40"/>' for side in SIDES)
    machine = tracked_vehicle(weight=WEIGHT, pretension=2e4, shear=5e-3, track=f'friction="{FRICTION}"', extra=own)
    simulation = Simulation(machine, GROUNDS["rigid"])
    run(simulation, 0.5 * way, 0.5 * way, 1.0)
    turned = dict(simulation.joint_position)
    _, work, losses, _ = run(simulation, 0.5 * way, 0.5 * way, 1.0)
    for side in SIDES:
        angle = abs(simulation.joint_position[f"{side}_sprocket"] - turned[f"{side}_sprocket"])
        assert angle * RADIUS == pytest.approx(0.5, rel=1e-3)
        # a step is counted from the middle of the one before
        assert losses[f"friction of belt {side}"] == pytest.approx(FRICTION * RADIUS * angle, rel=1e-3)
        assert losses[f"friction of {side}_sprocket"] == pytest.approx(40.0 * angle, rel=1e-3)
    assert work == pytest.approx(sum(losses.values()), rel=0.01)


def test_pads_take_their_damping_and_soil_its_compaction():
    """Steadily ahead: dampers by which shoes land on rigid ground; on sand Bekker's integral b/(n + 1) k z^(n + 1)."""
    lost = {}
    for ground, world in GROUNDS.items():
        simulation = Simulation(tracked_vehicle(weight=WEIGHT, shear=5e-3), world)
        run(simulation, 0.4, 0.4, 4.0)
        start = simulation.link_pose("base")[0][0]
        _, _, losses, _ = run(simulation, 0.4, 0.4, 2.0)
        way = simulation.link_pose("base")[0][0] - start
        lost[ground] = [losses[f"{PRESSED[ground]} {side}"] / way for side in SIDES]
        if ground == "sand":
            resistance = [simulation.track[side].resistance for side in SIDES]
    assert min(lost["rigid"]) > 0.0
    assert max(lost["rigid"]) < 0.003 * 0.5 * WEIGHT
    # compaction presses on the front arc against the motion, and takes the belt's share of the way as well
    assert lost["sand"] == pytest.approx(resistance, rel=0.1)


def test_locked_belts_turn_the_motion_into_friction_below_them():
    simulation = Simulation(tracked_vehicle(weight=WEIGHT, pretension=2e4, shear=5e-3), World())
    simulation.step(300)
    run(simulation, 2.0, 2.0, 2.0)
    _, _, losses, _ = run(simulation, 0.0, 0.0, 1.0)
    assert max(abs(track.speed) for track in simulation.track.values()) < 1e-3
    assert sum(losses.values()) == pytest.approx(0.5 * WEIGHT / GRAVITY * 2.0**2, rel=0.02)
    left, right = (losses[f"shear under track {side}"] for side in SIDES)
    assert left == pytest.approx(right, rel=1e-6)
    assert math.isclose(left + right, sum(losses.values()), rel_tol=0.01)
