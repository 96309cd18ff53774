"""Joint reactions. Those of loop joints come from their rows; those of a joint of the tree are the force that moves
the bodies beyond it, less the other forces on these.
"""

from collections.abc import Sequence

import numpy as np

from grouser.physics.base.packed import Packed
from grouser.physics.base.spatial import cross_product, cross_products
from grouser.physics.compliance.loops import loop_wrench
from grouser.physics.integrators.context import System, Workspace
from grouser.physics.model.names import FrameOfJoint
from grouser.physics.multibody.newton_euler import inverse_dynamics
from grouser.physics.tracks.running_wheels import sprung_force, sprung_wheels


def joint_reactions(system: System, workspace: Workspace, compliant: Sequence[FrameOfJoint]) -> np.ndarray:
    """Mean force and moment on the child of each loop joint, then of each compliant joint in the last step.

    Args:
        system, workspace: of that step.
        compliant: frames of the compliant joints.

    Returns:
        About the origin of the joint's frame, in that frame, (joints, 6) [N, N m].
    """
    reactions = list(pair_reactions(system, workspace))
    if compliant:
        wrenches, kinematics = transmitted_wrenches(system, workspace), workspace.multibody.kinematics
        for body, parent, rotation, position in compliant:
            if parent >= 0:
                position = kinematics.position[parent] + kinematics.rotation[parent] @ position
                rotation = kinematics.rotation[parent] @ rotation
            else:
                position = position - kinematics.origin
            force, moment = np.split(wrenches[body], 2)
            reactions.append(np.concatenate([force @ rotation, (moment - cross_product(position, force)) @ rotation]))
    return np.array(reactions).reshape(-1, 6)


def pair_reactions(system: System, workspace: Workspace) -> np.ndarray:
    """Mean force and moment over the last step that each loop joint gave its child.

    Returns:
        About the origin of the parent's frame, in that frame, (pairs, 6) [N, N m].
    """
    pairs, motion = system.loops, workspace.loops.rows.motion
    wrench = np.zeros((len(pairs.axis), 6))
    for r, impulse in enumerate(workspace.loops.rows.impulse):
        p, direction = pairs.row_loop[r], pairs.row_direction[r]
        if direction < 3:
            wrench[p, direction] += impulse
        else:
            wrench[p, 3:] += impulse * (motion.axes[p] @ motion.turning[p, direction - 3])
    # the moment of the force at the child's frame
    wrench[:, 3:] += cross_products(motion.deflection[:, :3], wrench[:, :3])
    return wrench / system.settings.step


def transmitted_wrenches(system: System, workspace: Workspace) -> np.ndarray:
    """Mean wrench over the last step that each body got through its joint, about the kinematics' origin.

    The Newton-Euler equations give the force on the bodies beyond a joint; contacts, soil, tracks, shovels, grains,
    blocks, loop joints, cylinders and pushes contribute a part of it.

    Returns:
        Force and moment of each body, world axes, (bodies, 6) [N, N m].
    """
    model, step = system.multibody, system.settings.step
    wrench, motion = np.zeros(workspace.multibody.wrench.shape), np.zeros(workspace.multibody.motion.shape)
    acceleration = (workspace.multibody.velocity - workspace.multibody.velocity_start) / step
    inverse_dynamics(
        Packed(model), Packed(workspace.multibody.kinematics), acceleration, wrench, motion, np.zeros(len(acceleration))
    )
    given = np.zeros((len(wrench) + 1, 6))  # the last row is the world's, body -1
    _give_contacts(workspace, given)
    _give_soil(system, workspace, given)
    _give_tracks(system, workspace, given)
    _give_shovels(system, workspace, given)
    _give_impulses(system.granular.body, workspace.granular.grains.impulse, workspace, given)
    _give_impulses(system.blocks.body, workspace.blocks.impulse, workspace, given)
    _give_pushes(system, workspace, given)
    _give_pairs(system, workspace, given)
    _give_cylinders(system, workspace, given)
    for body in range(len(wrench) - 1, -1, -1):
        given[model.body_parent[body]] += given[body]
    return wrench - given[:-1] / step


def _give_contacts(workspace, given):
    contacts, rows = workspace.contact.contacts, workspace.contact.rows
    for c in range(contacts.count[0]):
        impulse, moment = contacts.impulse[c], cross_product(contacts.point[c], contacts.impulse[c])
        if rows.spinning[c] > 0.0 or rows.rolling[c] > 0.0:
            moment = moment + rows.moment[c] @ rows.frame[c]
        given[contacts.body[c]] += [*impulse, *moment]
        given[contacts.other[c]] -= [*impulse, *moment]


def _give_soil(system, workspace, given):
    soil = workspace.soil
    for body, pushed, centre in zip(system.soil.body, soil.wrench, soil.centre, strict=True):
        impulse = system.settings.step * pushed[:3]
        given[body] += [*impulse, *(system.settings.step * pushed[3:] + cross_product(centre, impulse))]


def _give_tracks(system, workspace, given):
    """The ground pushes on the link that carries a track, along the belt on its sprocket, and on sprung wheels."""
    tracks, work, model, step = system.tracks, workspace.tracks, system.multibody, system.settings.step
    for body, rate, scale, pushed, centre in zip(
        tracks.body, tracks.rate, tracks.scale, work.wrench, work.centre, strict=True
    ):
        column = int(np.flatnonzero(model.column_rate == rate)[0])
        sprocket = int(np.searchsorted(model.column_start, column, side="right")) - 1
        turning = step * scale * pushed[6] * workspace.multibody.kinematics.column[column, 3:]
        impulse = step * pushed[:3]
        given[body] += [*impulse, *(step * pushed[3:6] + cross_product(centre, impulse) - turning)]
        given[sprocket, 3:] += turning
    for t, wheel in sprung_wheels(tracks):
        body, impulse = tracks.wheels.body[wheel], step * sprung_force(tracks, work, t, wheel)
        kinematics = workspace.multibody.kinematics
        at = kinematics.position[body] + kinematics.rotation[body] @ tracks.wheels.place[wheel]
        pushed = np.array([*impulse, *cross_product(at, impulse)])
        given[body] += pushed
        given[tracks.body[t]] -= pushed


def _give_shovels(system, workspace, given):
    """What soil holds a shovel with, and the impulse of what it loads and spills; its load is the body's inertia."""
    work = workspace.digging
    for body, force, unit, exchanged in zip(
        system.digging.body, work.force, work.resistance.wrench, work.given, strict=True
    ):
        given[body] += system.settings.step * (force @ unit) + exchanged


def _give_impulses(bodies, impulses, workspace, given):
    """Impulses of grains or blocks on bodies, their moments about the bodies' origins."""
    kinematics = workspace.multibody.kinematics
    for body, impulse in zip(bodies, impulses, strict=True):
        if body >= 0:
            moment = impulse[3:6] + cross_product(kinematics.position[body], impulse[:3])
            given[body] += [*impulse[:3], *moment]


def _give_pushes(system, workspace, given):
    for body, wrench in zip(system.pushing.body, workspace.pushing.wrench, strict=True):
        given[body] += system.settings.step * wrench


def _give_pairs(system, workspace, given):
    pairs, rows = system.loops, workspace.loops.rows
    for r, impulse in enumerate(rows.impulse):
        p = pairs.row_loop[r]
        wrench = impulse * np.array(loop_wrench.py_func(pairs, rows.motion, r))
        given[pairs.child_body[p]] += wrench
        given[pairs.parent_body[p]] -= wrench


def _give_cylinders(system, workspace, given):
    geometry, kinematics = system.hydraulics.geometry, workspace.multibody.kinematics
    for c in range(len(geometry.barrel_body)):
        rod = _place(kinematics, geometry.rod_body[c], geometry.rod_point[c])
        barrel = _place(kinematics, geometry.barrel_body[c], geometry.barrel_point[c])
        impulse = workspace.constraints.rows.impulse[c] * (rod - barrel) / np.linalg.norm(rod - barrel)
        wrench = np.concatenate([impulse, cross_product(rod, impulse)])
        given[geometry.rod_body[c]] += wrench
        given[geometry.barrel_body[c]] -= wrench


def _place(kinematics, body, point):
    """A point given in a body's frame, from the kinematics' origin, world axes."""
    if body < 0:
        return point - kinematics.origin
    return kinematics.position[body] + kinematics.rotation[body] @ point
