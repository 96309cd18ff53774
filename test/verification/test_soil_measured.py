"""A measured wheel in a simulated soil bin: one soil for the stress integrals and for deformable terrain."""

import math

import pytest

from grouser import Simulation, load_soil
from grouser.physics.description.data.soil import SoilGround
from grouser.physics.description.data.world import Ground, World

# Pavlov and Johnson, CMU robomechanics/3d-terramechanics (MIT licence): a wheel of 58 mm x 50 mm on dry sand at slip
# angle 0 and 10 mm/s, means of three trials. Slip, load [N], drawbar pull [N], sinkage of the rim [mm].
SMOOTH = [
    (0.231181, 24.6214, 0.702886, 17.8778),
    (0.500002, 25.2776, 0.966554, 22.74),
    (0.750185, 23.9959, 0.816105, 25.4407),
]
GROUSERS = [
    (0.209992, 24.685, 1.82449, 18.9171),
    (0.500216, 26.4457, 2.79907, 25.4229),
    (0.749786, 26.5384, 3.39575, 32.5053),
]
ROWS = [("smooth", *row) for row in SMOOTH] + [("grousers", *row) for row in GROUSERS]
# Accuracy of published models of this kind on these data, with separate constants for each wheel: 19 % of the
# sinkage and 5 % of the load.
SINKAGE, PULL = 0.2, 0.06
RADIUS, WIDTH, COUNT = 0.058, 0.05, 30
# The data set gives the height of the grousers and their share of the tip circle, a tenth; not their number.
SURFACE = {
    "smooth": 'friction="0.39"',
    "grousers": f'grousers="{COUNT}" grouser_height="0.005" '
    f'grouser_thickness="{0.1 * 2.0 * math.pi * (RADIUS + 0.005) / COUNT}"',
}
SPEED = 0.01  # [m/s]
# Lowers the wheel in a quarter of a second: when dropped, it would sink deeper than under its load.
LOWERING = '<dynamics damping="300"/>'


def soil_bin(parts, surface, load, level):
    """A wheel on a carriage that is driven along a rail and free to sink."""
    wheel = parts.machine(
        parts.link("world", 1.0),
        parts.link("carriage", 1.0),
        parts.link("slide", load / 9.81 - 0.1),
        parts.link("wheel", 0.1, (0.01, 0.01, 0.01)),
        parts.joint("rail", "prismatic", "world", "carriage", (1, 0, 0)),
        parts.joint("lift", "prismatic", "carriage", "slide", (0, 0, 1), (0, 0, RADIUS), LOWERING),
        parts.joint("spin", "continuous", "slide", "wheel", (0, 1, 0)),
        extension=f'<wheel link="wheel" radius="{RADIUS}" width="{WIDTH}" {SURFACE[surface]}/>'
        '<servo_drive joint="rail" mode="velocity" damping="1e9" effort_limit="1e6"/>'
        '<servo_drive joint="spin" mode="velocity" damping="1e8" effort_limit="1e6"/>',
    )
    ground = Ground(soil=SoilGround((load_soil("cmu_sand"),), level, cell=0.005))
    return Simulation(wheel, World(ground=ground))


@pytest.mark.parametrize("level", ["stress", "deformable"])
@pytest.mark.parametrize(("surface", "slip", "load", "pull", "sinkage"), ROWS)
def test_measured_wheel_in_motion(parts, level, surface, slip, load, pull, sinkage):
    simulation = soil_bin(parts, surface, load, level)
    simulation.command["rail"] = SPEED
    simulation.command["spin"] = SPEED / (1.0 - slip) / RADIUS
    # 10 cm of transient, then the mean over a whole number of grouser spacings of about 35 mm, seven cells
    simulation.step(10000)
    passage = 2.0 * math.pi * RADIUS * (1.0 - slip) / COUNT
    count, depth, force = round(math.ceil(0.035 / passage) * passage / SPEED / 4e-3), 0.0, 0.0
    for _ in range(count):
        simulation.step(4)
        wheel = simulation.wheel["wheel"]
        depth, force = depth + wheel.sinkage / count, force + wheel.drawbar_pull / count
    assert wheel.slip_ratio == pytest.approx(slip, abs=1e-3)
    assert 1e3 * depth == pytest.approx(sinkage, rel=SINKAGE)
    assert force == pytest.approx(pull, abs=PULL * load)
