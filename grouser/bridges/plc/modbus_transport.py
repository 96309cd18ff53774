"""Makes the transport of a Modbus bridge."""

import logging

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.plc.modbus_client import ModbusClient
from grouser.bridges.plc.modbus_server import make_server
from grouser.bridges.transport import Transport

# Its log tells of every broken frame of every peer; a bridge counts and reports what concerns it.
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)


def make_transport(mapping: BridgeMapping) -> Transport:
    """Returns a server or a client, as the interface says; it is not open."""
    return make_server(mapping) if mapping.interface.line.role == "server" else ModbusClient(mapping)
