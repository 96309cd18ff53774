"""A bridge that runs in the test, from a shipped mapping to a plant that remembers."""

import math
from pathlib import Path

import yaml
from bridge_pieces import RememberingPlant
from patience import wait_until

from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.protocols import transport_of
from grouser.bridges.runner import BridgeRunner

SHIPPED = Path(__file__).resolve().parent.parent.parent / "config" / "bridges"


# [s] of silence: a busy computer may keep a player from talking for longer than the shipped ones allow.
TIMEOUT = 3.0


def shipped_file(folder, name, **interface):
    """The file of a shipped mapping with other keys of its interface, and a timeout that no load exceeds."""
    mapping = yaml.safe_load((SHIPPED / name).read_text())
    mapping["timeout"] = TIMEOUT
    mapping["interface"] |= interface
    if "database" in mapping["interface"]:
        mapping["interface"]["database"] = str(SHIPPED / mapping["interface"]["database"])
    path = folder / name
    path.write_text(yaml.safe_dump(mapping))
    return path


def shipped_mapping(folder, name, **interface):
    """A shipped mapping with other keys of its interface."""
    return load_bridge_mapping(shipped_file(folder, name, **interface))


class Bench:
    """A bridge that runs, and what it has told.

    Attributes:
        plant: that it commands.
        links, openings: changes of links and of the transport.
        transport, runner: its parts.
    """

    def __init__(self, mapping):
        self.plant = RememberingPlant()
        self.links, self.openings = [], []
        self.transport = transport_of(mapping)
        self.runner = BridgeRunner(mapping, self.transport, self.plant, self.links.append, self.openings.append)
        self.runner.start()

    @property
    def states(self):
        return self.runner.bridge.states

    @property
    def reasons(self):
        return self.runner.bridge.reasons

    def refused(self, message):
        """Counts of refused messages by reason."""
        return self.runner.bridge.figures.inputs[message].refused

    def wait_open(self, openings=1):
        wait_until(lambda: self.runner.transport.state.openings == openings, "the transport is open")

    def wait_state(self, message, state):
        wait_until(lambda: self.states[message] is state, f"{message} is {state.value}")

    def wait_command(self, **valves):
        def holds():
            now = self.plant.now
            return all(math.isclose(now[f"valve/{name}"], value, abs_tol=1e-9) for name, value in valves.items())

        wait_until(holds, f"commands {valves}")
