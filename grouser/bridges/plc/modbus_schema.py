"""What a Modbus bridge reads from a mapping file."""

from dataclasses import dataclass
from itertools import pairwise

import yaml

from grouser.bridges.mapping.data import BridgeMapping, Direction, MessageMapping
from grouser.bridges.plc.network import ENDPOINT_KEYS, Endpoint, Role, read_endpoint, read_role, whole_number
from grouser.bridges.plc.register_message import RegisterAddress, RegisterMessage, fields_of
from grouser.bridges.plc.registers import ADDRESS_MAX, READ_MAX, TYPES, WRITE_MAX, RegisterField, WordOrder
from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.yaml_reader import Reader

PORT = 502
UNIT_MAX = 247
PARITIES = {"none": "N", "even": "E", "odd": "O"}
_COMMON = ("link", "unit", "writable", "word_order")
_SERIAL = ("role", "device", "baudrate", "parity")
_WORD_ORDERS = ("big", "little")


@dataclass(frozen=True)
class SerialLine:
    """A serial line for Modbus RTU, with 8 data bits.

    Attributes:
        role: of this side.
        device: path of the port.
        baudrate: [bit/s].
        parity: N, E or O; without parity there are two stop bits.
    """

    role: Role
    device: str
    baudrate: int = 19200
    parity: str = "E"

    @property
    def stop_bits(self) -> int:
        """Number of stop bits."""
        return 2 if self.parity == "N" else 1


@dataclass(frozen=True)
class ModbusInterface:
    """What `interface` says.

    Attributes:
        line: TCP or serial.
        unit: address of the server among those on the line.
        writable: ranges of registers that may be written: first and last of each.
        word_order: of fields that say none.
    """

    line: Endpoint | SerialLine
    unit: int
    writable: tuple[tuple[int, int], ...]
    word_order: WordOrder


def read_interface(reader: Reader, node: yaml.Node) -> ModbusInterface:
    """Reads `interface`."""
    nodes = reader.mapping(node, "interface", (*ENDPOINT_KEYS, *_COMMON, *_SERIAL[1:]))
    link = reader.choice(nodes["link"], "link", ("tcp", "rtu")) if "link" in nodes else "tcp"
    valid = (*ENDPOINT_KEYS, *_COMMON) if link == "tcp" else (*_SERIAL, *_COMMON)
    nodes = reader.mapping(node, f"interface with link {link}", valid)
    line = read_endpoint(reader, nodes, node, PORT) if link == "tcp" else _read_line(reader, nodes, node)
    ranges = reader.items(nodes["writable"], "writable") if "writable" in nodes else []
    return ModbusInterface(
        line,
        whole_number(reader, nodes["unit"], "unit", 1, UNIT_MAX) if "unit" in nodes else 1,
        tuple(_read_range(reader, item) for item in ranges),
        _read_word_order(reader, nodes, "big"),
    )


def read_address(reader: Reader, node: yaml.Node, direction: Direction, interface: ModbusInterface) -> RegisterAddress:
    """Reads `source` or `target` of a message."""
    reads = interface.line.role == "client" and direction == "in"
    nodes = reader.mapping(node, "message", ("heartbeat", "table") if reads else ("heartbeat",))
    if reads and "heartbeat" not in nodes:
        problem = "a client cannot tell a stopped controller from one whose values stand still"
        raise reader.error(node, "source", problem, "add heartbeat: a register that its program counts up")
    heartbeat = None
    if "heartbeat" in nodes:
        register = whole_number(reader, nodes["heartbeat"], "heartbeat", 0, ADDRESS_MAX)
        heartbeat = RegisterField(register, "u16")
    table = reader.choice(nodes["table"], "table", ("holding", "input")) if "table" in nodes else "holding"
    return RegisterAddress(heartbeat, table)


def read_field(
    reader: Reader, node: yaml.Node, direction: Direction, address: RegisterAddress, interface: ModbusInterface
) -> RegisterField:
    """Reads `source` or `target` of a signal: a register, or a mapping with register, type and word_order."""
    if isinstance(node, yaml.ScalarNode):
        return RegisterField(whole_number(reader, node, "register", 0, ADDRESS_MAX))
    nodes = reader.mapping(node, "field", ("register", "type", "word_order"))
    register = whole_number(reader, reader.required(nodes, "register", node, "field"), "register", 0, ADDRESS_MAX)
    kind = reader.choice(nodes["type"], "type", TYPES) if "type" in nodes else "i16"
    field = RegisterField(register, kind, _read_word_order(reader, nodes, interface.word_order))
    if field.last > ADDRESS_MAX:
        raise reader.error(node, "field", f"{kind} at {register} ends behind register {ADDRESS_MAX}")
    return field


def check(mapping: BridgeMapping) -> None:
    """Refuses overlapping registers, writes outside `writable`, and blocks that one request cannot carry.

    Raises:
        MachineError: names the message and the registers.
    """
    interface: ModbusInterface = mapping.interface
    written: str = "in" if interface.line.role == "server" else "out"
    for message in mapping.messages:
        _check_block(mapping, message, is_written=message.direction == written)
    _check_overlaps(mapping)
    if interface.line.role == "server":
        _check_blocks_apart(mapping)
    else:
        for message in mapping.outgoing:
            _check_no_gaps(mapping, message)


def _check_block(mapping: BridgeMapping, message: MessageMapping, is_written: bool) -> None:
    block = RegisterMessage(message)
    most = WRITE_MAX if is_written else READ_MAX
    last = block.end - 1
    if block.count > most:
        problem = f"registers {block.start} to {last} are {block.count}; one request carries {most}"
        raise _refusal(mapping, message, problem, "divide the message")
    writable = mapping.interface.writable
    if is_written and not any(low <= block.start and last <= high for low, high in writable):
        ranges = ", ".join(f"{low} to {high}" for low, high in writable) or "none"
        problem = f"registers {block.start} to {last} are written and not in one range of `writable`; valid: {ranges}"
        raise _refusal(mapping, message, problem, f"add [{block.start}, {last}] to writable of interface")


def _check_overlaps(mapping: BridgeMapping) -> None:
    taken: dict[tuple[str, int], str] = {}
    for message in mapping.messages:
        for field in fields_of(message):
            for register in range(field.register, field.last + 1):
                place = (message.address.table, register)
                if place in taken:
                    problem = (
                        f"register {register} of the {field.type} at {field} is used twice, by '{taken[place]}' too"
                    )
                    raise _refusal(mapping, message, problem, "give each value registers of its own")
                taken[place] = message.name


def _check_blocks_apart(mapping: BridgeMapping) -> None:
    """For a server: a request tells by its registers which messages it means."""
    blocks = sorted(
        ((RegisterMessage(message), message) for message in mapping.messages), key=lambda pair: pair[0].start
    )
    for (block, _), (other, message) in pairwise(blocks):
        if other.start < block.end:
            problem = f"it begins at register {other.start}, before '{block.name}' ends at {block.end - 1}"
            raise _refusal(mapping, message, problem, "let the registers of a message lie together")


def _check_no_gaps(mapping: BridgeMapping, message: MessageMapping) -> None:
    """For a client: it would write to registers that nobody named."""
    fields = fields_of(message)
    for field, following in pairwise(fields):
        if following.register > field.last + 1:
            problem = f"nothing is said of registers {field.last + 1} to {following.register - 1}, which it would write"
            raise _refusal(mapping, message, problem, "divide the message there")


def _refusal(mapping: BridgeMapping, message: MessageMapping, problem: str, remedy: str) -> MachineError:
    return MachineError(
        problem, file=mapping.file, line=message.line, element=f"message '{message.name}'", remedy=remedy
    )


def _read_line(reader: Reader, nodes: dict[str, yaml.Node], node: yaml.Node) -> SerialLine:
    role = read_role(reader, nodes, node)
    device = reader.text(reader.required(nodes, "device", node, "interface"), "device")
    baudrate = whole_number(reader, nodes["baudrate"], "baudrate", 1200, 4_000_000) if "baudrate" in nodes else 19200
    parity = reader.choice(nodes["parity"], "parity", tuple(PARITIES)) if "parity" in nodes else "even"
    return SerialLine(role, device, baudrate, PARITIES[parity])


def _read_range(reader: Reader, node: yaml.Node) -> tuple[int, int]:
    ends = reader.items(node, "writable")
    if len(ends) != 2:
        raise reader.error(node, "writable", "each range has two registers", "write [first, last]")
    first = whole_number(reader, ends[0], "first register", 0, ADDRESS_MAX)
    return first, whole_number(reader, ends[1], "last register", first, ADDRESS_MAX)


def _read_word_order(reader: Reader, nodes: dict[str, yaml.Node], default: WordOrder) -> WordOrder:
    if "word_order" not in nodes:
        return default
    return "big" if reader.choice(nodes["word_order"], "word_order", _WORD_ORDERS) == "big" else "little"
