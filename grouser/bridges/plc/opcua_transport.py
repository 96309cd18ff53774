"""Makes the transport of an OPC UA bridge."""

from grouser.bridges.mapping.data import BridgeMapping
from grouser.bridges.plc.opcua_client import OpcuaClient
from grouser.bridges.plc.opcua_server import OpcuaServer
from grouser.bridges.transport import Transport


def make_transport(mapping: BridgeMapping) -> Transport:
    """Returns a server or a client, as the interface says; it is not open."""
    return OpcuaServer(mapping) if mapping.interface.line.role == "server" else OpcuaClient(mapping)
