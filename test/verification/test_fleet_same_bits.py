"""Members of a fleet that do not touch: no bit of one depends on what the others do."""

from dataclasses import replace

import numpy as np
import pytest
from loose_bodies import solid
from shipped import shipped_machine

from grouser import Member, Simulation, carry_over, combine, load_world
from grouser.catalogue import world_file
from grouser.physics.description.data.contact import ContactMaterial
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.shapes import Box, Sphere

LIMITED_DRIVE = '<servo_drive joint="{}" mode="velocity" damping="50" effort_limit="4"/>'


@pytest.fixture(scope="module")
def flat():
    return load_world(world_file("flat"))


def arm(parts):
    """Joints in series with each law of dry friction, moved by efforts."""
    friction = {
        "two_state": 'static="14" kinetic="8"',
        "stribeck": 'static="5" kinetic="2" stribeck_speed="0.1"',
        "lugre": 'static="3" kinetic="1.5" stribeck_speed="0.1" bristle_stiffness="2e4"',
    }
    links, extension, parent = ['<link name="world"/>'], "", "world"
    for law, levels in friction.items():
        links.append(parts.link(law, 1.3, (0.02,) * 3, com=(0.2, 0.0, 0.05)))
        links.append(parts.joint(f"{law}_joint", "continuous", parent, law, axis=(0, 1, 0), xyz=(0.4, 0, 0)))
        extension += f'<joint_friction joint="{law}_joint" law="{law}" {levels}/>'
        extension += f'<servo_drive joint="{law}_joint" mode="effort" effort_limit="1e9"/>'
        parent = law
    return parts.machine(*links, extension=extension)


def top(parts):
    """A wheel that turns far in a step, in two hinges with drives, one of them at its limit."""
    return parts.machine(
        '<link name="world"/>',
        parts.link("fork", 1.0, (0.01, 0.01, 0.01)),
        parts.link("wheel", 0.8, (0.004, 0.004, 0.007), com=(0.0, 0.0, 0.06)),
        parts.joint("tilt", "continuous", "world", "fork", axis=(1, 0, 0)),
        parts.joint("spin", "continuous", "fork", "wheel"),
        extension=LIMITED_DRIVE.format("tilt") + '<servo_drive joint="spin" mode="effort" effort_limit="1e9"/>',
    )


def body(geometry, restitution):
    """A machine that is one rigid body which bounces."""
    material = (ContactMaterial("body", restitution=restitution, friction=0.7),)
    return Machine("body", (solid("body", geometry, 3.0),), (), "body", True, contacts=material)


def members(parts):
    """All members at their places, the first of them the arm, which has a fixed base."""
    machines = {
        "arm": arm(parts),
        "top": top(parts),
        "rover": shipped_machine("rover"),
        "ball": body(Sphere(0.1), 0.8),
        "excavator": shipped_machine("excavator"),
        "box": body(Box((0.3, 0.2, 0.1)), 0.9),
        "slider": shipped_machine("stick_slip"),
    }
    places = {name: Pose((6.0 * k - 6.0, 0.7 * k, 0.0)) for k, name in enumerate(machines)}
    return {name: Member(machine, places[name]) for name, machine in machines.items()}


def start(part, name, place, lively):
    """Sets the motion that a member starts with."""
    x, y, z = place.position
    height, speed = (0.3, 1.7) if lively else (0.6, -0.4)
    if name in ("ball", "box"):
        part.place((x, y, z + height), (0.0, 0.0, 0.0, 1.0), linear=(0.2, speed, 0.0), angular=(3.0, 7.0 * speed, 1.0))


def command(part, name, time, lively):
    """Commands a member."""
    wave = np.sin(2.0 * np.pi * time / (0.4 if lively else 0.9))
    if name == "arm":
        for joint, effort in (("two_state", 20.0), ("stribeck", 9.0), ("lugre", 5.0)):
            part.command[f"{joint}_joint"] = effort * wave
    elif name == "top":
        part.command["spin"] = (3.0 if lively else 0.2) * (1.0 - 2.0 * time)
        part.command["tilt"] = 8.0 * wave
    elif name == "slider":
        part.command["mass_1"] = (8.0 if lively else 14.0) * wave
    elif name == "rover":
        for joint, mode in part.command.drives.items():
            if mode == "velocity":
                part.command[joint] = 2.0 * wave if lively else 1.0
    elif name == "excavator":
        part.command.update({"boom_valve": 0.6 * wave, "swing_valve": 0.5 if lively else -0.2})


def record(parts_of, places, lively, steps=1000, every=20):
    """Lets the members move; what each of them does, in bits.

    Args:
        parts_of: simulation, and the view of each member.
        places: of the members.
        lively: the members that behave in the first of two ways; the others behave in the second.
    """
    simulation, views = parts_of
    seen = {name: [] for name in views}
    for name, view in views.items():
        start(view, name, places[name], name in lively)
    for k in range(0, steps, every):
        for name, view in views.items():
            command(view, name, k * simulation.step_size, name in lively)
        simulation.step(every)
        for name, view in views.items():
            seen[name].append(bits(view))
    return {name: np.array(samples) for name, samples in seen.items()}


READINGS = ("joint_position", "joint_velocity", "joint_effort", "contact_wrench", "joint_reaction")


def bits(view):
    """Motion, pressures and forces of a member."""
    readings = (view.link_poses(), *view.base_twist(), *(getattr(view, of).values() for of in READINGS))
    pressures = [pressure for line, pressure in view.circuit.line_pressure.items() if line != "(air)"]
    return np.concatenate([*(np.ravel(reading) for reading in readings), pressures])


def fleet(chosen, world):
    """A simulation of members, and the view of each."""
    simulation = Simulation(combine(chosen), world)
    return simulation, {name: simulation.part(name) for name in chosen}


def test_members_do_not_depend_on_what_others_do(parts, flat):
    chosen = members(parts)
    names = list(chosen)
    places = {name: member.pose for name, member in chosen.items()}
    some = frozenset(names[::2])
    plain, mixed = (record(fleet(chosen, flat), places, lively) for lively in (frozenset(), some))
    lively = record(fleet(chosen, flat), places, frozenset(names))
    for name in names:
        if name in some:
            assert np.array_equal(mixed[name], lively[name]), name
            assert not np.array_equal(mixed[name], plain[name]), name
        else:
            assert np.array_equal(mixed[name], plain[name]), name
            assert not np.array_equal(mixed[name], lively[name]), name


@pytest.mark.parametrize("first", ["rover", "ball", "excavator", "box", "top", "slider"])
def test_first_member_moves_as_alone(parts, flat, first):
    others = members(parts)
    place = replace(others[first].pose, position=(0.5, -7.0, 0.0))
    machine = others.pop(first).machine
    chosen = {first: Member(machine, place), **others}
    places = {name: member.pose for name, member in chosen.items()}
    together = record(fleet(chosen, flat), places, frozenset(others))[first]
    alone = Simulation(combine({first: Member(machine, place)}), flat)
    assert np.array_equal(together, record((alone, {first: alone.part(first)}), places, frozenset())[first])


def test_member_that_leaves_changes_no_bit_of_the_others(parts, flat):
    chosen = members(parts)
    places = {name: member.pose for name, member in chosen.items()}
    stays = {name: member for name, member in chosen.items() if name not in ("rover", "box")}
    together = fleet(chosen, flat)
    record(together, places, frozenset(stays), steps=200)
    remaining = fleet(stays, flat)
    carry_over(together[0], remaining[0])
    for simulation, views in (together, remaining):
        for name, view in views.items():
            command(view, name, 0.13, lively=True)
        simulation.step(300)
    for name, view in remaining[1].items():
        assert np.array_equal(bits(view), bits(together[1][name])), name
