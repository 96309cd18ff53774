"""The rooms of the physics: each has the same few names, and is in the same few lists."""

import ast
import inspect

import numba
import pytest

from grouser.physics.base.phases import PHASES
from grouser.physics.base.trees import leaves
from grouser.physics.compliance import loops_room, springs_room
from grouser.physics.constraints import room as constraints
from grouser.physics.contact import room as contact
from grouser.physics.contact import sleeping_room as sleeping
from grouser.physics.hydraulics import oil_room, plain_room, published_room
from grouser.physics.hydraulics import room as hydraulics
from grouser.physics.integrators import context
from grouser.physics.joints import room as joints
from grouser.physics.multibody import pushing_room as pushing
from grouser.physics.multibody import room as multibody
from grouser.physics.soil import room as soil
from grouser.physics.tracks import room as tracks

ROOMS = (
    multibody,
    pushing,
    springs_room,
    joints,
    loops_room,
    soil,
    tracks,
    hydraulics,
    published_room,
    plain_room,
    oil_room,
    contact,
    sleeping,
    constraints,
)
# Rooms with a part of the system of their own, and the definitions of `context` that list them.
OWNERS = ("pushing", "springs", "joints", "loops", "soil", "tracks", "hydraulics", "contact", "sleeping")
WITHOUT_ACCOUNTS = ("sleeping",)
WITHOUT_REFUSALS = ("pushing",)  # a push is refused when it is given
LISTS = (
    "ACCOUNTS",
    "LABELS",
    "State",
    "System",
    "Workspace",
    "make_state",
    "make_workspace",
    "refused_by_rooms",
    "rooms_of",
)


def entries(room):
    return {name: value for name, value in vars(room).items() if isinstance(value, numba.core.dispatcher.Dispatcher)}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__.removeprefix("grouser.physics."))
def test_entries_of_a_room_are_phases_that_take_the_context(room):
    own = {name: kernel for name, kernel in entries(room).items() if kernel.py_func.__module__ == room.__name__}
    public = {name: kernel for name, kernel in own.items() if not name.startswith("_")}
    assert public, "a room takes part in the step"
    assert public.keys() <= set(PHASES)
    for kernel in public.values():
        assert list(inspect.signature(kernel.py_func).parameters) == ["context"]


def test_every_phase_has_an_entry():
    taken = {name for room in ROOMS for name in entries(room)}
    assert set(PHASES) <= taken


def test_rooms_are_in_the_lists_of_context():
    """Checks which definitions of `context` name a room; imports do not count."""
    tree = ast.parse(inspect.getsource(context))
    mentions = {owner: set() for owner in OWNERS}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            name = node.target.id
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        else:
            continue
        words = {
            word.removesuffix("_room")
            for part in ast.walk(node)
            for word in (getattr(part, "id", None), getattr(part, "attr", None), getattr(part, "arg", None))
            if word
        }
        for owner in OWNERS:
            if owner in words:
                mentions[owner].add(name)
    for owner, lists in mentions.items():
        needless = {"ACCOUNTS"} if owner in WITHOUT_ACCOUNTS else set()
        needless |= {"refused_by_rooms"} if owner in WITHOUT_REFUSALS else set()
        assert {*LISTS} - needless <= lists, f"{owner} is missing in a list"
        assert lists <= {*LISTS, "_row_count"}, f"{owner} stands in more lists than it needs"


def test_every_state_array_has_a_label():
    def shape(tree):
        return {name: shape(part) for name, part in tree._asdict().items()} if hasattr(tree, "_asdict") else None

    classes = {name: kind for name, kind in context.State.__annotations__.items() if hasattr(kind, "_fields")}
    labels = shape(context.LABELS)
    assert {name: list(part) for name, part in labels.items() if part} == {
        name: list(kind._fields) for name, kind in classes.items()
    }
    assert all(isinstance(label, str) for label in leaves(context.LABELS))
