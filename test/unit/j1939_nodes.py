"""The bridge as a node of J1939, for tests of what it says."""

from grouser.bridges.can.address_claim import AddressClaim
from grouser.bridges.can.j1939_node import J1939Node
from grouser.bridges.can.name import Name

OWN = Name(identity_number=1234, manufacturer_code=0x666, industry_group=3)


def claimed_node():
    """A node that has claimed the address 0x80, at 0.25 s."""
    node = J1939Node(AddressClaim(OWN, 0x80))
    node.start(0.0)
    node.tick(0.25)
    return node
