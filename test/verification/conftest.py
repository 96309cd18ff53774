"""Small machines for the closed forms, and large ones that stand."""

import pytest

from grouser import Simulation
from grouser.physics.description import parse_machine


def link(name, mass, inertia=(1.0, 1.0, 1.0), shape=None, com=(0.0, 0.0, 0.0)):
    """URDF text of a link: mass [kg], principal inertia about the centre of mass [kg m2], collision geometry."""
    ixx, iyy, izz = inertia
    collision = f"<collision><geometry>{shape}</geometry></collision>" if shape else ""
    return (
        f'<link name="{name}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>{collision}</link>'
    )


def joint(name, kind, parent, child, axis=(0, 0, 1), xyz=(0, 0, 0), inside=""):
    """URDF text of a joint."""
    limits = (
        '<limit effort="1e9" velocity="1e9" lower="-1e9" upper="1e9"/>' if kind in ("revolute", "prismatic") else ""
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{limits}{inside}</joint>'
    )


def machine(*parts, extension=""):
    """The machine made of these parts; a link named world fixes its base."""
    return parse_machine(f'<robot name="test">{"".join(parts)}<grouser>{extension}</grouser></robot>', "test.urdf")


class Parts:
    """The three makers, as one fixture."""

    link = staticmethod(link)
    joint = staticmethod(joint)
    machine = staticmethod(machine)


@pytest.fixture
def parts():
    """Makers of URDF text and machines."""
    return Parts


@pytest.fixture(scope="module")
def standing(machine):
    """The test module's machine once it stands; tests take a snapshot of it and put it back."""
    simulation = Simulation(machine)
    simulation.step(500)
    start = simulation.snapshot()

    def stand():
        simulation.restore(start)
        return simulation

    return stand
