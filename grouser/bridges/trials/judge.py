"""A second judge of the fault trial: slow, written from the rules alone, and sharing no code with the bridge.

It reads bytes bit by bit, and decides of every message by looking back over what came before.
"""

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grouser.bridges.trials.trouble import Arrival

OBEYED, VALID = "obeyed", "valid"
# Profile -> (first byte of the value, modulus of the counter).
_LAYOUTS = {"e2e_5": (3, 256), "e2e_11": (2, 15), "j1939_tsc1": (0, 8)}


@dataclass(frozen=True)
class Reading:
    """What the bytes of a message say.

    Attributes:
        refusal: "" if they are well-formed.
        counter: None without one.
        modulus: of the counter.
        value: in thousandths.
        heartbeat: None without one.
        is_stranger: whether refused bytes belong to no message, so that they touch no link.
        is_error: whether the value is the code of an error, at which the link falls.
    """

    refusal: str
    counter: int | None = None
    modulus: int = 1
    value: Fraction = Fraction(0)
    heartbeat: int | None = None
    is_stranger: bool = False
    is_error: bool = False


def read_profile(name: str, data: bytes) -> Reading:
    """Reads eight bytes with counter and checksum of a profile: data id 0x1234, identifier 0x0C000003."""
    place, modulus = _LAYOUTS[name]
    if name == "e2e_5":
        intact = data[0] + 256 * data[1] == _remainder(data[2:] + b"\x34\x12", 0x1021, 16, 0xFFFF)
        counter = data[2]
    elif name == "e2e_11":
        intact = data[0] == _remainder(b"\x34\x12" + data[1:], 0x1D, 8, 0)
        counter = data[1] % 16
    else:
        counter = data[7] % 16
        total = sum(data[:7]) + counter + 0x0C + 0x00 + 0x00 + 0x03
        intact = data[7] // 16 == (total // 64 % 4 + total // 8 + total) % 8
    if not intact:
        return Reading("checksum")
    word = data[place] + 256 * data[place + 1]
    return Reading("", counter, modulus, Fraction(word - 65536 if word >= 32768 else word))


def read_joystick_message(data: bytes) -> Reading:
    """Reads BJM: the axis x in bytes 1 and 2, y in bytes 3 and 4, by the table of its verdicts."""
    verdicts = [_axis(data[0] + 256 * data[1]), _axis(data[2] + 256 * data[3])]
    for verdict in verdicts:
        if isinstance(verdict, str) and verdict not in ("absent", "error"):
            return Reading(verdict)
    if verdicts[1] == "error":
        return Reading("error", is_error=True)
    if verdicts[1] == "absent":
        return Reading("not available")
    return Reading("", value=Fraction(verdicts[1]))


def _axis(word: int) -> int | str:
    """Thousandths of a word of 16 bits, or what it is instead."""
    neutral, negative, positive, position = word % 4, word // 4 % 4, word // 16 % 4, word // 64
    three = [neutral, negative, positive]
    if three == [3, 3, 3] and position == 1023:
        return "absent"
    if 2 in three or position == 1022:
        return "error"
    if position > 1000:
        return "axis position reserved"
    if 3 in three:
        return "axis status not available"
    if three.count(1) != 1:
        return "axis statuses contradict"
    if neutral == 1 and position > 0:
        return "axis neutral while deflected"
    if neutral == 0 and position == 0:
        return "axis deflected at position 0"
    return -position if negative == 1 else position


def read_frame(data: bytes) -> Reading:
    """Reads a packed frame: version, kind, counter, time, a signed word and a CRC, after the unpacking of zeros."""
    body = _unstuffed(data)
    if body is None:
        return Reading("packing", is_stranger=True)
    if len(body) < 10:
        return Reading("length", is_stranger=True)
    if body[-2] + 256 * body[-1] != _remainder(body[:-2], 0x1021, 16, 0xFFFF):
        return Reading("checksum", is_stranger=True)
    if body[0] != 1:
        return Reading("version", is_stranger=True)
    if body[1] != 1 or len(body) != 12:
        return Reading("kind", is_stranger=True)
    word = body[8] + 256 * body[9]
    return Reading("", body[2] + 256 * body[3], 65536, Fraction(word - 65536 if word >= 32768 else word))


def read_json(data: bytes) -> Reading:
    """Reads a line of JSON: the members in their order, and the CRC-32 of what stands before its own."""
    before, found, check = data.strip().rpartition(b',"crc":')
    digits = check.removesuffix(b"}").strip()
    if not found or not check.endswith(b"}") or not digits.isdigit() or len(digits) > 10:
        return Reading("no checksum", is_stranger=True)
    if int(digits) != _reflected(before + b"}", 0xEDB88320, 0xFFFFFFFF) ^ 0xFFFFFFFF:
        return Reading("checksum", is_stranger=True)
    members = dict(part.rsplit(b":", 1) for part in before.split(b","))
    (value,) = (text for name, text in members.items() if name == b'"signals":{"y"')
    return Reading("", int(members[b'"n"']), 65536, 1000 * Fraction(value.decode().removesuffix("}")))


def read_registers(data: bytes) -> Reading:
    """Reads a frame of Modbus RTU: unit 1 is to write a heartbeat to register 100 and a word to 101."""
    if data[:7] != b"\x01\x10\x00\x64\x00\x02\x04" or _reflected(data, 0xA001, 0xFFFF) != 0:
        return Reading("no frame", is_stranger=True)
    word = 256 * data[9] + data[10]
    value = Fraction(word - 65536 if word >= 32768 else word)
    return Reading("", value=value, heartbeat=256 * data[7] + data[8])


def read_variables(data: bytes) -> Reading:
    """Reads two values of OPC UA: each has a mask, a type, a number and a status; the first one is a double."""
    if data[:8] != b"MSGF\x20\0\0\0":
        return Reading("no frame", is_stranger=True)
    data = data[8:]
    if data[0] % 64 != 3 or data[1] != 11 or data[14] % 64 != 3 or data[15] != 7 or len(data) != 24:
        return Reading("type")
    value, status, beat, status_of_beat = struct.unpack("<2xdI2xII", data)
    if status >= 1 << 30:
        return Reading("error", is_error=True)
    if value != value or abs(value) == math.inf:
        return Reading("not a number")
    if status_of_beat >= 1 << 30:
        return Reading("heartbeat stands still")
    return Reading("", value=1000 * Fraction(value), heartbeat=beat)


def _unstuffed(data: bytes) -> bytes | None:
    """Undoes consistent overhead byte stuffing by hand; None where that is not possible."""
    body = b""
    while data:
        length = data[0]
        if length == 0 or len(data) < length or 0 in data[1:length]:
            return None
        body += data[1:length]
        data = data[length:]
        if data and length < 255:
            body += b"\0"
    return body


READERS: dict[str, Callable[[bytes], Reading]] = {
    **{name: lambda data, name=name: read_profile(name, data) for name in _LAYOUTS},  # type: ignore[misc]
    "bjm": read_joystick_message,
    "serial": read_frame,
    "json": read_json,
    "modbus": read_registers,
    "opcua": read_variables,
}


def _reflected(data: bytes, polynomial: int, value: int) -> int:
    """Remainder of a cyclic redundancy check that takes the lowest bit first."""
    for byte in data:
        for bit in range(8):
            carries = value % 2 != byte >> bit & 1
            value = value >> 1 ^ (polynomial if carries else 0)
    return value


def _remainder(data: bytes, polynomial: int, width: int, initial: int) -> int:
    """Remainder of a cyclic redundancy check, bit by bit."""
    value = initial
    for byte in data:
        for bit in range(7, -1, -1):
            carries = (value >> width - 1) & 1 != (byte >> bit) & 1
            value = value << 1 & (1 << width) - 1
            if carries:
                value ^= polynomial
    return value


def judge(
    arrivals: Sequence[Arrival],
    read: Callable[[bytes], Reading],
    timeout: float,
    good: int,
    neutral: int,
    acknowledgements: Sequence[float],
    latches: bool,
    end: float,
) -> tuple[list[str], int]:
    """Decides of every arrival.

    Args:
        arrivals: by time.
        read: of the protocol, in `READERS`.
        timeout: of the link [s].
        good: valid messages in a row.
        neutral: largest neutral value, in thousandths.
        acknowledgements: when somebody acknowledges [s]; an arrival of the same time came before.
        latches: whether a fall is latched.
        end: until when the timer ran [s].

    Returns:
        Of each arrival: `OBEYED`, `VALID` or why it is refused, "" for a bus that goes off; and how often a live link
        fell.
    """
    results: list[str] = []
    readings: list[Reading] = []
    bases: list[int] = []
    jumps: list[int] = []
    restarts: set[int] = set()
    beats: list[int] = []
    for place, arrival in enumerate(arrivals):
        if arrival.data is None:
            readings.append(Reading(""))
            results.append("")
            continue
        reading = read(arrival.data)
        readings.append(reading)
        refusal = reading.refusal or _counter_refusal(reading, bases, jumps, place, restarts)
        if not refusal and reading.heartbeat is not None:
            if beats and beats[-1] == reading.heartbeat:
                refusal = "heartbeat stands still"
            beats.append(reading.heartbeat)
        if not refusal and abs(reading.value) > 1000:
            refusal = "out of range"
        results.append(refusal or VALID)
    return _judge_links(
        arrivals, results, readings, restarts, Fraction(timeout), good, neutral, acknowledgements, latches, end
    )


def _counter_refusal(reading: Reading, bases: list[int], jumps: list[int], place: int, restarts: set[int]) -> str:
    if reading.counter is None:
        return ""
    if reading.counter not in range(reading.modulus):
        return "invalid counter"
    if not bases:
        bases.append(reading.counter)
        return ""
    following = [(bases[-1] + ahead) % reading.modulus for ahead in range(4)]
    if reading.counter == following[0]:
        return "repeated"
    if reading.counter in following[1:]:
        bases.append(reading.counter)
        jumps.clear()
        return ""
    if jumps and (jumps[-1] + 1) % reading.modulus != reading.counter:
        jumps.clear()
    jumps.append(reading.counter)
    if len(jumps) < 3:
        return "jump"
    bases.append(reading.counter)
    jumps.clear()
    restarts.add(place)
    return ""


def _judge_links(arrivals, results, readings, restarts, timeout, good, neutral, acknowledgements, latches, end):
    """Walks over the valid messages, and looks back from each."""
    times = [Fraction(arrival.time) for arrival in arrivals]
    falls = 0
    last = None  # place of the last valid message
    gap = False  # the line broke since it
    latched = False
    row = 0  # place from which valid messages in a row count
    waiting = [Fraction(time) for time in acknowledgements]
    for place, result in enumerate(results):
        while waiting and waiting[0] < times[place]:
            moment = waiting.pop(0)
            if last is None:
                continue
            if not gap and moment - times[last] > timeout:
                gap = True
                falls, latched = _fallen(results[last], falls, latched, latches)
            if latched and not gap and moment - times[last] <= timeout and abs(readings[last].value) <= neutral:
                latched, row = False, place
        if arrivals[place].data is None:
            if last is not None and not gap:
                falls, latched = _fallen(results[last], falls, latched, latches)
            gap = True
            continue
        if readings[place].is_error:
            if last is not None and not gap:
                falls, latched = _fallen(results[last], falls, latched, latches)
            gap = True
            continue
        if result != VALID:
            continue
        breaks = last is None or gap or times[place] - times[last] > timeout
        if last is not None and not gap and (breaks or place in restarts):
            falls, latched = _fallen(results[last], falls, latched, latches)
        if breaks or place in restarts:
            row = max(row, place)
        elif results[last] == OBEYED and not latched:
            results[place] = OBEYED
            last, gap = place, False
            continue
        last, gap = place, False
        if latched:
            continue
        before = [results[one] for one in range(row, place) if not readings[one].is_stranger][-(good - 1) :]
        in_row = good == 1 or (len(before) == good - 1 and all(one == VALID for one in before))
        if in_row and abs(readings[place].value) <= neutral:
            results[place] = OBEYED
    if last is not None and not gap and Fraction(end) - times[last] > timeout:
        falls, latched = _fallen(results[last], falls, latched, latches)
    return results, falls


def _fallen(result: str, falls: int, latched: bool, latches: bool) -> tuple[int, bool]:
    """Counts a fall if the last valid message was obeyed."""
    if result != OBEYED:
        return falls, latched
    return falls + 1, latches
