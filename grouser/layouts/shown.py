"""What a machine publishes and other programs can show."""

from dataclasses import dataclass

from grouser.catalogue import world_file
from grouser.physics.description.data.machine import Machine
from grouser.physics.description.world.reader import load_world
from grouser.runtime.frames import FrameTree
from grouser.runtime.streams import STREAMS, Stream, StreamSource

MAP_FRAME, ODOM_FRAME, FOOTPRINT_FRAME = "map", "odom", "base_footprint"
ROBOT_DESCRIPTION = "/robot_description"


@dataclass(frozen=True)
class Shown:
    """A topic.

    Attributes:
        topic: absolute name.
        stream: its row in the table of streams.
    """

    topic: str
    stream: Stream


def world_of(machine: Machine) -> str:
    """Returns the world whose topics are shown: with soil for what drives."""
    return "sand" if machine.wheels or machine.tracks else "flat"


def shown_topics(machine: Machine) -> list[Shown]:
    """Returns the topics of a machine in its world, in the order of the table of streams."""
    world = load_world(world_file(world_of(machine)))
    frames = FrameTree(machine, world.ground, ODOM_FRAME, FOOTPRINT_FRAME)
    source = StreamSource(machine, world, frames, MAP_FRAME, ODOM_FRAME, FOOTPRINT_FRAME, True, True)
    found = []
    for stream in STREAMS.values():
        if not stream.given.holds(machine, world):
            continue
        names = [stream.topic] if stream.items is None else list(stream.topics(stream.items(source)).values())
        found += [Shown(f"/{name.lstrip('/')}", stream) for name in names]
    return found
