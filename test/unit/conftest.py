"""The machine that the tests of the façade share."""

from pathlib import Path

import pytest

from grouser import Simulation, World, load_machine
from grouser.physics.description.data.pose import Pose


@pytest.fixture(scope="session")
def crane():
    """A small crane: base on the ground, swing, boom with cylinder, spinner, gripper."""
    return load_machine(Path(__file__).parent.parent / "data" / "machines" / "small_crane.urdf")


@pytest.fixture
def simulation(crane):
    """The crane where it stands on the ground."""
    return Simulation(crane, World(spawn=Pose((0.0, 0.0, 0.1))))
