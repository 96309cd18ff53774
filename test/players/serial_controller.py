"""A controller on a serial line, as a process of its own: commands of boom and swing each 20 ms, by frames.

It writes the frames by `cobs` and the standard library alone. Commands come as lines of JSON on standard input; the
measurements that arrive go to standard output as `angles boom swing`.

    {"boom": -5000, "swing": 0}    what it commands, in ten-thousandths
    {"fault": true}                one frame that says that it has a fault

Argument: the line.
"""

import binascii
import json
import struct
import sys
import threading
import time

import serial
from cobs import cobs

PERIOD = 0.02  # [s]


def frame(kind, counter, payload):
    body = struct.pack("<BBHI", 1, kind, counter % 65536, round(1000 * time.monotonic()) % 2**32) + payload
    return cobs.encode(body + struct.pack("<H", binascii.crc_hqx(body, 0xFFFF))) + b"\0"


def main():
    line = serial.Serial(sys.argv[1], 115200, timeout=0.05)
    commands = {"boom": 0, "swing": 0}
    ending = threading.Event()

    def send():
        counter = 0
        while not ending.wait(PERIOD):
            line.write(frame(1, counter, struct.pack("<2h", commands["boom"], commands["swing"])))
            counter += 1

    def read():
        rest = b""
        while not ending.is_set():
            *pieces, rest = (rest + line.read(max(1, line.in_waiting))).split(b"\0")
            for piece in pieces:
                body = cobs.decode(piece)
                if struct.unpack("<H", body[-2:])[0] == binascii.crc_hqx(body[:-2], 0xFFFF) and body[1] == 2:
                    print("angles {:.4f} {:.4f}".format(*struct.unpack("<2f", body[8:-2])), flush=True)

    threads = [threading.Thread(target=send), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for text in sys.stdin:
        command = json.loads(text)
        commands.update({name: command[name] for name in commands if name in command})
        if "fault" in command:
            line.write(frame(4, 0, b""))
    ending.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
