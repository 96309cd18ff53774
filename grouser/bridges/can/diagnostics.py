"""Active faults of J1939-73: DM1, its lamps and trouble codes.

A trouble code has 4 bytes: SPN bits 0-7, SPN bits 8-15, SPN bits 16-18 above 5 bits of FMI, and 7 bits of occurrences
below the conversion method. Method 1 is an older order of the bits; such codes are reported and not decoded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LAMPS = ("protect", "amber_warning", "red_stop", "malfunction")  # from the lowest bits of byte 1 on
_ON = 1
_HIGHEST_SPN, _HIGHEST_FMI = 0x7FFFF, 31
_ABSENT_OCCURRENCES = 127
_SINGLE_FRAME = 8


@dataclass(frozen=True)
class TroubleCode:
    """One active fault.

    Attributes:
        spn: suspect parameter number, 0 to 524287.
        fmi: failure mode identifier, 0 to 31.
        occurrences: 0 to 126; 127 where not available.
        old_conversion: whether the code has conversion method 1; spn and fmi are then the bits as they are.
    """

    spn: int
    fmi: int
    occurrences: int = 1
    old_conversion: bool = False

    def pack(self) -> bytes:
        """The 4 bytes.

        Raises:
            ValueError: a part that does not fit its bits.
        """
        for name, value, highest in (
            ("spn", self.spn, _HIGHEST_SPN),
            ("fmi", self.fmi, _HIGHEST_FMI),
            ("occurrences", self.occurrences, _ABSENT_OCCURRENCES),
        ):
            if not 0 <= value <= highest:
                raise ValueError(f"{name} {value}: valid is 0 to {highest}")
        spn = self.spn & 0xFFFF | self.spn >> 16 << 21
        return (spn | self.fmi << 16 | self.occurrences << 24 | self.old_conversion << 31).to_bytes(4, "little")


def unpack_trouble_code(data: bytes) -> TroubleCode:
    """The trouble code in 4 bytes."""
    bits = int.from_bytes(data, "little")
    spn = bits & 0xFFFF | (bits >> 21 & 7) << 16
    return TroubleCode(spn, bits >> 16 & 31, bits >> 24 & 127, bool(bits >> 31))


@dataclass(frozen=True)
class ActiveFaults:
    """Contents of a DM1.

    Attributes:
        lamps: names of `LAMPS` that are on.
        codes: active faults.
    """

    lamps: frozenset[str] = frozenset()
    codes: tuple[TroubleCode, ...] = ()


def encode_dm1(faults: ActiveFaults) -> bytes:
    """The bytes of a DM1: 8 for up to one fault, padded with ones; longer ones go by the transport protocol.

    Byte 2, the flashing of lamps, is not available. Without a fault the code is all zero.
    """
    lamps = sum((_ON if name in faults.lamps else 0) << 2 * place for place, name in enumerate(LAMPS))
    codes: Sequence[TroubleCode] = faults.codes or (TroubleCode(0, 0, 0),)
    return (bytes((lamps, 0xFF)) + b"".join(code.pack() for code in codes)).ljust(_SINGLE_FRAME, b"\xff")


def decode_dm1(data: bytes) -> ActiveFaults:
    """Lamps and faults of a DM1.

    Args:
        data: of one frame, or put together by the transport protocol; padded or not.

    Raises:
        ValueError: shorter than one trouble code.
    """
    if len(data) < 6:
        raise ValueError(f"{len(data)} bytes: a DM1 has 6 at least")
    lamps = frozenset(name for place, name in enumerate(LAMPS) if data[0] >> 2 * place & 3 == _ON)
    codes = [unpack_trouble_code(data[first : first + 4]) for first in range(2, len(data) - 3, 4)]
    return ActiveFaults(lamps, tuple(code for code in codes if code.spn or code.fmi))
