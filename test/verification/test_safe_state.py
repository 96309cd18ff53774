"""The safe state, neutral and braked, of every machine of the catalogue: from full motion, loaded, on slopes.

A drive commanded by effort has no neutral that holds; there the safe state is the emergency stop. All machines are
integrated with dry friction: the smooth integrators have no brakes (docs/limits.md).
"""

import math

import numpy as np
import pytest

import grouser
from grouser import catalogue
from grouser.physics.description.data.world import Ground

LOADED = """<robot name="loaded" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="{file}"/>
  <link name="load_mass"><inertial>
    <mass value="{mass}"/><inertia ixx="2" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="load_mass" type="fixed"><parent link="{link}"/><child link="load_mass"/></joint>
</robot>"""
NAMES = [file.name.split(".")[0] for file in catalogue.machine_files()]
# machine, arguments, and a load on a link [kg]; the others are loads themselves, or have one of their own
MACHINES = [
    # upright on outriggers it carries more than on its tracks, on which 100 kg make it fall over downhill
    pytest.param("demolition_robot", {"stance": "outriggers"}, ("tool_link", 100.0), id="outriggers"),
    pytest.param("demolition_robot", {"stance": "tracks"}, ("tool_link", 40.0), id="tracks"),
    pytest.param("excavator", {}, ("bucket_link", 150.0), id="excavator"),
    pytest.param("four_track_carrier", {}, ("base_link", 2000.0), id="four_track_carrier"),
    pytest.param("rover", {}, ("base_link", 50.0), id="rover"),
]
MACHINES += [
    pytest.param(name, {}, None, id=name)
    for name in sorted(set(NAMES) - {"demolition_robot", "excavator", "four_track_carrier", "rover"})
    if name != "rigid_pendulum"  # nothing drives it
]
# degrees, and the direction in which the ground rises, from the machine's x axis on
SLOPES = [(0.0, 0.0), (15.0, 0.0), (15.0, 180.0), (15.0, 90.0)]
MOST_WAY = 1e-3  # [m] of a cylinder, a slide and the machine, in the ten seconds after it has stopped
MOST_TURN = 1e-4  # [rad] of a swing, track, wheel or other turning joint
ROCKING = 2  # [s] for which a machine may rock on its belts


def sloping_world(degrees, direction):
    """Hard ground that rises in a direction, and the machine on it."""
    tilt, heading = math.radians(degrees), math.radians(direction)
    along = np.array([math.cos(heading), math.sin(heading)])
    axis = math.sin(0.5 * tilt) * np.array([along[1], -along[0]])
    spawn = grouser.Pose(quaternion=(*axis.tolist(), 0.0, math.cos(0.5 * tilt)))
    return grouser.World(ground=Ground(normal=(*(-math.sin(tilt) * along).tolist(), math.cos(tilt))), spawn=spawn)


@pytest.fixture(scope="module")
def loaded_machine(tmp_path_factory):
    """Machines of the catalogue with their loads."""
    machines = {}

    def load(name, arguments, load):
        key = (name, *arguments.values())
        if key not in machines:
            file = catalogue.machine_file(name).resolve()
            if load is not None:
                text = LOADED.format(file=file, link=load[0], mass=load[1])
                file = tmp_path_factory.mktemp("loaded") / f"{name}.urdf.xacro"
                file.write_text(text)
            machines[key] = grouser.load_machine(file, arguments)
        return machines[key]

    return load


def watched(simulation):
    """Places of cylinders and driven slides [m], and angles of motors and drives [rad], by name."""
    machine = simulation.machine
    kinds = {joint.name: joint.type for joint in machine.joints}
    driven = [motor.joint for motor in machine.hydraulic_motors] + [drive.joint for drive in machine.drives]
    ways = {f"cylinder {one.name}": simulation.cylinder[one.name].position for one in machine.cylinders}
    ways |= {one: simulation.joint_position[one] for one in driven if kinds[one] == "prismatic"}
    turns = {one: simulation.joint_position[one] for one in driven if kinds[one] != "prismatic"}
    return ways, turns


def place(simulation):
    """Of the machine [m], by axis."""
    return dict(zip(("x", "y", "z"), simulation.base_pose()[0], strict=True))


def most_changes(now, start):
    return {name: abs(now[name] - value) for name, value in start.items()}


@pytest.mark.parametrize(("degrees", "direction"), SLOPES)
@pytest.mark.parametrize(("name", "arguments", "load"), MACHINES)
def test_a_loaded_machine_holds_after_a_trip(loaded_machine, name, arguments, load, degrees, direction):
    machine = loaded_machine(name, arguments, load)
    simulation = grouser.Simulation(machine, sloping_world(degrees, direction), step=0.002, integrator="semi_implicit")
    second = round(1.0 / simulation.step_size)
    rng = np.random.default_rng(7)
    simulation.step(second)
    for _ in range(2):  # longer, and some would fall over
        simulation.command.update({valve: rng.uniform(-0.6, 0.6) for valve in simulation.command.valves})
        for drive in machine.drives:
            most = {"velocity": 1.0, "position": 0.3, "effort": 0.01 * drive.effort_limit}[drive.mode]
            simulation.command[drive.joint] = rng.uniform(-most, most)
        simulation.step(round(0.5 * second))
    simulation.command.update(dict.fromkeys(simulation.command.valves, 0.0))
    simulation.command.update({drive.joint: 0.0 for drive in machine.drives if drive.mode == "velocity"})
    if any(drive.mode == "effort" for drive in machine.drives):
        simulation.emergency_stop = True
    simulation.step(second)
    ways, turns = watched(simulation)
    start = None
    for second_after in range(10):
        simulation.step(second)
        ways_now, turns_now = watched(simulation)
        assert {one: way for one, way in most_changes(ways_now, ways).items() if way > MOST_WAY} == {}
        assert {one: turn for one, turn in most_changes(turns_now, turns).items() if turn > MOST_TURN} == {}
        if second_after == ROCKING:
            start = place(simulation)
        elif second_after > ROCKING:
            assert max(most_changes(place(simulation), start).values()) < MOST_WAY
