"""Strain gauges and curvature of flexible links, in the simulation and on topics."""

import numpy as np
import pytest

import grouser
from grouser import Member, Simulation, World
from grouser.physics.base.errors import ParameterError
from grouser.runtime.sampling import flexible_groups
from grouser.runtime.streams import take_sample

LENGTH, WIDTH, HEIGHT, MODULUS, FORCE = 2.0, 0.1, 0.02, 7e10, 20.0 * 9.81
URDF = f"""<robot name="r"><link name="world"/><link name="beam"/>
  <link name="load"><inertial><mass value="20"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="clamp" type="fixed"><parent link="world"/><child link="beam"/></joint>
  <joint name="end" type="fixed"><parent link="beam"/><child link="load"/><origin xyz="{LENGTH} 0 0"/></joint>
  <grouser><flexible_link link="beam" discretisation="finite_elements" size="3" length="{LENGTH}" width="{WIDTH}"
    height="{HEIGHT}" modulus="{MODULUS}" shear_modulus="2.6e10" density="1e-3"/>
    <strain_gauge name="root" link="beam" at="0" z="{HEIGHT / 2}"/>
    <strain_gauge name="below" link="beam" at="0.5" z="{-HEIGHT / 2}"/>
    <strain_gauge name="side" link="beam" at="0.5" y="{WIDTH / 2}"/></grouser></robot>"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    path = tmp_path_factory.mktemp("beam") / "beam.urdf"
    path.write_text(URDF)
    return grouser.load_machine(path)


@pytest.fixture(scope="module")
def simulation(machine):
    simulation = Simulation(machine, World(ground=None), step=0.01)
    simulation.step(3000)
    return simulation


def moment(x):
    return FORCE * (LENGTH - x)


STIFFNESS = MODULUS * WIDTH * HEIGHT**3 / 12.0


def test_strain_of_a_loaded_cantilever(simulation):
    """M z / EI: in tension on top, in compression below, none in the middle of a side; 1 m of 2 is bent by 3 per cent,
    which shortens the lever."""
    assert simulation.sensors.strain_gauge["root"] == pytest.approx(moment(0.0) * HEIGHT / 2.0 / STIFFNESS, rel=3e-3)
    assert simulation.sensors.strain_gauge["below"] == pytest.approx(-moment(0.5) * HEIGHT / 2.0 / STIFFNESS, rel=3e-3)
    assert abs(simulation.sensors.strain_gauge["side"]) < 1e-9


def test_curvature_along_the_link(simulation):
    x = np.array([0.0, 0.7, 1.4])
    curvature = simulation.curvature("beam", x)
    np.testing.assert_allclose(curvature[:, 0], moment(x) / STIFFNESS, rtol=5e-3)
    np.testing.assert_allclose(curvature[:, 1], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("link", "places", "said"), [("load", [0.0], "beam"), ("beam", [2.1], "0 to 2 m"), ("beam", [np.nan], "0 to 2 m")]
)
def test_what_has_no_curvature_is_refused(simulation, link, places, said):
    with pytest.raises(ParameterError, match=said):
        simulation.curvature(link, places)


def test_state_has_the_strains_of_the_gauges(machine, simulation):
    ((link, values),) = flexible_groups(machine)
    assert (link, values[-3:]) == ("beam", ("strain/root", "strain/below", "strain/side"))
    (numbers,) = take_sample(simulation, 0, ["flexible/state"]).values["flexible/state"]
    assert numbers[-3:].tolist() == [simulation.sensors.strain_gauge[name] for name in ("root", "below", "side")]


def test_member_of_a_fleet_has_its_own(machine, simulation):
    fleet = Simulation(
        grouser.combine({name: Member(machine) for name in ("one", "two")}), World(ground=None), step=0.01
    )
    fleet.step(3000)
    own = fleet.part("two")
    assert own.sensors.strain_gauge["root"] == pytest.approx(simulation.sensors.strain_gauge["root"], rel=1e-9)
    np.testing.assert_allclose(own.curvature("beam", [0.7]), simulation.curvature("beam", [0.7]), rtol=1e-6, atol=1e-9)
