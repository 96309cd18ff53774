"""Rules of contact: excluded pairs, contact laws, moving surfaces, slots."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from contact_scene import FREE_SPACE, Scene, free_bodies, hull_mesh

from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.contact.laws import combine
from grouser.physics.contact.slots import claim_slots, clear_rows, make_memory, make_place, stored_at
from grouser.physics.description.data.compliance import CompliantJoint, JointFrame, LoopJoint
from grouser.physics.description.data.contact import ContactMaterial, DisabledCollision, MaterialPair, SelfCollision
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Cylinder, PointSet, Sphere
from grouser.physics.description.data.world import Ground, Obstacle, World

INERTIAL = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
BALL = Sphere(0.1)


def chain(*joints, geometry=BALL, root="l0", floating_base=True, **attributes):
    """A machine l0, l1, ... with a ball on every link; each joint is (parent, child, type)."""
    count = 1 + max(child for _, child, _ in joints)
    links = [Link(f"l{k}", INERTIAL, (Collision("", Pose(), geometry),)) for k in range(count)]
    links[0] = replace(links[0], name=root)
    names = [link.name for link in links]
    return Machine(
        "chain",
        tuple(links),
        tuple(
            # branches from one link
            Joint(f"j{child}", kind, names[parent], names[child], Pose((1.0, 0.3 * (child - parent - 1), 0.0)))
            for parent, child, kind in joints
        ),
        root,
        floating_base,
        **attributes,
    )


def pairs(machine, world=FREE_SPACE):
    """Names of links and obstacles that may touch each other."""
    collision = Scene(machine, world).collision
    links = [machine.links[link].name for link in collision.shapes.link if link >= 0]
    names = links + [obstacle.name for obstacle in world.obstacles]
    return {frozenset((names[a], names[b])) for a, b in zip(collision.pairs.first, collision.pairs.second, strict=True)}


def sets(*words):
    return {frozenset(word.split()) for word in words}


# --- exclusions -------------------------------------------------------------------------------------------------------


def test_links_connected_by_a_joint_do_not_touch():
    machine = chain((0, 1, "revolute"), (1, 2, "revolute"), (2, 3, "revolute"))
    assert pairs(machine) == sets("l0 l2", "l0 l3", "l1 l3")


def test_fixed_joints_make_one_body():
    # l1 is part of l0, l3 of l2: the joint between l1 and l2 connects all of them
    machine = chain((0, 1, "fixed"), (1, 2, "revolute"), (2, 3, "fixed"), (3, 4, "revolute"))
    assert pairs(machine) == sets("l0 l4", "l1 l4")


def test_links_of_a_fixed_base_touch_no_obstacle_and_not_each_other():
    world = World(ground=None, obstacles=(Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((9.0, 0.0, 0.0))),))
    machine = chain((0, 1, "fixed"), (1, 2, "revolute"), (2, 3, "revolute"), floating_base=False)
    assert pairs(machine, world) == sets("l0 l3", "l1 l3", "l2 wall", "l3 wall")


def test_disabled_collisions_apply_in_either_order():
    machine = chain((0, 1, "revolute"), (1, 2, "revolute"), (2, 3, "revolute"))
    disabled = (DisabledCollision("l2", "l0"), DisabledCollision("l1", "l3"))
    assert pairs(replace(machine, disabled_collisions=disabled)) == sets("l0 l3")


def test_links_connected_by_a_loop_joint_do_not_touch():
    machine = chain((0, 1, "revolute"), (0, 2, "revolute"), (1, 3, "revolute"), (2, 4, "revolute"))
    zero = (0.0, 0.0, 0.0)
    loop = LoopJoint("loop", "revolute", "z", None, zero, None, zero, JointFrame("l3"), JointFrame("l4"))
    assert pairs(machine) - pairs(replace(machine, loop_joints=(loop,))) == sets("l3 l4")


def test_without_self_collision_separate_objects_and_obstacles_still_touch():
    world = World(ground=None, obstacles=(Obstacle("wall", BALL, Pose((9.0, 0.0, 0.0))),))
    machine = chain((0, 1, "revolute"), (1, 2, "revolute"), (0, 3, "floating"), self_collision=SelfCollision(False))
    assert pairs(machine, world) == sets("l0 l3", "l1 l3", "l2 l3", "l0 wall", "l1 wall", "l2 wall", "l3 wall")


def test_links_connected_by_a_compliant_joint_do_not_touch():
    zero = (0.0, 0.0, 0.0)
    compliant = (CompliantJoint("j3", zero, zero, zero, zero),)
    machine = chain((0, 1, "revolute"), (1, 2, "revolute"), (0, 3, "floating"), self_collision=SelfCollision(False))
    assert pairs(replace(machine, compliant_joints=compliant)) == set()
    touching = replace(machine, compliant_joints=compliant, self_collision=SelfCollision(True))
    assert pairs(touching) == sets("l0 l2", "l1 l3", "l2 l3")


def test_links_with_joints_to_the_world_are_separate_objects():
    joints = ((0, 1, "prismatic"), (0, 2, "prismatic"))
    apart = {"self_collision": SelfCollision(False), "floating_base": False}
    assert pairs(chain(*joints, root="world", **apart)) == sets("l1 l2")
    assert pairs(chain(*joints, **apart)) == set()


def test_links_overlapping_at_the_start_do_not_touch_and_are_named():
    machine = chain((0, 1, "revolute"), (1, 2, "revolute"), geometry=Box((1.0, 1.0, 2.5)))
    scene = Scene(machine)
    # boxes 2 m apart, 1 m wide: no overlap
    assert (pairs(machine), scene.warnings) == (sets("l0 l2"), ())
    wide = chain((0, 1, "revolute"), (1, 2, "revolute"), geometry=Box((2.01, 1.0, 1.0)))
    assert pairs(wide) == set()
    assert Scene(wide).warnings == (
        'links "l0" and "l2" overlap by 10.0 mm at the start: they do not touch each other',
    )
    # an overlap of less than a millimetre is a contact
    assert pairs(chain((0, 1, "revolute"), (1, 2, "revolute"), geometry=Box((2.0009, 1.0, 1.0)))) == sets("l0 l2")


def test_separate_objects_may_overlap_at_the_start():
    machine = chain((0, 1, "floating"), geometry=Sphere(0.6))
    assert (pairs(machine), Scene(machine).warnings) == (sets("l0 l1"), ())


def test_contacts_are_between_the_bodies_of_the_links():
    wall = Obstacle("wall", Box((1.0, 1.0, 1.0)), Pose((0.0, 0.0, -0.5)))
    scene = Scene(free_bodies(BALL), World(ground=None, obstacles=(wall,)))
    (contact,) = scene.place(0, (0, 0, 0.1)).touch()
    assert (contact.body, contact.other, contact.shape, contact.other_shape) == (0, -1, 0, 1)
    assert contact.normal == pytest.approx([0, 0, 1])


def test_point_set_obstacles_are_rejected():
    with pytest.raises(ParameterError, match="obstacle 'cloud' geometry = PointSet"):
        Obstacle("cloud", PointSet(np.zeros((1, 3))))


def test_flat_mesh_is_a_thin_plate():
    scene = Scene(free_bodies(BALL, hull_mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])))
    (contact,) = scene.place(0, (0.2, 0.3, 0.101)).place(1, (0, 0, 0)).touch()
    assert contact.gap == pytest.approx(0.5e-3)  # the plate is a millimetre thick
    # a line is the points at its ends
    scene = Scene(free_bodies(BALL, hull_mesh([(0, 0, 0), (0, 0, 1)])))
    (contact,) = scene.place(0, (0, 0, 1.1)).place(1, (0, 0, 0)).touch()
    assert contact.gap == pytest.approx(0.0, abs=1e-12)


# --- laws -------------------------------------------------------------------------------------------------------------

PLAIN = ContactMaterial("")


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ({}, {}, {"friction": Ground().friction, "restitution": 0.0, "stiffness": 0.0, "damping": 0.0}),
        ({"friction": 0.3}, {}, {"friction": 0.3}),
        ({"friction": 0.3}, {"friction": 0.2}, {"friction": 0.2}),
        ({"friction": 2.0}, {}, {"friction": 2.0}),
        ({"restitution": 0.3}, {"restitution": 0.5}, {"restitution": 0.5}),
        ({"rolling_resistance": 0.01}, {"rolling_resistance": 0.02}, {"rolling": 0.02}),
        ({"spinning_resistance": 0.03}, {"spinning_resistance": 0.02}, {"spinning": 0.03}),
        (
            {"stiffness": 1e5, "damping": 7.0},
            {"restitution": 0.5},
            {"stiffness": 1e5, "damping": 7.0, "restitution": 0.0},
        ),
        # in series: as stiff as 1/(1/k1 + 1/k2)
        ({"stiffness": 3e5, "damping": 9.0}, {"stiffness": 6e5}, {"stiffness": 2e5, "damping": 4.0}),
        ({"stiffness": 3e5, "damping": 9.0}, {"stiffness": 6e5, "damping": 18.0}, {"stiffness": 2e5, "damping": 6.0}),
    ],
)
def test_materials_combine_to_a_contact_law(one, other, expected):
    for first, second in ((one, other), (other, one)):
        law = combine(replace(PLAIN, **first), replace(PLAIN, **second))._asdict()
        assert {name: law[name] for name in expected} == pytest.approx(expected)


def test_combined_damper_dissipates_as_much_as_two_in_series():
    one, other = (replace(PLAIN, stiffness=k, damping=c) for k, c in ((3e5, 9.0), (6e5, 4.0)))
    law = combine(one, other)
    # under the same load the springs divide the speed of approach in proportion to their flexibilities
    speeds = [law.stiffness / material.stiffness for material in (one, other)]
    assert sum(speeds) == pytest.approx(1.0)
    assert law.damping == pytest.approx(one.damping * speeds[0] ** 2 + other.damping * speeds[1] ** 2)


def law_between(machine, world, shape, other):
    """The law of the pair of two shapes, or of a shape and the ground (-1)."""
    collision = Scene(machine, world).collision
    if other < 0:
        law = collision.candidates.law[list(collision.candidates.shape).index(shape)]
    else:
        (law,) = (
            law
            for a, b, law in zip(collision.pairs.first, collision.pairs.second, collision.pairs.law, strict=True)
            if {a, b} == {shape, other}
        )
    return {name: float(column[law]) for name, column in collision.laws._asdict().items()}


RUBBER = ContactMaterial("b0", "rubber", friction=1.2, restitution=0.5)
STEEL = ContactMaterial("b1", "steel", friction=0.4)


def test_material_pair_overrides_the_values_it_gives():
    machine = free_bodies(BALL, BALL, contacts=(RUBBER, STEEL))
    assert law_between(machine, FREE_SPACE, 0, 1)["friction"] == 0.4
    for names in (("rubber", "steel"), ("steel", "rubber")):
        pair = MaterialPair(*names, friction=0.9, rolling_resistance=0.01)
        law = law_between(replace(machine, material_pairs=(pair,)), FREE_SPACE, 0, 1)
        assert (law["friction"], law["restitution"], law["rolling"]) == (0.9, 0.5, 0.01)
    # a stiffness comes with its own damping, and without restitution
    soft = MaterialPair("rubber", "steel", stiffness=2e5, damping=3.0)
    law = law_between(replace(machine, material_pairs=(soft,)), FREE_SPACE, 0, 1)
    assert (law["stiffness"], law["damping"], law["restitution"], law["friction"]) == (2e5, 3.0, 0.0, 0.4)


def test_ground_and_obstacles_have_materials():
    ice = Obstacle("floe", BALL, Pose((9.0, 0.0, 0.0)), friction=0.1, material="ice")
    world = World(ground=Ground(friction=0.7, material="sand"), obstacles=(ice,))
    machine = free_bodies(BALL, BALL, contacts=(RUBBER, STEEL))
    assert law_between(machine, world, 0, -1)["friction"] == 0.7
    assert law_between(machine, world, 1, 2)["friction"] == 0.1
    pairs_given = (MaterialPair("sand", "rubber", friction=0.5), MaterialPair("ice", "steel", friction=0.02))
    machine = replace(machine, material_pairs=pairs_given)
    assert law_between(machine, world, 0, -1)["friction"] == 0.5
    assert law_between(machine, world, 1, 2)["friction"] == 0.02
    assert law_between(machine, world, 0, 2)["friction"] == 0.1


def test_material_pair_needs_names_and_may_name_one_material_twice():
    machine = free_bodies(BALL, BALL, contacts=(RUBBER, replace(RUBBER, link="b1")))
    machine = replace(machine, material_pairs=(MaterialPair("rubber", "rubber", friction=0.11),))
    assert law_between(machine, FREE_SPACE, 0, 1)["friction"] == 0.11
    nameless = free_bodies(BALL, BALL, material_pairs=(MaterialPair("", "", friction=0.11),))
    assert law_between(nameless, FREE_SPACE, 0, 1)["friction"] == Ground().friction


def test_equal_material_combinations_share_a_contact_law():
    scene = Scene(free_bodies(*[BALL] * 4), World())
    assert len(scene.collision.laws.friction) == 1


# --- moving surfaces --------------------------------------------------------------------------------------------------


def test_surface_joint_moves_the_surface_of_its_link():
    belt = ContactMaterial("l0", surface_joint="j1", surface_radius=0.2, surface_direction=(0.0, 1.0, 0.0))
    scene = Scene(chain((0, 1, "revolute"), contacts=(belt,)))
    shapes = scene.collision.shapes
    assert shapes.surface_rate.tolist() == [scene.names.joints["j1"].v, -1]
    assert shapes.surface_direction[0] == pytest.approx([0.0, 0.2, 0.0])
    with pytest.raises(MachineError, match="not a joint with one coordinate"):
        Scene(chain((0, 1, "floating"), contacts=(belt,)))


# --- slots ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [lambda leaf: leaf, lambda leaf: leaf.py_func], ids=["compiled", "python"])
def test_contact_takes_the_nearest_slot_then_an_empty_one_then_any(of):
    memory = make_memory(8)
    memory.count[0] = 5
    memory.slot[:5] = [10, 11, 12, 14, 15]
    memory.impulse[[0, 1, 2, 3, 4], 2] = 1.0
    memory.anchor[:5, 0] = [1.0, 0.0, 1.0, 3.0, 1.0]
    anchor = np.array([[1.02, 0, 0], [0.97, 0, 0], [0.02, 0, 0], [9.0, 0, 0]])
    claimed, slot = np.ones(4, dtype=bool), np.zeros(4, dtype=np.int64)
    of(claim_slots)(11, 4, 4, anchor, 0.1, memory, claimed, slot)
    # slot 13 is empty; slot 14 stores a contact that has ended; slots 10 and 15 belong to other pairs
    assert slot.tolist() == [12, 13, 11, 14]


@pytest.mark.parametrize("of", [lambda leaf: leaf, lambda leaf: leaf.py_func], ids=["compiled", "python"])
def test_contacts_that_stay_keep_their_slots_when_a_new_one_is_found_before_them(of):
    memory = make_memory(4)
    memory.count[0] = 2
    memory.slot[:2] = [4, 5]
    memory.impulse[:2, 2] = 1.0
    memory.anchor[:2, 0] = [0.05, 0.08]
    claimed, slot = np.ones(4, dtype=bool), np.zeros(3, dtype=np.int64)
    of(claim_slots)(4, 4, 3, np.array([[0.03, 0, 0], [0.05, 0, 0], [0.08, 0, 0]]), 0.1, memory, claimed, slot)
    assert slot.tolist() == [6, 4, 5]
    # moved, each by less than the distance to its neighbour
    of(claim_slots)(4, 4, 3, np.array([[0.03, 0, 0], [0.06, 0, 0], [0.09, 0, 0]]), 0.1, memory, claimed, slot)
    assert slot.tolist() == [6, 4, 5]


def test_slot_of_a_contact_without_impulse_is_free():
    memory = make_memory(4)
    memory.count[0] = 3
    memory.slot[:3] = [4, 5, 6]
    memory.impulse[[0, 2], 0] = 1.0
    claimed, slot = np.ones(3, dtype=bool), np.zeros(2, dtype=np.int64)
    claim_slots(4, 3, 2, np.full((2, 3), 9.0), 0.1, memory, claimed, slot)
    # slots 4 and 6 store impulses elsewhere; slot 5 is at the same place as all others, but has none
    assert slot.tolist() == [5, 4]


@pytest.mark.parametrize("order", list(itertools.permutations((3, 7, 8, 20))))
def test_contacts_are_stored_by_ascending_slot(order):
    memory = make_memory(5)
    for slot in order:
        stored = make_place(memory, slot)
        memory.impulse[stored], memory.moment[stored], memory.anchor[stored] = slot, 2.0 * slot, 3.0 * slot
    assert memory.slot.tolist() == [3, 7, 8, 20, 0]
    assert memory.impulse[:, 0].tolist() == [3.0, 7.0, 8.0, 20.0, 0.0]
    assert memory.moment[:, 1].tolist() == [6.0, 14.0, 16.0, 40.0, 0.0]
    assert memory.anchor[:, 2].tolist() == [9.0, 21.0, 24.0, 60.0, 0.0]
    for guess in range(6):
        found = [stored_at(memory, slot, guess) for slot in (0, 3, 4, 7, 8, 20, 21)]
        assert found == [-1, 0, -1, 1, 2, 3, -1]
    memory.count[0] = 0
    clear_rows(memory, 0, 4)
    assert all((array == 0).all() for array in memory)


def test_contacts_keep_their_slots_while_a_box_slides():
    scene = Scene(free_bodies(Box((0.6, 0.4, 0.2)), Box((4.0, 4.0, 1.0))))
    expected = None
    for step in range(100):
        angle = 0.003 * step
        turn = (0.0, 0.0, math.sin(angle), math.cos(angle))
        found = scene.place(0, (0.005 * step - 0.25, 0.003 * step, 0.6), turn).place(1, (0, 0, 0)).touch()
        corners = {contact.slot: tuple(np.round(contact.anchor, 9)) for contact in found}
        assert len(corners) == 4
        expected = expected or corners
        assert corners == expected
        scene.store_impulses(found)


def test_contacts_keep_their_slots_while_others_begin_and_end():
    scene = Scene(free_bodies(Box((0.6, 0.4, 0.2)), Box((4.0, 4.0, 1.0))))
    lift = 0.3 * math.sin(0.05) + 0.1 * math.cos(0.05)
    seen: dict[int, tuple] = {}
    for tilt in (0.0, 0.05, 0.0, -0.05, 0.0):
        height = 0.5 + (lift if tilt else 0.1)
        turn = (0.0, math.sin(0.5 * tilt), 0.0, math.cos(0.5 * tilt))
        found = scene.place(0, (0, 0, height), turn).place(1, (0, 0, 0)).touch()
        assert len(found) == (2 if tilt else 4)
        for contact in found:
            if contact.slot in scene.stored_slots():
                assert seen[contact.slot] == tuple(np.round(contact.anchor, 9))
            seen[contact.slot] = tuple(np.round(contact.anchor, 9))
        scene.store_impulses(found)


def test_no_two_contacts_share_a_slot():
    random = np.random.default_rng(14)
    cloud = PointSet(random.uniform(-0.2, 0.2, (6, 3)), 0.05)
    solids = (Box((0.5, 0.6, 0.7)), Cylinder(0.3, 0.8), Sphere(0.3), cloud, hull_mesh(random.normal(size=(9, 3)) * 0.3))
    scene = Scene(free_bodies(*solids), World())
    for _ in range(200):
        for body in range(len(solids)):
            quaternion = random.normal(size=4)
            scene.place(body, random.uniform(-0.5, 0.5, 3), quaternion / np.linalg.norm(quaternion))
        found = scene.touch()
        slots = [contact.slot for contact in found]
        assert len(set(slots)) == len(slots)
        assert all(0 <= slot < scene.slots for slot in slots)
        # in the order of the pairs, the ground first
        assert [contact.other_shape < 0 for contact in found] == sorted(
            (contact.other_shape < 0 for contact in found), reverse=True
        )
        scene.store_impulses(found)
