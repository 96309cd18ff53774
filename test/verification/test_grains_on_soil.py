"""Grains on soft ground: sinkage by Bekker's law over the cap, ruts, heaps, and a rover among pebbles on sand."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from shipped import shipped_machine
from uncompiled import uncompiled

import grouser
from grouser.physics.description import parse_machine
from grouser.physics.description.data.granular import GrainMaterial, Surface
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground
from grouser.physics.description.world.reader import parse_world
from grouser.physics.granular.arrays import State, System, Workspace, make_state, make_workspace
from grouser.physics.granular.bodies import Boundary, SoilSurface
from grouser.physics.granular.boundaries import make_boundaries
from grouser.physics.granular.pairs import PairSurfaces, make_pairs
from grouser.physics.granular.soft_ground import add_soil_force
from grouser.physics.soil.bed import SoilBed
from grouser.physics.soil.tiles import LEVEL, SIDE, SURFACE, TILE
from grouser.program import CommandProgram, TimedCommand
from grouser.trials.playing import play

SAND = grouser.load_soil("dry_sand")
GRAVITY = 9.81
# The steel sphere [m, kg].
RADIUS = 0.025
MASS = 7800.0 * 4.0 / 3.0 * math.pi * RADIUS**3


class Sphere(NamedTuple):
    """A steel sphere of 50 mm on sand, whose laws run uncompiled."""

    bed: SoilBed
    system: System
    state: State
    work: Workspace

    def press(self, step: float) -> np.ndarray:
        """Force of the sand, which yields by a step [N]."""
        self.work.force[0], self.work.torque[0] = 0.0, 0.0
        arrays = self.bed.ground.soils, self.bed.state, self.work, step
        uncompiled(add_soil_force)(self.system, 0, self.state, 0, 0, *arrays)
        return self.work.force[0, :3].copy()

    def step(self, step: float) -> None:
        """Leapfrog under its weight."""
        state, force = self.state, self.press(step)
        state.velocity[0, :3] += step * (force / MASS - [0.0, 0.0, GRAVITY])
        state.spin[0, :3] += step * self.work.torque[0, :3] * state.spin[0, 3]
        state.position[0, :3] += step * state.velocity[0, :3]

    @property
    def sinkage(self) -> float:
        return RADIUS - self.state.position[0, 2]

    @property
    def energy(self) -> float:
        """Kinetic, and of the weight [J]."""
        moving, turning = (float(rates @ rates) for rates in (self.state.velocity[0, :3], self.state.spin[0, :3]))
        return 0.5 * MASS * moving + 0.5 * turning / self.state.spin[0, 3] - MASS * GRAVITY * self.sinkage


def sphere(cell: float, friction: float = 0.5) -> Sphere:
    bed = SoilBed(Ground(soil=SoilGround((SAND,), cell=cell)))
    bed.pour(0.0, (-0.1, 0.4), (-0.1, 0.1))
    surface = Surface(restitution=0.3, friction=friction)
    pairs = make_pairs(PairSurfaces([GrainMaterial("steel", 1e8, density=7800.0)], {}, surface))
    boundaries = make_boundaries([Boundary("ground", [SoilSurface("steel")])], ["steel"], RADIUS)
    system = System(pairs, boundaries, np.array([0.0, 0.0, -GRAVITY]), 0.01, np.array([RADIUS]), soil_cell=cell)
    state = make_state(system, 1)
    state.number[0] = state.boundary_start[1] = 1
    # the place has no symmetry with the cells
    state.position[0] = 0.001, 0.0017, RADIUS, RADIUS
    state.velocity[0, 3], state.spin[0, 3] = 1.0 / MASS, 2.5 / (MASS * RADIUS**2)
    return Sphere(bed, system, state, make_workspace(system, state))


def cap_force(depth: float) -> float:
    """Bekker's law over a cap in closed form: the integral of K (z - s)^n over its area, K by the radius of the cap."""
    n, width = SAND.exponent, math.sqrt(depth * (2.0 * RADIUS - depth))
    stiffness = SAND.cohesive_modulus / width + SAND.frictional_modulus
    parts = (RADIUS - depth) * depth ** (n + 1.0) / (n + 1.0) + depth ** (n + 2.0) / (n + 2.0)
    return 2.0 * math.pi * stiffness * parts


def test_force_at_a_depth_is_that_of_the_cap():
    """The sum over cells of a fifth of the radius is as good as a midpoint rule: 1.5 % from 6 mm on."""
    pressed = sphere(0.005)
    for depth in (0.006, 0.008, 0.01, 0.012):
        pressed.state.position[0, 2] = RADIUS - depth
        force = pressed.press(1e-4)
        assert force[2] == pytest.approx(cap_force(depth), rel=0.015)
        assert np.abs(force[:2]).max() < 0.02 * force[2]
    # it was as deep before: the soil is loaded to the same force, and one that lifts off leaves its print
    assert pressed.press(1e-4)[2] == pytest.approx(cap_force(0.012), rel=0.015)
    pressed.state.position[0, 2] = RADIUS - 0.011
    assert pressed.press(1e-4)[2] == 0.0
    print_depth = -pressed.bed.heights((0.0, 0.0), (0.0, 0.0))[0, 0]
    assert 0.011 < print_depth < 0.012


def test_sphere_let_go_sinks_as_the_work_says_and_stays():
    """All of the way down yields, and yielding is not damped: the greatest depth is where m g z is the work."""
    falling = sphere(0.005)
    depth = brentq(lambda z: quad(cap_force, 0.0, z)[0] - MASS * GRAVITY * z, 1e-4, 0.9 * RADIUS)
    sinkage = []
    for _ in range(700):
        falling.step(3e-4)
        sinkage.append(falling.sinkage)
    assert max(sinkage) == pytest.approx(depth, rel=5e-3)
    assert np.ptp(sinkage[-200:]) < 1e-6
    assert np.abs(falling.state.velocity[0, :3]).max() < 1e-3
    # the elastic rebound from the yield force to the weight
    assert depth - sinkage[-1] < 2.0 * (cap_force(depth) - MASS * GRAVITY) / (SAND.unloading_stiffness * math.pi * 2e-4)
    assert falling.bed.mass == pytest.approx(0.0, abs=1e-12)


def test_rolling_sphere_stops_in_its_rut():
    rolling = sphere(0.0125, friction=0.6)
    rolling.state.velocity[0, 0], rolling.state.spin[0, 1] = 0.6, 0.6 / RADIUS
    # what the soil can give back: the elastic energy of its greatest load
    elastic = cap_force(0.6 * RADIUS) ** 2 / (2.0 * SAND.unloading_stiffness * 0.0125**2)
    least = rolling.energy
    for _ in range(4000):
        rolling.step(3e-4)
        assert rolling.energy < least + elastic
        least = min(least, rolling.energy)
    way = rolling.state.position[0, 0]
    assert 0.03 < way < 0.3
    assert np.abs(rolling.state.velocity[0, :3]).max() < 0.02
    heights = rolling.bed.heights((-0.0125, 0.4), (0.0, 0.0))[:, 0]
    rut = heights[: round(way / 0.0125)]
    assert rut[2:].max() < -1e-3
    assert heights[round((way + 2.0 * RADIUS) / 0.0125) :].max() == 0.0
    assert rolling.bed.mass == pytest.approx(0.0, abs=1e-12)


POST = """<robot name="post"><link name="world"/><link name="post"/>
  <joint name="weld" type="fixed"><parent link="world"/><child link="post"/></joint></robot>"""
FIELD = """
ground: {{height: 0.0, soil: {{type: dry_sand, cell: {cell}}}}}
granular:
  materials: {{pebble: {{youngs_modulus: 1.0e6, density: 2650}}}}
  surface: {{restitution: 0.3, friction: 0.6, rolling_friction: 0.1, twisting_friction: 0.1}}
  settle: {settle}
  fills:
    field: {{material: pebble, box: {box}, xyz: {xyz}, radius: [{least}, 0.03], count: {count}, seed: 2}}
"""


def field(**changes) -> grouser.World:
    given = {
        "cell": 0.0125,
        "settle": 0.0,
        "box": [0.15, 0.15, 0.4],
        "xyz": [0.0, 0.0, 0.2],
        "least": 0.025,
        "count": 12,
    }
    return parse_world(FIELD.format(**given | changes), "field.yaml")


@pytest.fixture(scope="module")
def heap() -> grouser.Simulation:
    """Pebbles above sand."""
    return grouser.Simulation(parse_machine(POST, "post.urdf"), field())


def _energy(simulation: grouser.Simulation) -> float:
    """Kinetic energy of the grains, that of their weight, and that of their normal springs (Hertz) [J]."""
    grains, (first, second) = simulation.grains, np.triu_indices(len(simulation.grains), 1)
    moving = (grains.velocity**2).sum(axis=1) + 0.4 * grains.radius**2 * (grains.spin**2).sum(axis=1)
    apart = np.linalg.norm(grains.position[first] - grains.position[second], axis=1)
    one, other = grains.radius[first], grains.radius[second]
    overlap = np.maximum(one + other - apart, 0.0)
    modulus = 0.5 * 1e6 / (1.0 - 0.25**2)
    springs = 8.0 / 15.0 * modulus * np.sqrt(one * other / (one + other)) * overlap**2.5
    return float(grains.mass @ (0.5 * moving + GRAVITY * grains.position[:, 2]) + springs.sum())


def _bits(simulation: grouser.Simulation) -> list[bytes]:
    grains, soil = simulation.grains, simulation.state.soil
    return [one.tobytes() for one in (grains.position, grains.velocity, grains.spin, soil.tile_place, soil.soil_cell)]


def test_heap_on_sand_comes_to_rest(heap):
    heap.reset()
    weight, world = heap.grains.mass.sum() * GRAVITY, heap._engine.workspace.granular.grains.impulse
    energies, compared = [], 0
    for _ in range(80):
        before = heap.grains.momentum()
        heap.step(1)
        gained = heap.grains.momentum()[:3] - before[:3]
        if not heap.grains.asleep.any():
            # what the grains get is what the ground gets
            assert gained + world[0, :3] == pytest.approx([0.0, 0.0, -0.001 * weight], abs=1e-12)
            compared += 1
        heap.step(29)
        energies.append(_energy(heap))
    assert compared > 20
    # what the soil gives back at most is the elastic energy below a resting pebble, (m g)^2/(2 k), 1e-5 J
    assert np.diff(energies).max() < 12 * 1e-5
    assert heap.grains.asleep.all()
    lowest = heap.grains.position[:, 2] - heap.grains.radius
    assert -0.03 < lowest.min() < -0.002
    apart = np.linalg.norm(heap.grains.position[:, None] - heap.grains.position, axis=2)
    touching = apart < heap.grains.radius[:, None] + heap.grains.radius
    alone = touching.sum(axis=1) == 1
    assert alone.any()
    assert heap.grains.load[alone] == pytest.approx(heap.grains.mass[alone] * GRAVITY, rel=2e-3)
    assert abs(heap.soil_balance().field) < 1e-9


def test_restart_on_soil_has_the_same_bits(heap):
    heap.reset()
    heap.step(250)
    saved = heap.snapshot()
    heap.step(200)
    after = _bits(heap)
    heap.restore(saved)
    heap.step(77)
    heap.step(123)
    assert _bits(heap) == after


def test_sleeping_grain_wakes_when_its_ground_sinks(heap):
    heap.reset()
    heap.step(2400)
    assert heap.grains.asleep.all()
    layers = heap.state.soil
    for tile in range(int(layers.tile_count[0])):
        for layer in (LEVEL, SURFACE):
            begin = tile * TILE + layer
            layers.soil_cell[begin : begin + SIDE * SIDE] -= 0.01
    height = heap.grains.position[:, 2].mean()
    heap.resume(heap.state)
    heap.step(500)
    assert heap.grains.position[:, 2].mean() == pytest.approx(height - 0.01, abs=3e-3)


def test_rover_crosses_pebbles_on_sand():
    """The wheels of its left side press pebbles into the sand."""
    world = field(cell=0.01, settle=1.0, box=[0.7, 0.2, 0.07], xyz=[1.1, 0.51, 0.035], least=0.02, count=24)
    simulation = grouser.Simulation(shipped_machine("rover"), world)
    simulation.step(300)
    before = simulation.grains.position
    program = CommandProgram([TimedCommand(0.0, "twist.x", 0.4, 0.5, "twist")])
    play(simulation, program, 5000)
    after = simulation.grains.position
    assert simulation.base_pose()[0][0] > 1.2
    assert (after[:, 2] < before[:, 2] - 0.01).sum() >= 12
    # as deep as the wheels stand on them, and no deeper than they are thick
    assert (after[:, 2] > -2.0 * simulation.grains.radius).all()
    # none is thrown: no faster than the rover, which still drives
    assert np.linalg.norm(simulation.grains.velocity, axis=1).max() < 0.4
    assert abs(simulation.soil_balance().field) < 1e-9


def test_grains_that_cells_do_not_resolve_are_refused():
    with pytest.raises(grouser.MachineError, match=r"radius 0.025 m is not at least two cells"):
        field(cell=0.02)
