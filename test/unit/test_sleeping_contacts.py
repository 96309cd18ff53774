"""Contacts that are laid down and taken up again, and the spans between sleeping bodies."""

import numpy as np
import pytest

from grouser.physics.base.packed import Packed
from grouser.physics.contact.contacts import allocate_contacts
from grouser.physics.contact.resting import lay_down, make_resting, take_up, with_capacity
from grouser.physics.contact.slots import make_memory
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.model.build import build_model
from grouser.physics.multibody.spans import list_spans, make_spans

CAPACITY = 40


def contacts_of_a_step(random, bodies, count):
    """Contacts between shapes, one a body, found in any order, and the memory of them."""
    contacts, memory = allocate_contacts(CAPACITY), make_memory(CAPACITY)
    slots = np.sort(random.choice(1000, count, replace=False))
    order = random.permutation(count)
    contacts.count[0] = memory.count[0] = count
    memory.slot[:count] = slots
    contacts.slot[:count] = slots[order]
    contacts.shape[:count] = random.integers(0, bodies, count)
    contacts.other_shape[:count] = -1
    contacts.gap[:count] = random.normal(size=count)
    contacts.normal[:count] = random.normal(size=(count, 3))
    memory.buried[:count] = random.uniform(size=count)
    for vectors in (memory.impulse, memory.moment, memory.anchor):
        vectors[:count] = random.normal(size=(count, 3))
    return contacts, memory


@pytest.mark.parametrize("seed", range(20))
def test_contacts_that_are_taken_up_are_those_laid_down(seed):
    random = np.random.default_rng(seed)
    bodies = 6
    body = np.arange(bodies)
    contacts, memory = contacts_of_a_step(random, bodies, int(random.integers(1, CAPACITY)))
    whole = [array.copy() for array in memory]
    count = int(memory.count[0])
    resting = make_resting(CAPACITY)
    asleep = np.where(random.random(bodies) < 0.5, 0, -1)
    shape_of = dict(zip(contacts.slot[:count].tolist(), range(count), strict=True))
    lay_down(body, asleep, Packed(contacts), np.zeros(CAPACITY, dtype=np.int64), Packed(memory), Packed(resting))
    laid = int(resting.memory.count[0])
    sleeps = asleep[contacts.shape[:count]] >= 0
    assert laid == sleeps.sum() and memory.count[0] == count - laid
    assert np.array_equal(resting.memory.slot[:laid], np.sort(contacts.slot[:count][sleeps]))
    assert np.array_equal(memory.slot[: count - laid], np.sort(contacts.slot[:count][~sleeps]))
    assert not any(array[count - laid :].any() for array in memory[1:])
    for k in range(laid):
        c = shape_of[int(resting.memory.slot[k])]
        assert resting.gap[k] == contacts.gap[c] and np.array_equal(resting.normal[k], contacts.normal[c])
        assert (resting.shape[k], resting.other_shape[k]) == (contacts.shape[c], contacts.other_shape[c])
    resting = with_capacity(resting, CAPACITY + 7)
    for i in random.permutation(np.flatnonzero(asleep >= 0)):
        asleep[i] = -1
        take_up(body, asleep, Packed(resting), Packed(memory))
    assert not any(np.any(array) for array in resting[1:]) and resting.memory.count[0] == 0
    assert all(np.array_equal(old, new) for old, new in zip(whole, memory, strict=True))


def bodies_in_a_row(kinds):
    """Free bodies and pendulums, in this order."""
    inertial = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    links = [Link("world"), *[Link(f"b{k}", inertial) for k in range(len(kinds))]]
    joints = [
        Joint(f"j{k}", "floating" if free else "revolute", "world", f"b{k}", axis=(0.0, 1.0, 0.0))
        for k, free in enumerate(kinds)
    ]
    machine = Machine("row", tuple(links), tuple(joints), "world", floating_base=False)
    return build_model(machine, Pose(), (0.0, 0.0, -9.81))[0]


@pytest.mark.parametrize("seed", range(20))
def test_spans_have_everything_but_the_sleeping_bodies(seed):
    random = np.random.default_rng(seed)
    kinds = random.random(int(random.integers(1, 12))) < 0.7
    model = bodies_in_a_row(kinds)
    asleep = kinds & (random.random(len(kinds)) < 0.6)
    spans = make_spans(model)
    list_spans(Packed(model), asleep, Packed(spans))
    found = spans.bound[: spans.number[0]]
    assert [i for first, last in found[:, 0:2] for i in range(first, last)] == np.flatnonzero(~asleep).tolist()
    rates = np.repeat(~asleep, np.where(kinds, 6, 1))
    places = np.repeat(~asleep, np.where(kinds, 7, 1))
    assert [i for first, last in found[:, 2:4] for i in range(first, last)] == np.flatnonzero(rates).tolist()
    assert [i for first, last in found[:, 4:6] for i in range(first, last)] == np.flatnonzero(places).tolist()
    # one span for each run of bodies that are awake
    assert len(found) == np.count_nonzero(~asleep & np.concatenate([[True], asleep[:-1]]))
