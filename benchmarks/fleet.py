"""Many machines that do not touch: rovers that drive, boxes that stand or sleep, beside MuJoCo with the same ones.

The rover of the catalogue, whose wheels are cylinders, is measured without a peer. Times of all numbers are measured
alternately, so that their growth does not depend on the load of the computer.
"""

import copy
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import grouser
from grouser import catalogue
from grouser.benchmarks import scenes, stepping
from grouser.benchmarks.contacts import MuJoCoScene
from grouser.benchmarks.figure import Figure, Target, alternating_medians
from grouser.benchmarks.peers import require, source_file
from grouser.benchmarks.step import MuJoCo
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.data.machine import Machine, Member
from grouser.physics.description.data.pose import Pose, Vector3

DESCRIPTION = "step of 1 to 16 rovers and of 9 to 500 boxes that do not touch, awake or asleep, beside MuJoCo"

ROVERS = (1, 2, 4, 8, 16)
BOXES = (9, 36, 72, 144, 500)

_DISTANCE = 5.0  # between rovers [m]
_WHEEL_SPEED = 2.0  # [rad/s]
_SETTLING_STEPS = 1000
_STEPS = 200
_REPEATS = 9
_EIGHT_ROVERS = 9.0  # times one
_BOX_TIME = 100.0  # of 36 boxes [µs]
_BOX_GROWTH = 1.2  # time of a box among 500, by that among 36
_SLEEPING_SHARE = 0.02  # time of 500 boxes that sleep, by that of 500 that stand
_MUJOCO_TOLERANCE = 1e-8

# The two programs that step the same machines: in place of grouser's the reason why it cannot, None for no peer.
_Pair = tuple[Any, Any]


def run() -> list[Figure]:
    """Measures rovers, then boxes."""
    mujoco = require("mujoco")
    return [*_rovers(mujoco), *_boxes(mujoco)]


# --- rovers ---------------------------------------------------------------------------------------------------------


def rover_places(count: int) -> list[Vector3]:
    """Positions of the bases, side by side [m]."""
    return [(0.0, _DISTANCE * k, stepping.START_HEIGHT["rover"]) for k in range(count)]


def driving_rovers(rover: Machine, count: int) -> grouser.Simulation:
    """Rovers side by side that drive in grouser; the members are r0, r1, ..."""
    members = {f"r{k}": Member(rover, Pose(at)) for k, at in enumerate(rover_places(count))}
    made = grouser.Simulation(grouser.combine(members), step=stepping.STEP)
    for joint, mode in made.command.drives.items():
        if mode == "velocity":
            made.command[joint] = _WHEEL_SPEED
    return made


def mujoco_rovers(mujoco: Any, count: int) -> Any:
    """MuJoCo's model of the same rovers."""
    root = ElementTree.parse(source_file("test", "data", "models", "rover.xml")).getroot()
    world, actuators = root.find("./worldbody"), root.find("./actuator")
    assert world is not None and actuators is not None
    rover, drives = world.find("./body"), list(actuators)
    assert rover is not None
    world.remove(rover)
    for drive in drives:
        actuators.remove(drive)
    for k, place in enumerate(rover_places(count)):
        one = _renamed(rover, f"r{k}/")
        one.set("pos", " ".join(map(str, place)))
        world.append(one)
        actuators.extend([_renamed(drive, f"r{k}/") for drive in drives])
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, "unicode"))


def _renamed(element: ElementTree.Element, prefix: str) -> ElementTree.Element:
    """A copy with the prefix to all names."""
    made = copy.deepcopy(element)
    for part in made.iter():
        for attribute in ("name", "joint"):
            if attribute in part.attrib:
                part.set(attribute, prefix + part.attrib[attribute])
    return made


def mujoco_driving_rovers(mujoco: Any, count: int) -> MuJoCo:
    """Rovers that drive in MuJoCo."""
    model = mujoco_rovers(mujoco, count)
    made = MuJoCo(mujoco, model)
    names = [model.actuator(number).name for number in range(model.nu)]
    made.control[:] = [_WHEEL_SPEED if "a_wheel" in name else 0.0 for name in names]
    return made


def _rovers(mujoco: Any) -> Iterator[Figure]:
    simple, whole = stepping.load("rover"), grouser.load_machine(catalogue.machine_file("rover"))
    pairs = {n: (_possible(partial(driving_rovers, simple, n)), mujoco_driving_rovers(mujoco, n)) for n in ROVERS}
    alone = {n: (_possible(partial(driving_rovers, whole, n)), None) for n in ROVERS}
    for figures in (_measure(pairs, "rovers"), _measure(alone, "rovers of the catalogue")):
        for count, figure in figures.items():
            targets: tuple[Target, ...] = ()
            if count == 8 and "times 1" in figure.details:
                targets = (Target("time by that of one", float(figure.details["times 1"]), _EIGHT_ROVERS),)
            yield replace(figure, targets=targets)


# --- boxes ----------------------------------------------------------------------------------------------------------


def _boxes(mujoco: Any) -> Iterator[Figure]:
    awake, asleep = {}, {}
    for count in BOXES:
        scene = scenes.boxes_apart(count)
        ours = _possible(partial(scenes.simulation, scene))
        awake[count] = ours, MuJoCoScene(mujoco, scene, _MUJOCO_TOLERANCE)
        ours = _possible(partial(scenes.simulation, scene, sleeping=True))
        asleep[count] = ours, _that_sleeps(mujoco, MuJoCoScene(mujoco, scene, _MUJOCO_TOLERANCE))
    figures, sleeping = _measure(awake, "boxes apart"), _measure(asleep, "boxes asleep")
    for count, figure in figures.items():
        yield replace(figure, targets=tuple(_box_targets(count, figure, figures[36])))
    for count, figure in sleeping.items():
        yield replace(figure, targets=tuple(_sleeping_targets(count, figure, figures[count])))
    rover = stepping.load("rover")
    beside = {count: (_possible(partial(rover_beside_boxes, rover, count)), None) for count in BOXES}
    yield from _measure(beside, "rover beside boxes asleep").values()


def _that_sleeps(mujoco: Any, peer: MuJoCoScene) -> MuJoCoScene | None:
    """The same scene, in which MuJoCo's bodies may sleep; None for versions in which they cannot."""
    if not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"):
        return None
    peer.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    peer.start()
    return peer


def rover_beside_boxes(rover: Machine, count: int) -> grouser.Simulation:
    """A rover that drives slowly beside boxes that sleep."""
    boxes = scenes.members(scenes.boxes_apart(count))
    apart = {name: replace(box, pose=Pose((x + _DISTANCE, y, z))) for name, box, (x, y, z) in _placed(boxes)}
    members = {"rover": Member(rover, Pose(rover_places(1)[0])), **apart}
    made = grouser.Simulation(grouser.combine(members), step=stepping.STEP, sleeping=True)
    for joint, mode in made.command.drives.items():
        if mode == "velocity":
            made.command[joint] = -_WHEEL_SPEED
    return made


def _placed(members: Mapping[str, Member]) -> Iterator[tuple[str, Member, Vector3]]:
    for name, member in members.items():
        assert member.pose is not None
        yield name, member, member.pose.position


def _sleeping_targets(count: int, figure: Figure, standing: Figure) -> Iterator[Target]:
    if count == 500 and figure.value is not None and standing.value is not None:
        yield Target("time by that of boxes that stand", figure.value / standing.value, _SLEEPING_SHARE)


def _box_targets(count: int, figure: Figure, base: Figure) -> Iterator[Target]:
    if figure.value is None or base.value is None:
        return
    if count == 36:
        yield Target("step [µs]", figure.value, _BOX_TIME)
    if count == 500:
        yield Target("time of a box by that among 36", figure.value / count / (base.value / 36), _BOX_GROWTH)


# --- both -----------------------------------------------------------------------------------------------------------


def _possible(make: Callable[[], grouser.Simulation]) -> grouser.Simulation | str:
    """A simulation, or the reason why there is none."""
    try:
        return make()
    except (MachineError, ParameterError) as error:
        return " ".join(str(error).split())


def _measure(pairs: Mapping[int, _Pair], what: str) -> dict[int, Figure]:
    """Figures by number of machines, each with the time of a step by that of the smallest number."""
    programs = [program for pair in pairs.values() for program in pair if hasattr(program, "step")]
    for program in programs:
        program.step(_SETTLING_STEPS)
    medians = alternating_medians(_REPEATS, *[lambda made=made: made.step(_STEPS) for made in programs])
    times = {id(program): 1e6 / _STEPS * taken for program, taken in zip(programs, medians, strict=True)}
    least = min(pairs)
    figures = {}
    for count, (ours, peer) in pairs.items():
        own, other = times.get(id(ours)), times.get(id(peer))
        details: dict[str, float | int | str] = {}
        for name, time, first in zip(("", "MuJoCo's, "), (own, other), pairs[least], strict=True):
            if time is not None and id(first) in times:
                details[f"{name}times {least}"] = time / times[id(first)]
        if own is not None:
            state = ours.diagnostics
            details |= {
                "of each [µs]": own / count,
                "coordinates": len(ours.state.v),
                "contacts": state.contact_count,
                "bodies asleep": len(ours.asleep),
                "sweeps, most": state.iterations_max,
            }
        reason = "" if own is not None else ours
        peer_name = "" if peer is None else peer.name
        figures[count] = Figure(f"step, {what}: {count}", own, "µs", peer_name, other, details, reason=reason)
    return figures
