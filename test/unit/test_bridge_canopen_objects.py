"""The objects of an own CANopen node, asked for by another stack."""

import threading

import can
import canopen
import pytest
from patience import DEADLINE

from grouser.bridges.can.canopen_network import CanopenNetwork, OwnNodeSettings


def test_the_client_of_another_stack_sets_an_object():
    """That of the package canopen, over a bus."""
    network, ending = CanopenNetwork([], OwnNodeSettings(5, 0.5)), threading.Event()
    network.start(0.0)

    def serve():
        with can.Bus(interface="virtual", channel="objects") as bus:
            serving.set()
            while not ending.is_set():
                message = bus.recv(0.05)
                for frame in (
                    network.receive(message.arbitration_id, bytes(message.data), 0.1).frames if message else ()
                ):
                    bus.send(can.Message(arbitration_id=frame.identifier, is_extended_id=False, data=frame.data))

    serving, server = threading.Event(), threading.Thread(target=serve)
    server.start()
    assert serving.wait(DEADLINE)
    master = canopen.Network()
    master.connect(interface="virtual", channel="objects")
    node = canopen.RemoteNode(5, canopen.ObjectDictionary())
    master.add_node(node)
    node.sdo.RESPONSE_TIMEOUT = DEADLINE
    assert node.sdo.upload(0x1017, 0) == b"\xf4\x01"
    node.sdo.download(0x1017, 0, b"\x64\x00")
    assert node.sdo.upload(0x1017, 0) == b"\x64\x00"
    for index, data, code in (
        (0x1017, b"\x05\x00", 0x06090032),
        (0x1017, bytes(20), 0x05040001),
        (0x2000, b"\0", 0x06020000),
    ):
        with pytest.raises(canopen.SdoAbortedError) as refusal:
            node.sdo.download(index, 0, data)
        assert refusal.value.code == code
    ending.set()
    server.join()
    master.disconnect()
