"""Impacts: restitution, momentum, energy."""

import numpy as np
import pytest
from loose_bodies import loose, place, principal_inertia, solid, spin_of, velocity_of

from grouser import Simulation, World
from grouser.physics.base import spatial
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, Sphere
from grouser.physics.description.data.world import Ground, Heightfield, Obstacle

RADIUS = 0.1
FREE_SPACE = World(gravity=(0.0, 0.0, 0.0), ground=None)


def balls(*masses, **material):
    """Equal balls of given masses and one material."""
    links = [solid(f"ball{k}", Sphere(RADIUS), mass) for k, mass in enumerate(masses)]
    return loose(*links, contacts=tuple(ContactMaterial(link.name, **material) for link in links))


def ball_above(what, restitution):
    """A ball over something flat without restitution of its own."""
    machine = balls(2.0, restitution=restitution)
    if what == "plane":
        return Simulation(machine)
    if what == "field":
        return Simulation(machine, World(ground=Ground(heightfield=Heightfield(np.zeros((9, 9)), 0.1, (-0.4, -0.4)))))
    slab = Obstacle("slab", Box((2.0, 2.0, 0.2)), Pose((0.0, 0.0, -0.1)))
    return Simulation(machine, World(ground=None, obstacles=(slab,)))


@pytest.mark.parametrize("what", ["plane", "field", "obstacle"])
@pytest.mark.parametrize("restitution", [0.3, 0.6, 0.9])
def test_ball_rebounds_to_its_height_times_restitution_squared(what, restitution):
    simulation = ball_above(what, restitution)
    drop = 0.5
    place(simulation, 0, (0.0, 0.0, RADIUS + drop))
    speeds, heights = [], []
    for _ in range(800):
        simulation.step()
        speeds.append(velocity_of(simulation, 0)[2])
        heights.append(simulation.link_pose("ball0")[0][2] - RADIUS)
    impact = next(k for k in range(len(speeds) - 1) if speeds[k + 1] > 0.0 > speeds[k])
    # the step of the impact ends with -e times the speed of its start; gravity within it: g h of 3 m/s
    assert speeds[impact + 1] == pytest.approx(-restitution * speeds[impact], rel=0.01)
    # e^2 h, and the error of the first-order steps: v h of 3 mm at the impact
    assert max(heights[impact + 1 :]) == pytest.approx(restitution**2 * drop, abs=4e-3)


@pytest.mark.parametrize("mass", [1.0, 3.0])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_two_balls_separate_by_their_restitution(restitution, mass):
    simulation = Simulation(balls(1.0, mass, restitution=restitution, friction=0.0), FREE_SPACE)
    # not along the axes of the world
    along = np.array([2.0, -1.0, 2.0]) / 3.0
    place(simulation, 0, -0.15 * along, linear=1.3 * along)
    place(simulation, 1, 0.15 * along, linear=-0.7 * along)
    simulation.step(200)
    first, second = (velocity_of(simulation, body) @ along for body in (0, 1))
    # the solver's tolerance for one impact, 1e-6 m/s
    assert second - first == pytest.approx(restitution * 2.0, abs=2e-6)
    assert first + mass * second == pytest.approx(1.3 - 0.7 * mass, abs=1e-12)


def test_newtons_cradle_of_two_balls():
    simulation = Simulation(balls(1.0, 1.0, restitution=1.0, friction=0.0), FREE_SPACE)
    place(simulation, 0, (0.0, 0.0, 0.0), linear=(1.0, 0.0, 0.0))
    place(simulation, 1, (0.35, 0.0, 0.0))
    simulation.step(300)
    # the solver's tolerance, 1e-6 m/s
    assert velocity_of(simulation, 0) == pytest.approx([0.0, 0.0, 0.0], abs=2e-6)
    assert velocity_of(simulation, 1) == pytest.approx([1.0, 0.0, 0.0], abs=2e-6)


def test_newtons_cradle_of_three_balls():
    # with a gap between the balls: the impacts are one after the other
    simulation = Simulation(balls(1.0, 1.0, 1.0, restitution=1.0, friction=0.0), FREE_SPACE)
    for body, (x, speed) in enumerate(((0.0, 1.0), (0.3, 0.0), (0.52, 0.0))):
        place(simulation, body, (x, 0.0, 0.0), linear=(speed, 0.0, 0.0))
    simulation.step(400)
    for body, speed in enumerate((0.0, 0.0, 1.0)):
        # the solver's tolerance in each of two impacts
        assert velocity_of(simulation, body)[0] == pytest.approx(speed, abs=3e-6)


def momentum(simulation, geometries, masses, start):
    """Linear momentum, angular momentum about the world's origin and kinetic energy of free bodies.

    The bodies are in the poses `start`: impulses keep the momenta there, and lone bodies move on with them.
    """
    linear, angular, energy = np.zeros(3), np.zeros(3), 0.0
    for body, (geometry, mass) in enumerate(zip(geometries, masses, strict=True)):
        principal = np.diag(principal_inertia(geometry, mass))
        now, before = (spatial.matrix(q[7 * body + 3 : 7 * body + 7]) for q in (simulation.state.q, start))
        v, spin = velocity_of(simulation, body), now @ principal @ now.T @ spin_of(simulation, body)
        linear += mass * v
        angular += np.cross(start[7 * body : 7 * body + 3], mass * v) + spin
        energy += 0.5 * (mass * v @ v + spin @ before @ np.linalg.inv(principal) @ before.T @ spin)
    return linear, angular, energy


def cloud(seed, friction, restitution):
    """Bodies of all kinds that fly towards each other in free space."""
    random = np.random.default_rng(seed)
    geometries = [Sphere(0.12), Box((0.2, 0.25, 0.3)), Cylinder(0.1, 0.3), Capsule(0.08, 0.2), Sphere(0.15)]
    geometries += [Box((0.3, 0.15, 0.2))]
    masses = random.uniform(0.5, 5.0, len(geometries))
    links = [solid(f"b{k}", *pair) for k, pair in enumerate(zip(geometries, masses, strict=True))]
    material = [ContactMaterial(link.name, friction=friction, restitution=restitution) for link in links]
    simulation = Simulation(loose(*links, contacts=tuple(material)), FREE_SPACE)
    for body in range(len(links)):
        at = 0.45 * np.array([(-1) ** body, (-1) ** (body // 2), body / 2.5 - 1.0])
        turn = random.normal(size=4)
        speed = -2.0 * at + random.uniform(-0.3, 0.3, 3)
        place(simulation, body, at, turn / np.linalg.norm(turn), speed, random.uniform(-3.0, 3.0, 3))
    return simulation, geometries, masses


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("friction, restitution", [(0.0, 0.0), (0.6, 0.0), (0.0, 1.0), (0.6, 1.0), (0.6, 0.5)])
def test_collisions_keep_momentum_and_add_no_energy(seed, friction, restitution):
    simulation, geometries, masses = cloud(seed, friction, restitution)
    hits = 0
    for _ in range(500):
        start = simulation.state.q.copy()
        linear, angular, energy = momentum(simulation, geometries, masses, start)
        simulation.step()
        hits += any(np.any(contact.force_world) for contact in simulation.contacts())
        new_linear, new_angular, new_energy = momentum(simulation, geometries, masses, start)
        # round-off of momenta of up to 30 N s and 20 N m s
        assert new_linear == pytest.approx(linear, abs=1e-12)
        assert new_angular == pytest.approx(angular, abs=1e-12)
        # the solver's residual is 1e-6 m/s at contacts with impulses of up to 10 N s
        assert new_energy <= energy + 1e-5
    assert hits > 3
