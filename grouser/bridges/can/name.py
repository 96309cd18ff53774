"""The NAME of a J1939 node, which identifies it and decides who keeps an address (SAE J1939-81)."""

from __future__ import annotations

from dataclasses import dataclass, fields

# Field and its bits, from the lowest bit on.
_BITS = {
    "identity_number": 21,
    "manufacturer_code": 11,
    "ecu_instance": 3,
    "function_instance": 5,
    "function": 8,
    "reserved": 1,
    "vehicle_system": 7,
    "vehicle_system_instance": 4,
    "industry_group": 3,
    "arbitrary_address": 1,
}


@dataclass(frozen=True)
class Name:
    """The NAME of a node. The one with the lower value keeps a contested address.

    Attributes:
        identity_number: serial number of the device, 21 bits.
        manufacturer_code: as SAE assigns it, 11 bits.
        ecu_instance, function_instance: which of several, 3 and 5 bits.
        function: what the node does, 8 bits.
        reserved: 1 bit, zero.
        vehicle_system, vehicle_system_instance: where it does it, 7 and 4 bits.
        industry_group: 3 for construction equipment, 3 bits.
        arbitrary_address: whether the node takes another address when it loses its own, 1 bit.
    """

    identity_number: int
    manufacturer_code: int
    ecu_instance: int = 0
    function_instance: int = 0
    function: int = 0
    reserved: int = 0
    vehicle_system: int = 0
    vehicle_system_instance: int = 0
    industry_group: int = 0
    arbitrary_address: int = 0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value, highest = getattr(self, entry.name), (1 << _BITS[entry.name]) - 1
            if not 0 <= value <= highest:
                raise ValueError(f"{entry.name} {value}: valid is 0 to {highest}")

    @property
    def value(self) -> int:
        """The 64 bits."""
        bits = first = 0
        for name, count in _BITS.items():
            bits |= int(getattr(self, name)) << first
            first += count
        return bits

    def pack(self) -> bytes:
        """The 8 bytes of an address claim."""
        return self.value.to_bytes(8, "little")

    @classmethod
    def unpack(cls, data: bytes) -> Name:
        """The NAME in the 8 bytes of an address claim.

        Raises:
            ValueError: not 8 bytes.
        """
        if len(data) != 8:
            raise ValueError(f"{len(data)} bytes: a NAME has 8")
        bits = int.from_bytes(data, "little")
        parts = {}
        for name, count in _BITS.items():
            parts[name] = bits & (1 << count) - 1
            bits >>= count
        return cls(**parts)
