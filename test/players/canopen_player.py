"""A CANopen joystick, as a process of its own, by the library `canopen`: process data, heartbeats, network management.

Commands come as lines of JSON on standard input; what happens goes to standard output.

    {"x": -12000, "y": 500}    positions, sent as TPDO1 each 20 ms while the node is operational
    {"heartbeat": false}       no heartbeats any more
    {"emergency": 20480}       an emergency message

Arguments: interface and channel of python-can, data sheet.
"""

import json
import sys
import threading

import canopen

NODE = 10
PERIOD = 0.02  # [s]


def main():
    interface, channel, sheet = sys.argv[1:]
    network = canopen.Network()
    network.connect(interface=interface, channel=channel, sleep_after_open=0.01, timeout=0.02)
    node = network.create_node(NODE, sheet)
    node.nmt.state = "INITIALISING"
    node.nmt.state = "PRE-OPERATIONAL"
    node.nmt.start_heartbeat(100)
    node.tpdo.read()
    node.rpdo.read()
    node.rpdo[1].subscribe()
    node.rpdo[1].add_callback(lambda data: print(f"lamp {data['Lamp'].raw:g}", flush=True))
    ending = threading.Event()

    def send():
        while not ending.wait(PERIOD):
            if node.nmt.state == "OPERATIONAL":
                node.tpdo[1].transmit()

    thread = threading.Thread(target=send)
    thread.start()
    for line in sys.stdin:
        command = json.loads(line)
        for axis in set(command) & {"x", "y"}:
            node.tpdo[1][f"Joystick.{axis.upper()}"].raw = command[axis]
        if command.get("heartbeat") is False:
            node.nmt.stop_heartbeat()
        if "emergency" in command:
            node.emcy.send(command["emergency"], 1)
    ending.set()
    thread.join()
    network.disconnect()


if __name__ == "__main__":
    main()
