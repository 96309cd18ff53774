"""A simulator with faults as a process: takes their names, in one word with commas between, then arguments of ROS."""

import sys
import threading

import rclpy
from faults import broken
from rclpy.signals import SignalHandlerOptions

from grouser.nodes.shared.process import stop_on_signals
from grouser.nodes.simulator.node import leave, spinning


def main() -> None:
    faults, *arguments = sys.argv[1:]
    stop = threading.Event()
    stop_on_signals(stop)
    rclpy.init(args=["simulator", *arguments], signal_handler_options=SignalHandlerOptions.NO)
    node = broken([name for name in faults.split(",") if name])((), stop)
    with spinning(node):
        stop.wait()
    leave(node.exit_status)


if __name__ == "__main__":
    main()
