"""Scenes for the tests of contact: free bodies and obstacles at any poses, and their contacts."""

from dataclasses import dataclass

import numpy as np

from grouser.physics.base import spatial
from grouser.physics.base.kernel import kernel
from grouser.physics.base.packed import Packed
from grouser.physics.contact.collide import (
    Capacity,
    ContactWorkspace,
    clear_convex_distances,
    detect_contacts,
    exclude_overlaps,
    find_near,
    ground_slots,
    make_collision,
    make_contact_workspace,
    make_contacts,
)
from grouser.physics.contact.contacts import Contacts
from grouser.physics.contact.convex import search_convex
from grouser.physics.contact.pairs import CONVEX
from grouser.physics.contact.slots import Memory, make_memory
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.mechanism import Collision, Inertial, Joint, Link
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Mesh
from grouser.physics.description.data.world import World
from grouser.physics.model.build import build_model
from grouser.physics.multibody.kinematics import make_kinematics, update_kinematics

FREE_SPACE = World(ground=None)
STEP = 1e-3


def hull_mesh(points) -> Mesh:
    """A mesh for contact: only its hull is used."""
    return Mesh("test", "test", (1.0, 1.0, 1.0), np.asarray(points, dtype=float))


def free_bodies(*geometries, **attributes) -> Machine:
    """A machine of free bodies b0, b1, ... with one shape each, or several for a tuple of geometries."""
    inertial = Inertial(Pose(), 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    links, joints = [Link("world")], []
    for number, shapes in enumerate(geometries):
        shapes = shapes if isinstance(shapes, tuple) else (shapes,)
        collisions = tuple(Collision("", Pose(), geometry) for geometry in shapes)
        links.append(Link(f"b{number}", inertial, collisions))
        joints.append(Joint(f"j{number}", "floating", "world", f"b{number}"))
    return Machine("scene", tuple(links), tuple(joints), "world", floating_base=False, **attributes)


def random_quaternion(random) -> np.ndarray:
    """A unit quaternion, uniformly distributed over the rotations."""
    q = random.normal(size=4)
    return q / np.linalg.norm(q)


@dataclass(frozen=True)
class Found:
    """One contact: see `Contacts`, positions in the world."""

    slot: int
    body: int
    other: int
    shape: int
    other_shape: int
    law: int
    point: np.ndarray
    normal: np.ndarray
    gap: float
    anchor: np.ndarray


class Scene:
    """A machine in a world, with positions q, speeds v and the contacts of the last step.

    Attributes:
        collision, warnings, model, names: made for the machine.
        workspace, contacts: buffers, with room for every pair.
        slots: number of slots.
        memory: contacts of the last step.
    """

    def __init__(self, machine, world=FREE_SPACE):
        self.model, self.names = build_model(machine, world.spawn)
        whole = make_collision(machine, self.names, world)
        self.collision, self.warnings = exclude_overlaps(whole, machine, self.names, self.model, world)
        self.q, self.v = np.array(self.model.q_initial), np.zeros(len(self.model.rate_damping))
        pairs = self.collision.pairs
        self.slots = ground_slots(self.collision) + int(pairs.slots.sum())
        capacity = Capacity(len(pairs.first), self.slots)
        self.workspace: ContactWorkspace = make_contact_workspace(self.collision, capacity)
        self.contacts: Contacts = make_contacts(self.collision, capacity)
        self.memory: Memory = make_memory(self.slots)
        self.kinematics = make_kinematics(self.model)
        trees = (self.model, self.collision, self.kinematics, self.memory, self.workspace, self.contacts)
        self._packed = tuple(map(Packed, trees))

    def place(self, body, position, quaternion=(0.0, 0.0, 0.0, 1.0), linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
        """Places a free body and sets its speeds in world axes."""
        first, rate = self.model.body_q[body], self.model.column_rate[self.model.column_start[body]]
        self.q[first : first + 7] = [*position, *quaternion]
        turn = spatial.matrix(quaternion)
        self.v[rate : rate + 6] = [*(turn.T @ linear), *(turn.T @ angular)]
        return self

    def clear_distances(self):
        """Clears the stored distances of convex pairs."""
        clear_convex_distances(self.workspace)

    def find_near(self, step=STEP):
        """Places the shapes and lists the near pairs."""
        model, collision, kinematics, _, workspace, _ = self._packed
        update_kinematics(model, self.q, self.v, kinematics)
        find_near(collision, kinematics, step, workspace)

    @property
    def searches(self) -> int:
        """Number of convex pairs so far that their faces did not solve."""
        return int(self.workspace.searches[0])

    def search(self, step=STEP) -> np.ndarray:
        """Points, normals and gaps of the contacts of all near convex pairs, found by searching, (contacts, 7)."""
        collision, workspace = self._packed[1], self._packed[4]
        self.touch(step)
        found, (pairs, broad) = [], (self.collision.pairs, self.workspace.broad)
        for p in broad.pair[: broad.count[0]]:
            if pairs.kind[p] == CONVEX:
                reach, distance = self.workspace.reach[pairs.convex[p]], np.zeros(1)
                number = search_convex(collision.shapes, collision.pairs, p, reach, workspace, distance)
                found.append(self.workspace.found[:number].copy())
                found[-1][:, :3] += self.kinematics.origin
        return np.concatenate([np.zeros((0, 7)), *found])

    def touch(self, step=STEP) -> list[Found]:
        """The present contacts."""
        _, collision, kinematics, memory, workspace, contacts = self._packed
        self.find_near(step)
        detect(collision, kinematics, step, memory, workspace, contacts)
        found, origin = self.contacts, self.kinematics.origin
        return [
            Found(
                *[int(column[c]) for column in found[1:7]],
                origin + found.point[c],
                found.normal[c].copy(),
                float(found.gap[c]),
                found.anchor[c].copy(),
            )
            for c in range(found.count[0])
        ]

    def store_impulses(self, contacts):
        """Stores a unit impulse along its normal for every contact."""
        self.memory.count[0] = len(contacts)
        for k, contact in enumerate(sorted(contacts, key=lambda contact: contact.slot)):
            self.memory.slot[k] = contact.slot
            self.memory.impulse[k] = contact.normal
            self.memory.anchor[k] = contact.anchor

    def stored_slots(self) -> set[int]:
        """Slots with a stored impulse."""
        return set(self.memory.slot[: self.memory.count[0]].tolist())


@kernel
def detect(collision, kinematics, step, memory, workspace, contacts):
    """`detect_contacts` is inlined in the step: here it is compiled alone."""
    detect_contacts(collision, kinematics, step, memory, workspace, contacts)
