"""A machine that holds sensors on a mast, for tests of lidars and depth cameras."""

from grouser import Simulation
from grouser.physics.description import parse_machine

_TREE = """<robot name="r"><link name="world"/><link name="mast"/>
<joint name="foot" type="fixed"><parent link="world"/><child link="mast"/><origin xyz="{xyz}" rpy="{rpy}"/></joint>
<link name="arm"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="mast"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<grouser>{sensor}</grouser></robot>"""


def on_mast(sensor, world, xyz="0 0 0", rpy="0 0 0"):
    """A simulation of a mast at a pose with a sensor element, whose link is `mast`."""
    return Simulation(parse_machine(_TREE.format(xyz=xyz, rpy=rpy, sensor=sensor), "r.urdf"), world)
