"""What all ways to divide a flexible link need: new names, and pairs of links that do not collide."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from grouser.physics.base.errors import MachineError
from grouser.physics.description.data.compliance import FlexibleLink
from grouser.physics.description.data.contact import DisabledCollision
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.urdf.placement import rigid_lumps


def link_error(machine: Machine, flexible: FlexibleLink, problem: str, remedy: str) -> MachineError:
    """An error of a flexible link."""
    element = f'<flexible_link link="{flexible.link}">'
    return MachineError(f"the link {problem}", file=machine.file, element=element, remedy=remedy)


def refuse_repeated(machine: Machine, flexible: FlexibleLink) -> None:
    """Refuses a machine in which a part of a flexible link has the name of a link or joint of the file.

    Raises:
        MachineError: it has.
    """
    loops = (loop.name for loop in machine.loop_joints)
    for kind, names in (
        ("link", [link.name for link in machine.links]),
        ("joint", [*(joint.name for joint in machine.joints), *loops]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                raise link_error(
                    *(machine, flexible),
                    f"needs the name '{name}' for an element, and a {kind} has it already",
                    "rename that one",
                )


def held_apart(machine: Machine, flexible: FlexibleLink) -> Iterator[DisabledCollision]:
    """Pairs of links that could not touch while the link was rigid, because of a joint on it."""
    lumps = rigid_lumps(replace(machine, flexible_links=()))
    divided = lumps[flexible.link]
    compliant = {compliance.joint for compliance in machine.compliant_joints}
    joints = [joint for joint in machine.joints if joint.type != "floating" or joint.name in compliant]
    held = {frozenset((lumps[joint.parent], lumps[joint.child])) for joint in joints}
    held |= {frozenset((lumps[loop.parent.link], lumps[loop.child.link])) for loop in machine.loop_joints}
    touching = [link.name for link in machine.links if link.collisions]
    for one, other in combinations(touching, 2):
        pair = frozenset((lumps[one], lumps[other]))
        if divided in pair and (len(pair) == 1 or pair in held):
            yield DisabledCollision(one, other)


def disabled_for_pieces(
    pairs: Iterable[DisabledCollision], link: str, pieces: Iterable[str]
) -> Iterator[DisabledCollision]:
    """The pairs, those of a link for each of its pieces as well, and the pairs of its pieces.

    Args:
        pairs: that do not collide.
        link: that is in pieces.
        pieces: links that carry its shapes.
    """
    pieces = list(pieces)
    for pair in pairs:
        yield pair
        if link in (pair.link1, pair.link2):
            other = pair.link2 if pair.link1 == link else pair.link1
            for piece in pieces:
                yield DisabledCollision(piece, other)
    for one, other in combinations([link, *pieces], 2):
        yield DisabledCollision(one, other)
