"""Peers of bridges to controllers for tests: sinks that remember, mapping files, free ports and other processes."""

import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patience import DEADLINE, wait_until

from grouser.bridges.mapping.reader import load_bridge_mapping

# Three joints with drives, each turning freely.
_JOINT = """
  <link name="{name}_arm">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="{name}" type="continuous">
    <parent link="frame"/><child link="{name}_arm"/><axis xyz="0 0 1"/><limit effort="100" velocity="10"/>
  </joint>
  <grouser><servo_drive joint="{name}" mode="velocity" damping="10"/></grouser>"""
MACHINE = (
    f'<robot name="three_joints"><link name="frame"/>{"".join(_JOINT.format(name=name) for name in "abc")}</robot>'
)


@dataclass
class RememberingSink:
    """Keeps everything that a transport hands to it."""

    received: list = field(default_factory=list)
    losses: list = field(default_factory=list)

    def receive(self, received):
        self.received.append(received)

    def lost(self, reason, time, messages=None):
        self.losses.append(reason)

    def broken(self, reason, time):
        self.losses.append(reason)

    def refusals(self, message):
        return [one.refusal for one in self.received if one.message == message and one.refusal]

    def values(self, message):
        return [dict(one.values) for one in self.received if one.message == message and not one.refusal]

    def wait_for(self, condition, what):
        wait_until(lambda: condition(self), what)


def free_port():
    """A port of TCP that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def load_mapping(folder: Path, text: str):
    """The mapping of a text, whose machine may be three_joints.urdf."""
    (folder / "three_joints.urdf").write_text(MACHINE)
    file = folder / "mapping.yaml"
    file.write_text(text)
    return load_bridge_mapping(file)


@contextmanager
def opened(transport, sink):
    """A transport between open and close."""
    transport.open(sink)
    try:
        yield transport
    finally:
        transport.close()


class Peer:
    """A controller in a process of its own: a script that takes lines of JSON and answers each by one.

    Args:
        script: under test/unit/.
        arguments: of the script.
    """

    def __init__(self, script, *arguments):
        command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._watch = threading.Timer(DEADLINE, self.process.kill)
        self._watch.daemon = True
        self._watch.start()

    def __enter__(self):
        assert self.ask("ready") == "ready"
        return self

    def __exit__(self, *problem):
        self._watch.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    def ask(self, *request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"{self.process.args[1]} ended with {self.process.wait()} when asked {request}"
        return json.loads(line)
