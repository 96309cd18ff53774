"""Two J1939 joysticks on a CAN bus, as a process of their own, by other libraries than the bridge's.

`can-j1939` claims their addresses and sends; `cantools` writes the joystick messages. Commands come as lines of JSON on
standard input; each frame that arrives goes to standard output as identifier#data.

    {"left": [x, y]}, {"right": "error"}, {"right": null}    positions, an error code, silence
    {"faults": [[spn, fmi], ...]}                            active faults of the left one, by DM1
    {"raw": "18EEFF33#..."}                                  any frame
    {"end": true}

Arguments: interface and channel of python-can.
"""

import json
import sys
import threading
from pathlib import Path

import can
import cantools
import j1939

DATABASE = Path(__file__).resolve().parent.parent / "data" / "j1939_joystick.dbc"
PERIOD = 0.02  # [s]
STICKS = {"left": (0x33, 0xD6, 7), "right": (0x34, 0xD8, 8)}  # address, last byte of the parameter group, number


def name(number):
    return j1939.Name(
        arbitrary_address_capable=0,
        industry_group=3,
        vehicle_system_instance=0,
        vehicle_system=0,
        function=0,
        function_instance=0,
        ecu_instance=0,
        manufacturer_code=0x666,
        identity_number=number,
    )


class Player:
    def __init__(self, interface, channel):
        self.message = cantools.database.load_file(DATABASE).get_message_by_name("BJM1")
        self.positions = {stick: [0.0, 0.0] for stick in STICKS}
        self.faults = []
        self.ending = threading.Event()
        self.sending = threading.Lock()
        options = {"sleep_after_open": 0.01, "timeout": 0.02} if interface == "slcan" else {}
        self.bus = can.Bus(interface=interface, channel=channel, **options)
        self.unit = j1939.ElectronicControlUnit(send_message=self.send)
        threading.Thread(target=self.hear, daemon=True).start()
        self.nodes = {}
        for stick, (address, _, number) in STICKS.items():
            node = j1939.ControllerApplication(name(number), address)
            self.unit.add_ca(controller_application=node)
            node.start()
            self.nodes[stick] = node
        j1939.Dm1(self.nodes["left"]).start_send(self.active_faults)

    def active_faults(self):
        codes = [{"spn": spn, "fmi": fmi, "oc": 1} for spn, fmi in self.faults]
        return {"awl": int(bool(codes))}, codes or [{"spn": 0, "fmi": 0, "oc": 0}]

    def send(self, identifier, extended, data, fd_format=False):
        with self.sending:
            self.bus.send(can.Message(arbitration_id=identifier, is_extended_id=extended, data=bytes(data)))

    def hear(self):
        while not self.ending.is_set():
            frame = self.bus.recv(0.1)
            if frame is not None:
                print(f"{frame.arbitration_id:08X}#{frame.data.hex().upper()}", flush=True)
                self.unit.notify(frame.arbitration_id, frame.data, frame.timestamp)

    def bytes_of(self, position):
        fields = {signal.name: 3 for signal in self.message.signals}
        for letter, value in zip("XY", [2.0, 2.0] if position == "error" else position, strict=True):
            codes = (2, 2, 2, 1022)
            if position != "error":
                codes = (value == 0.0, value < 0.0, value > 0.0, round(1000.0 * abs(value)))
            for part, code in zip(("Neutral", "Negative", "Positive", "Position"), codes, strict=True):
                fields[letter + part] = int(code)
        return self.message.encode(fields, scaling=False, padding=True, strict=False)

    def play(self):
        while not self.ending.wait(PERIOD):
            for stick, (_, group, _) in STICKS.items():
                node, position = self.nodes[stick], self.positions[stick]
                if position is not None and node.state == j1939.ControllerApplication.State.NORMAL:
                    node.send_pgn(0, 0xFD, group, 3, list(self.bytes_of(position)))

    def obey(self, command):
        for stick in STICKS:
            if stick in command:
                self.positions[stick] = command[stick]
        self.faults = command.get("faults", self.faults)
        if "raw" in command:
            identifier, data = command["raw"].split("#")
            self.send(int(identifier, 16), True, bytes.fromhex(data))
        if "end" in command:
            self.ending.set()


def main():
    player = Player(*sys.argv[1:3])
    thread = threading.Thread(target=player.play, daemon=True)
    thread.start()
    for line in sys.stdin:
        player.obey(json.loads(line))
        if player.ending.is_set():
            break
    player.ending.set()
    thread.join()
    player.unit.stop()
    player.bus.shutdown()


if __name__ == "__main__":
    main()
