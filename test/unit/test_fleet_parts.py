"""The view of one member of a fleet: names, commands, bounds, also in copies of a batch."""

from operator import attrgetter

import numpy as np
import pytest
from numba import typeof
from shipped import shipped_machine

from grouser import Member, Simulation, World, combine
from grouser.physics.base.errors import ParameterError
from grouser.physics.description.data.contact import DisabledCollision, SelfCollision
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Capsule, Cylinder, PointSet, Sphere
from grouser.physics.simulation.view import MachineView

MACHINES = ("demolition_robot", "excavator", "four_bar", "loader_crane", "rigid_pendulum", "rover", "servo_fin")
VIEWS = (
    *("joint_position", "joint_velocity", "joint_effort", "spherical_joint", "pressure", "cylinder"),
    *("circuit.cylinder_energy", "circuit.hydraulic_motor", "circuit.pump", "circuit.line_pressure"),
    *("wheel", "sensors.imu", "sensors.lidar", "joint_reaction", "joint_deflection"),
    *("flexible_link", "contact_wrench", "faults"),
)
SPACE = World("space", ground=None)


def test_kernels_have_one_specialisation_for_all_machines():
    """Among them machines with one supply of constant pressure, and several with such."""
    machines = [shipped_machine(name) for name in (*MACHINES, "hydraulic_lift")]
    alone = [Simulation(machine, SPACE) for machine in machines]
    pairs = [
        Simulation(combine({"a": Member(machine), "b": Member(machine, Pose((50.0, 0.0, 0.0)))}), SPACE)
        for machine in machines
    ]
    assert len({typeof(simulation.arrays.context) for simulation in (*alone, *pairs)}) == 1


@pytest.mark.parametrize("name", MACHINES)
def test_part_has_the_names_of_its_machine(name):
    machine = shipped_machine(name)
    alone = Simulation(machine, SPACE)
    both = Simulation(combine({"a": Member(machine), "b": Member(machine, Pose((50.0, 0.0, 0.0)))}), SPACE)
    part = both.part("b")
    assert both.part("b") is part and part.machine is machine
    for view in VIEWS:
        assert list(attrgetter(view)(part)) == [key for key in attrgetter(view)(alone) if key != "(air)"], view
    assert part.command.names == alone.command.names and part.command.drives == alone.command.drives
    assert dict(part.command) == dict(alone.command)
    assert part.link_poses().shape == alone.link_poses().shape
    for link in machine.links:
        np.testing.assert_allclose(part.link_pose(link.name)[0] - (50, 0, 0), alone.link_pose(link.name)[0], atol=1e-12)
    for view in VIEWS[:-1]:
        assert len(list(attrgetter(view)(part).values())) == len(list(attrgetter(view)(part)))
    assert (part.time, part.step_count, part.step_size, part.world) == (0.0, 0, 0.001, SPACE)


def test_unknown_names_are_refused():
    machine = shipped_machine("rover")
    simulation = Simulation(combine({"a": Member(machine)}), SPACE)
    part = simulation.part("a")
    with pytest.raises(ParameterError, match="member = 'b'"):
        simulation.part("b")
    with pytest.raises(ParameterError, match="link = 'a/base_link'"):
        part.link_pose("a/base_link")
    with pytest.raises(ParameterError, match="joint = 'a/rear_left_drive'"):
        part.joint_position["a/rear_left_drive"]
    with pytest.raises(ParameterError, match="command = 'a/rear_left_drive'"):
        part.command["a/rear_left_drive"] = 1.0


def test_commands_of_a_part_reach_its_member():
    machine = shipped_machine("rover")
    simulation = Simulation(combine({"": Member(machine), "b": Member(machine, Pose((9.0, 0.0, 0.0)))}), SPACE)
    simulation.part("b").command["rear_left_drive"] = 2.0
    simulation.part("").command.update({"rear_left_drive": 3.0})
    assert simulation.command["b/rear_left_drive"] == 2.0 and simulation.command["rear_left_drive"] == 3.0
    simulation.reset()
    assert simulation.part("b").command["rear_left_drive"] == 0.0


def test_batch_copies_have_parts_of_their_own():
    machine = shipped_machine("rover")
    simulation = Simulation(combine({"a": Member(machine), "b": Member(machine, Pose((9.0, 0.0, 0.0)))}), SPACE)
    original = simulation.part("a")
    batch = simulation.batch(2)
    first, second = (copy.part("a") for copy in batch)
    assert isinstance(first, MachineView) and first is not original
    first.command["rear_left_drive"] = 2.0
    first.emergency_stop = True
    assert second.command["rear_left_drive"] == original.command["rear_left_drive"] == 0.0
    assert not second.emergency_stop and not original.emergency_stop
    batch.step(10)
    assert np.array_equal(second.base_pose()[0], batch[1].link_pose("a/base_link")[0])
    assert not np.array_equal(second.base_pose()[0], original.base_pose()[0])


def shaped(*geometries, pose=Pose(), **attributes):
    inertial = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    collisions = tuple(Collision("", pose, geometry) for geometry in geometries)
    return Machine("shape", (Link("link", inertial, collisions),), (), "link", True, **attributes)


HALF = np.sqrt(0.5)


@pytest.mark.parametrize(
    ("geometry", "half"),
    [
        # turned by 45 degrees about x
        (Box((2.0, 1.0, 1.0)), (1.0, HALF, HALF)),
        (Sphere(0.5), (0.5, 0.5, 0.5)),
        (Capsule(0.2, 2.0), (0.2, 0.2 + HALF, 0.2 + HALF)),
        (Cylinder(0.2, 2.0), (0.2, 1.2 * HALF, 1.2 * HALF)),
        (PointSet(np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]]), 0.1), (1.1, HALF + 0.1, HALF + 0.1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bounds_of_a_shape(geometry, half):
    member = Member(shaped(geometry), Pose((1.0, 2.0, 3.0), (np.sin(np.pi / 8), 0.0, 0.0, np.cos(np.pi / 8))))
    simulation = Simulation(combine({"a": member, "b": Member(shaped())}), SPACE)
    lower, upper = simulation.part("a").bounds()
    np.testing.assert_allclose(lower, np.array([1.0, 2.0, 3.0]) - half, atol=1e-12)
    np.testing.assert_allclose(upper, np.array([1.0, 2.0, 3.0]) + half, atol=1e-12)
    assert simulation.part("b").bounds() is None
    assert np.array_equal(simulation.bounds(), (lower, upper))


def test_bounds_contain_all_shapes():
    member = Member(shaped(Sphere(0.5), Box((4.0, 0.2, 0.2)), pose=Pose((0.0, 0.0, 1.0))))
    lower, upper = Simulation(combine({"a": member}), SPACE).part("a").bounds()
    assert lower.tolist() == [-2.0, -0.5, 0.5] and upper.tolist() == [2.0, 0.5, 1.5]


def touching_links(simulation):
    shapes, pairs = simulation.arrays.system.contact.shapes, simulation.arrays.system.contact.pairs
    names = simulation.arrays.names.links
    return {
        frozenset((names[shapes.link[one]], names[shapes.link[other]]))
        for one, other in zip(pairs.first, pairs.second, strict=True)
    }


def test_self_collision_settings_do_not_disable_contact_between_machines():
    members = {
        "a": Member(shaped(Sphere(0.1), self_collision=SelfCollision(False))),
        "b": Member(shaped(Sphere(0.1), disabled_collisions=(DisabledCollision("link", "link"),)), Pose((1, 0, 0))),
        "c": Member(shaped(Sphere(0.1)), Pose((2.0, 0.0, 0.0))),
    }
    assert touching_links(Simulation(combine(members), SPACE)) == {
        frozenset(pair) for pair in (("a/link", "b/link"), ("a/link", "c/link"), ("b/link", "c/link"))
    }


def test_self_collision_settings_hold_within_a_fleet():
    machine = shipped_machine("demolition_robot")
    alone = touching_links(Simulation(machine, SPACE))
    pose = Pose((20.0, 0.0, 0.0))
    silent = Machine(**{**vars(machine), "self_collision": SelfCollision(False)})
    both = touching_links(Simulation(combine({"": Member(machine), "b": Member(silent, pose)}), SPACE))
    assert alone and {pair for pair in both if not any(name.startswith("b/") for name in pair)} == alone
    assert not {pair for pair in both if all(name.startswith("b/") for name in pair)}
    shaped_links = {link.name for link in machine.links if link.collisions}
    between = {pair for pair in both if sum(name.startswith("b/") for name in pair) == 1}
    assert between == {frozenset((one, f"b/{other}")) for one in shaped_links for other in shaped_links}


def test_fixed_base_excludes_contact_with_its_own_links_only():
    """Links of other machines can touch a fixed base."""
    machine = shipped_machine("demolition_robot", base="fixed")
    simulation = Simulation(combine({"a": Member(machine), "b": Member(machine, Pose((9.0, 0.0, 0.0)))}), SPACE)
    shaped_links = {link.name for link in simulation.machine.links if link.collisions}
    names = simulation.arrays.names
    moving = {name for name, body in zip(names.links, names.link_body, strict=True) if body >= 0} & shaped_links
    assert "a/base_link" in shaped_links - moving
    between = {frozenset(("a/base_link", name)) for name in moving if name.startswith("b/")}
    assert between and between <= touching_links(simulation)
