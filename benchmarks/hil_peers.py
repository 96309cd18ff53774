"""Peers of bridges in processes of their own, which say and ask at a rate until they are killed.

python -m grouser.benchmarks.hil_peers can 1000 DESCRIPTOR
python -m grouser.benchmarks.hil_peers modbus 100 PORT
"""

import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator

from grouser.bridges.checksums import PROFILES

WRITTEN, READ = 10, 50  # registers of Modbus, each with a heartbeat among them
COMMANDS, MEASUREMENTS = 100, 200  # where they begin
NODES = 50  # of OPC UA
_ECU_COMMAND, _DATA_ID = 0x120, 0x1234  # EcuCommand of excavator.dbc


def can(descriptor: str) -> Callable[[], None]:
    """An adapter that speaks slcan and says EcuCommand with its counter and checksum."""
    protect = PROFILES["e2e_5"].protect
    frames = [
        b"t%03X8%s\r" % (_ECU_COMMAND, protect(bytes(8), counter, _ECU_COMMAND, _DATA_ID).hex().upper().encode())
        for counter in range(256)
    ]
    line, counters = int(descriptor), _counters(256)
    return lambda: os.write(line, frames[next(counters)]) and None


def modbus(port: str) -> Callable[[], None]:
    """A client that writes the commands and reads the measurements, by one request each."""
    connection = socket.create_connection(("127.0.0.1", int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    counters = _counters(1 << 16)
    read = struct.pack(">HHHBBHH", 1, 0, 6, 1, 4, MEASUREMENTS, READ)

    def exchange() -> None:
        words = struct.pack(f">{WRITTEN}H", next(counters), *[0] * (WRITTEN - 1))
        head = struct.pack(">HHHBBHHB", 1, 0, 7 + 2 * WRITTEN, 1, 16, COMMANDS, WRITTEN, 2 * WRITTEN)
        for request in (head + words, read):
            connection.sendall(request)
            connection.recv(512)

    return exchange


def opcua(port: str) -> Callable[[], None]:
    """A client that reads all nodes by one request."""
    from asyncua.sync import Client

    client = Client(f"opc.tcp://127.0.0.1:{port}/grouser")
    client.connect()
    nodes = [client.get_node(f"ns=2;s=state.V{number}") for number in range(NODES)]
    return lambda: client.read_values(nodes) and None


def _counters(modulus: int) -> Iterator[int]:
    while True:
        yield from range(modulus)


def main(kind: str, rate: str, place: str) -> None:
    """Works at a rate [Hz]; what is late is made up for."""
    work = {"can": can, "modbus": modbus, "opcua": opcua}[kind](place)
    due = time.monotonic()
    while True:
        work()
        due += 1.0 / float(rate)
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main(*sys.argv[1:])
