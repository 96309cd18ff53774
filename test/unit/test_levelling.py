"""A soft PLC in another process levels the demolition robot over the shipped mappings; then it dies."""

import math
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import wait_until
from plc_peers import free_port
from soft_plc import LEGS, PASSWORD, USER

import grouser
from grouser.bridges.link import LinkState
from grouser.bridges.mapping.reader import load_bridge_mapping
from grouser.bridges.plc.credentials import add_user, make_certificate
from grouser.bridges.protocols import transport_of
from grouser.bridges.runner import BridgeRunner
from grouser.bridges.simulation_plant import SimulationPlant
from grouser.resources import share_path

TICK = 20  # steps of 1 ms


class RobotOnOutriggers:
    """The robot, stepped level with the wall clock by a thread of its own, as the plant of a bridge."""

    def __init__(self, tilt):
        machine = grouser.load_machine(share_path("urdf", "demolition_robot.urdf.xacro"), {"lidar": "false"})
        world = grouser.load_world(share_path("config", "worlds", "flat.yaml"))
        self.simulation = grouser.Simulation(machine, world, step=0.001)
        self._plant = SimulationPlant(self.simulation)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._command_legs({leg: tilt * left for leg, (_, left) in LEGS.items()}, 700)
        self._command_legs(dict.fromkeys(LEGS, 0.0), 500)
        self._thread = threading.Thread(target=self._run)

    def _command_legs(self, values, steps):
        self._plant.command({f"valve/outrigger_{leg}_valve": value for leg, value in values.items()})
        self.simulation.step(steps)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *problem):
        self._ending.set()
        self._thread.join()

    def _run(self):
        begin, before = time.monotonic(), self.simulation.time
        while not self._ending.is_set():
            with self._lock:
                self.simulation.step(TICK)
                ahead = (self.simulation.time - before) - (time.monotonic() - begin)
            if ahead > 0.0:
                time.sleep(ahead)

    def command(self, values):
        with self._lock:
            self._plant.command(values)

    def measure(self, names):
        with self._lock:
            return self._plant.measure(names)

    def tilt(self):
        """Of the base [deg]."""
        angles = self.measure(["pose/roll", "pose/pitch"])
        return math.degrees(math.hypot(*angles.values()))

    def least_load(self):
        """Of all feet [N]."""
        names = {leg: [f"contact/outrigger_link_{leg}/force_{axis}" for axis in "xyz"] for leg in LEGS}
        measured = self.measure([name for listed in names.values() for name in listed])
        return min(math.hypot(*(measured[name] for name in listed)) for listed in names.values())

    def legs(self):
        """Position of each cylinder [m], and the command of its valve."""
        with self._lock:
            cylinders = [self.simulation.cylinder[f"outrigger_{leg}"].position for leg in LEGS]
            return cylinders, [self.simulation.command[f"outrigger_{leg}_valve"] for leg in LEGS]

    def wait(self, seconds):
        """Waits for simulation time to pass."""
        end = self.simulation.time + seconds
        wait_until(lambda: self.simulation.time >= end, "simulation time")


@contextmanager
def soft_plc(*arguments):
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name("soft_plc.py")), *map(str, arguments)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def shipped_mapping(kind, folder, port):
    text = share_path("config", "bridges", f"levelling_{kind}.yaml").read_text()
    interface = next(line for line in text.splitlines() if line.startswith("interface:"))
    changed = interface[: interface.index("port: ")] + f"port: {port}" + interface[interface.index("port: ") + 10 :]
    if kind == "opcua":
        certificate, key = make_certificate("bridge", folder)
        client, _ = make_certificate("plc", folder)
        (folder / "trusted").mkdir()
        (folder / "trusted" / "plc.der").write_bytes(client.read_bytes())
        add_user(USER, PASSWORD, folder / "users.yaml")
        files = f"certificate: {certificate}, private_key: {key}, users: users.yaml, trusted: {folder / 'trusted'}"
        changed = changed[: changed.rindex("}")] + f", security: {{{files}}}}}"
    file = folder / "mapping.yaml"
    file.write_text(text.replace(interface, changed))
    return load_bridge_mapping(file)


@pytest.mark.parametrize("kind", ["modbus", "opcua"])
def test_a_soft_plc_levels_the_robot_and_dies(kind, tmp_path):
    port = free_port()
    mapping = shipped_mapping(kind, tmp_path, port)
    plc = (kind, port) if kind == "modbus" else (kind, port, tmp_path)
    with RobotOnOutriggers(tilt=0.3) as robot:
        assert robot.tilt() > 1.0
        changes = []
        runner = BridgeRunner(mapping, transport_of(mapping), robot, changes.append)
        runner.start()
        try:
            wait_until(lambda: runner.transport.state.is_open, "the server")

            def state():
                return runner.bridge.states["outriggers"]

            def obeyed():
                return runner.bridge.figures.inputs["outriggers"].obeyed

            with soft_plc(*plc) as process:
                wait_until(lambda: state() is LinkState.LIVE, "the link")
                wait_until(lambda: robot.tilt() < 0.5 and robot.least_load() > 1000.0, "a level robot on four feet")
                robot.wait(1.0)
                assert robot.tilt() < 0.5
                assert robot.least_load() > 1000.0
                process.kill()
                wait_until(lambda: state() is LinkState.LATCHED, "the latch")
            cylinders, commands = robot.legs()
            assert commands == [0.0] * 4
            robot.wait(2.0)
            assert robot.legs()[0] == pytest.approx(cylinders, abs=1e-3)
            assert robot.tilt() < 0.5
            assert runner.bridge.acknowledge(time.monotonic())  # nobody is there: it says why not
            assert state() is LinkState.LATCHED
            before = obeyed()
            with soft_plc(*plc):
                wait_until(lambda: not runner.bridge.acknowledge(time.monotonic()), "an acknowledgement")
                wait_until(lambda: state() is LinkState.LIVE, "the link again")
                wait_until(lambda: obeyed() > before + 5, "commands again")
                assert robot.tilt() < 0.5
        finally:
            runner.stop()
    fall = next(change for change in changes if change.after is LinkState.LATCHED)
    assert fall.reason == "silence"
    held = runner.bridge.figures.inputs["outriggers"].longest_hold
    assert held > mapping.incoming[0].timeout
