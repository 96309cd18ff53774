"""CANopen (CiA 301): identifiers, states, heartbeats and process data.

The electronic data sheet of a device (EDS) says what its process data objects hold; `canopen` reads it. Process data
are little endian, one object after the other.
"""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import canopen
from canopen.objectdictionary import ObjectDictionary, ODVariable, datatypes

from grouser.bridges.packed_fields import FieldType, PackedField, PackedLayout

NMT_COMMAND = 0x000
SYNC = 0x080
EMERGENCY = 0x080  # + node
TRANSMIT_PDO = 0x180  # + node, + 0x100 for each further one of the first four
RECEIVE_PDO = 0x200
HEARTBEAT = 0x700
NODES = range(1, 128)
PDOS = range(1, 5)  # with identifiers of their own by default
_LAST_DUMMY = 0x1F  # objects up to here are types of data; mapped, they are gaps

_KINDS = {
    **{getattr(datatypes, f"INTEGER{bits}"): "i" for bits in (8, 16, 24, 32, 40, 48, 56, 64)},
    **{getattr(datatypes, f"UNSIGNED{bits}"): "u" for bits in (8, 16, 24, 32, 40, 48, 56, 64)},
    datatypes.BOOLEAN: "u",
    datatypes.REAL32: "f",
    datatypes.REAL64: "f",
}


class NodeState(IntEnum):
    """State of a node, as its heartbeat says it."""

    BOOT_UP = 0
    STOPPED = 4
    OPERATIONAL = 5
    PRE_OPERATIONAL = 127


class NmtCommand(IntEnum):
    """Command of the network's master to a node."""

    START = 1
    STOP = 2
    ENTER_PRE_OPERATIONAL = 128
    RESET_NODE = 129
    RESET_COMMUNICATION = 130


def nmt_command(command: NmtCommand, node: int) -> bytes:
    """Data of the frame with identifier 0x000: a command to a node, 0 for all."""
    return bytes((command, node))


def heartbeat(state: NodeState) -> bytes:
    """Data of the frame with identifier 0x700 + node."""
    return bytes((state,))


def read_heartbeat(data: bytes) -> NodeState | None:
    """State in a heartbeat; None for bytes that are none."""
    if len(data) != 1 or data[0] not in NodeState.__members__.values():
        return None
    return NodeState(data[0])


@dataclass(frozen=True)
class Emergency:
    """What a device reports as its fault.

    Attributes:
        code: 0 when the fault is over.
        register: of errors, object 0x1001.
    """

    code: int
    register: int


def read_emergency(data: bytes) -> Emergency | None:
    """The fault in a frame with identifier 0x080 + node; None for bytes that are none."""
    return Emergency(int.from_bytes(data[:2], "little"), data[2]) if len(data) == 8 else None


@dataclass(frozen=True)
class ProcessData:
    """A process data object.

    Attributes:
        identifier: of its frames, 11 bits.
        layout: its objects, as fields with names such as `Joystick.X`.
    """

    identifier: int
    layout: PackedLayout


def read_data_sheet(path: Path, node: int) -> ObjectDictionary:
    """Objects of a device by its EDS.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no EDS.
    """
    text = path.read_text()  # the library would give an empty dictionary for a file that does not exist
    if "[DeviceInfo]" not in text:
        raise ValueError(f"{path}: no electronic data sheet, it has no [DeviceInfo]")
    try:
        return canopen.import_od(str(path), node)
    except (ValueError, KeyError, ArithmeticError) as error:
        raise ValueError(f"{path}: {error}") from error


def process_data(dictionary: ObjectDictionary, node: int, number: int, is_transmitted: bool) -> ProcessData:
    """A process data object as the device has it by default.

    Args:
        dictionary: of the device.
        node: number of the device, 1 to 127.
        number: of the object, from 1 on.
        is_transmitted: by the device; else received by it.

    Raises:
        ValueError: the device has no such object, or it cannot be used; says why.
    """
    name = f"{'TPDO' if is_transmitted else 'RPDO'}{number}"
    communication, mapping = (0x1800, 0x1A00) if is_transmitted else (0x1400, 0x1600)
    entries: Any
    try:
        entries = dictionary[mapping + number - 1]
        settings: Any = dictionary[communication + number - 1]
        identifier = settings[1].default
    except KeyError:
        raise ValueError(f"{name}: the device has none by its data sheet") from None
    count = entries[0].default or 0
    fields = []
    first_bit = 0
    for place in range(1, count + 1):
        entry = entries[place].default
        index, subindex, bits = entry >> 16, entry >> 8 & 0xFF, entry & 0xFF
        if index > _LAST_DUMMY:
            variable = dictionary.get_variable(index, subindex)
            if variable is None:
                raise ValueError(f"{name}: maps the object {index:#06x}, which the data sheet does not have")
            fields.append(PackedField(_name(variable), first_bit, _type(name, variable, bits)))
        first_bit += bits
    if not fields:
        raise ValueError(f"{name}: maps no object by the data sheet")
    if not isinstance(identifier, int) or identifier & 0x80000000:
        raise ValueError(f"{name}: is switched off by the data sheet")
    return ProcessData(identifier & 0x7FF, PackedLayout(tuple(fields), -(-first_bit // 8)))


def _name(variable: ODVariable) -> str:
    parent: Any = variable.parent
    return variable.name if isinstance(parent, ObjectDictionary) else f"{parent.name}.{variable.name}"


def _type(name: str, variable: ODVariable, bits: int) -> FieldType:
    kind = _KINDS.get(variable.data_type)
    if kind is None:
        raise ValueError(f"{name}: {_name(variable)} has the data type {variable.data_type:#x}, which is no number")
    return FieldType(kind, bits)
