"""The loopback profile keeps ROS 2 on this computer."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

PROFILE = Path(__file__).resolve().parent.parent.parent / "config" / "fastdds_loopback.xml"
NAMESPACE = {"dds": "http://www.eprosima.com"}

# Prints the local address of every UDP socket of this process, once a participant is up.
LIST_SOCKETS = """
import os, pathlib, socket, struct
import rclpy
rclpy.init()
node = rclpy.create_node("sockets")
own = {os.readlink(link) for link in pathlib.Path("/proc/self/fd").iterdir() if link.is_symlink()}
for line in pathlib.Path("/proc/self/net/udp").read_text().splitlines()[1:]:
    fields = line.split()
    if f"socket:[{fields[9]}]" in own:
        print(socket.inet_ntoa(struct.pack("=I", int(fields[1].partition(":")[0], 16))))
node.destroy_node()
rclpy.shutdown()
"""


def udp_addresses(profile):
    """Local addresses of the UDP sockets that a node opens."""
    variables = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    if profile is not None:
        environment |= dict.fromkeys(variables, str(profile))
    result = subprocess.run(
        [sys.executable, "-c", LIST_SOCKETS], env=environment, capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_dds_profile_lists_only_the_loopback_interface():
    profile = ElementTree.parse(PROFILE).getroot()

    addresses = [element.text for element in profile.iterfind(".//dds:interfaceWhiteList/dds:address", NAMESPACE)]
    builtin = profile.findtext(".//dds:useBuiltinTransports", namespaces=NAMESPACE)

    assert addresses == ["127.0.0.1"]
    assert builtin == "false"


def test_dds_profile_has_room_for_several_of_the_largest_messages():
    """10 000 grains of seven 32-bit numbers: what a best-effort socket has no room for is lost as a whole."""
    room = ElementTree.parse(PROFILE).getroot().findtext(".//dds:receiveBufferSize", namespaces=NAMESPACE)
    assert int(room) > 8 * 10_000 * 7 * 4


def test_dds_sockets_are_bound_to_the_loopback_interface():
    open_addresses = udp_addresses(None)
    addresses = udp_addresses(PROFILE)

    assert any(not address.startswith("127.") for address in open_addresses), "the check sees no open socket at all"
    assert "127.0.0.1" in addresses
    # 239.255.0.1 is the discovery group, joined on the loopback interface
    assert addresses <= {"127.0.0.1", "239.255.0.1"}
