"""Values that are kept with an object, and what machines of a growing fleet share."""

import gc
import weakref
from itertools import count

import grouser
from grouser import catalogue
from grouser.physics.base.kept import KeptWith
from grouser.physics.description.data.machine import Member
from grouser.physics.description.data.pose import Pose


class Owner:
    """Owners that compare as equal are different ones all the same."""

    def __eq__(self, other):
        return True

    __hash__ = None


def test_a_value_is_made_once_for_an_object_and_a_key():
    kept, made = KeptWith(), count()
    one, other = Owner(), Owner()
    assert [kept.get(one, "a", lambda: next(made)) for _ in range(2)] == [0, 0]
    assert kept.get(one, "b", lambda: next(made)) == 1
    assert kept.get(other, "a", lambda: next(made)) == 2
    assert kept.get(one, "a", lambda: next(made)) == 0


def test_values_go_with_their_object():
    """Also where another object takes its place in memory."""
    kept, values = KeptWith(), []
    for number in range(100):
        owner, value = Owner(), Owner()
        values.append(weakref.ref(value))
        assert kept.get(owner, "a", lambda value=value: value) is value, number
        del owner, value
    gc.collect()
    assert not any(value() for value in values)


def test_parts_of_a_fleet_stay_when_another_machine_joins():
    """What is made anew is what joins: the cost of a machine is not that of all that are there."""
    rover = grouser.load_machine(catalogue.machine_file("rover"))
    members = {"": Member(rover), "other": Member(rover, Pose((5.0, 0.0, 1.0)))}
    before = grouser.combine(members)
    after = grouser.combine({**members, "third": Member(rover, Pose((9.0, 0.0, 1.0)))})
    assert all(one is other for one, other in zip(before.links[1:], after.links[1:], strict=False))
    assert all(one is other for one, other in zip(before.joints, after.joints, strict=False))
    assert before.members == after.members[:2]


def test_a_member_under_another_name_or_at_another_spawn_pose_is_another_part():
    member = Member(grouser.load_machine(catalogue.machine_file("rover")))
    first, second = grouser.combine({"a": member}), grouser.combine({"b": member})
    assert {link.name for link in first.links}.isdisjoint({link.name for link in second.links} - {""})
    lower, higher = (grouser.combine({"a": member}, Pose((0.0, 0.0, z))).members[0].pose for z in (1.0, 2.0))
    assert (lower.position[2], higher.position[2]) == (1.0, 2.0)
