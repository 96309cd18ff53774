"""A soft PLC in a process of its own: levels the demolition robot on its outriggers, every 50 ms, until it is ended.

Arguments: modbus PORT, or opcua PORT DIRECTORY with plc.der, plc.pem and the server's bridge.der.
"""

import asyncio
import math
import sys
from struct import pack, unpack

LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}  # ahead, left
FORCES = tuple(f"{leg}_force_{axis}" for leg in LEGS for axis in "xz")
CYCLE = 0.05  # [s]
ZEROS = 10  # cycles of neutral commands at the start
USER, PASSWORD = "plc", "level the robot"


def commands(cycle, measured):
    """Spool commands of the legs from roll and pitch [deg] and the forces on the feet [kN]."""
    if cycle < ZEROS:
        return dict.fromkeys(LEGS, 0.0)
    loads = {leg: math.hypot(measured[f"{leg}_force_x"], measured[f"{leg}_force_z"]) for leg in LEGS}
    mean = max(sum(loads.values()) / 4.0, 1.0)
    twist = sum(ahead * left * loads[leg] for leg, (ahead, left) in LEGS.items()) / 4.0 / mean
    found = {}
    for leg, (ahead, left) in LEGS.items():
        wanted = -0.2 * measured["roll"] * left + 0.3 * measured["pitch"] * ahead - 0.2 * twist * ahead * left
        found[leg] = max(-0.4, min(0.4, wanted)) if abs(wanted) > 0.02 else 0.0
    return found


async def over_modbus(port):
    from pymodbus.client import AsyncModbusTcpClient

    client = AsyncModbusTcpClient("127.0.0.1", port=port, timeout=60, retries=0)
    assert await client.connect()
    cycle = 0
    while True:
        answer = await client.read_input_registers(200, count=11, device_id=1)
        if not answer.isError():
            _, *raw = unpack(">H10h", pack(">11H", *answer.registers))
            measured = dict(zip(("roll", "pitch", *FORCES), (0.001 * value for value in raw), strict=True))
            values = [round(1000 * value) % 65536 for value in commands(cycle, measured).values()]
            assert not (await client.write_registers(100, [cycle % 65536, *values], device_id=1)).isError()
            cycle += 1
        await asyncio.sleep(CYCLE)


async def over_opcua(port, directory):
    from asyncua import Client, ua
    from asyncua.crypto.security_policies import SecurityPolicyBasic256Sha256

    client = Client(f"opc.tcp://127.0.0.1:{port}/grouser", timeout=60)
    client.application_uri = "urn:grouser:plc"
    client.set_user(USER)
    client.set_password(PASSWORD)
    certificate, key, server = (f"{directory}/{name}" for name in ("plc.der", "plc.pem", "bridge.der"))
    await client.set_security(SecurityPolicyBasic256Sha256, certificate, key, server_certificate=server)
    latest = {}

    class Subscriber:
        def datachange_notification(self, node, value, data):
            latest[node.nodeid.Identifier.partition(".")[2]] = value

    async with client:
        index = await client.get_namespace_index("urn:grouser:machine")
        names = ("roll", "pitch", *FORCES)
        subscription = await client.create_subscription(20, Subscriber())
        shown = [client.get_node(ua.NodeId(f"attitude.{name}", index)) for name in names]
        await subscription.subscribe_data_change(shown)
        written = [client.get_node(ua.NodeId(f"outriggers.{name}", index)) for name in (*LEGS, "heartbeat")]
        cycle = 0
        while True:
            if len(latest) == len(names) and None not in latest.values():
                values = [ua.Variant(value, ua.VariantType.Double) for value in commands(cycle, latest).values()]
                await client.write_values(written, [*values, ua.Variant(cycle, ua.VariantType.UInt32)])
                cycle += 1
            await asyncio.sleep(CYCLE)


if __name__ == "__main__":
    kind, port, *rest = sys.argv[1:]
    asyncio.run(over_modbus(int(port)) if kind == "modbus" else over_opcua(int(port), *rest))
