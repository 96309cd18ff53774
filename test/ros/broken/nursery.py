"""A process that becomes simulators: it has all loaded and compiled once, and forks for each that is asked for.

Takes the names of machines; says when it is ready. Then it reads lines of JSON from its standard input, a list: names
of the faults, then arguments of ROS. It answers each with the process identifier of the simulator, which runs
until SIGTERM.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence

import rclpy
from faults import broken
from rclpy.signals import SignalHandlerOptions

import grouser
from grouser import catalogue
from grouser.nodes.shared.process import stop_on_signals
from grouser.nodes.simulator.node import leave, spinning
from grouser.runtime.streams import STREAMS, take_sample


def become(faults: Sequence[str], arguments: list[str]) -> None:
    stop = threading.Event()
    stop_on_signals(stop)
    rclpy.init(args=["simulator", *arguments], signal_handler_options=SignalHandlerOptions.NO)
    node = broken(faults)((), stop)
    with spinning(node):
        stop.wait()
    leave(node.exit_status)


def main() -> None:
    for name in sys.argv[1:]:
        simulation = grouser.Simulation(grouser.load_machine(catalogue.machine_file(name)), grouser.World())
        simulation.step(1)
        take_sample(simulation, 0, STREAMS)
        simulation.energy_balance()
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    for line in sys.stdin:
        faults, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            become(faults, arguments)
        print(child, flush=True)


if __name__ == "__main__":
    main()
