"""Counters and checksums against reference numbers: AUTOSAR's own, and ones computed bit by bit from the definition."""

import pytest

from grouser.bridges.checksums import PROFILES, crc8, crc16, next_counter
from grouser.bridges.counters import RollingCounter

# Profile, identifier, data id, counter, message.
REFERENCES = [
    ("j1939_tsc1", 0x0C000003, 0, 0, "01E02EFFFFFFFF50"),
    ("j1939_tsc1", 0x0C000003, 0, 1, "01E02EFFFFFFFF61"),
    ("e2e_5", 0, 0x1234, 0, "1CCA000000000000"),
    ("e2e_5", 0, 0x1234, 255, "A1A2FF0102030405"),
    ("e2e_11", 0, 0x0123, 0, "CC00000000000000"),
    ("e2e_11", 0, 0x0123, 1, "9101000000000000"),
    ("e2e_11", 0, 0x0123, 14, "CD0E000000000000"),
]


@pytest.mark.parametrize(("name", "identifier", "data_id", "counter", "written"), REFERENCES)
def test_profiles_read_and_write_the_reference_messages(name, identifier, data_id, counter, written):
    profile, message = PROFILES[name], bytes.fromhex(written)
    assert profile.is_intact(message, identifier, data_id)
    assert profile.counter(message) == counter
    blank = (
        message[:7] + b"\0"
        if name == "j1939_tsc1"
        else bytes(3 if name == "e2e_5" else 2) + message[3 if name == "e2e_5" else 2 :]
    )
    assert profile.protect(blank, counter, identifier, data_id) == message


@pytest.mark.parametrize(("name", "identifier", "data_id", "counter", "written"), REFERENCES)
def test_every_flipped_bit_is_noticed_by_a_crc(name, identifier, data_id, counter, written):
    message = bytes.fromhex(written)
    intact = [
        PROFILES[name].is_intact((int.from_bytes(message, "big") ^ 1 << bit).to_bytes(8, "big"), identifier, data_id)
        for bit in range(64)
    ]
    # The three bits of TSC1 are a sum: a flipped bit may cancel out in its shifted copies; a CRC misses none.
    assert not any(intact) if name != "j1939_tsc1" else sum(intact) < 8


def test_another_data_id_is_noticed():
    assert not PROFILES["e2e_5"].is_intact(bytes.fromhex("1CCA000000000000"), 0, 0x1235)
    assert not PROFILES["e2e_11"].is_intact(bytes.fromhex("CC00000000000000"), 0, 0x0124)


def test_check_values_of_the_polynomials():
    assert crc16(b"123456789") == 0x29B1
    assert crc8(b"123456789") == 0x37  # CRC-8/GSM-A


def test_counters_roll_over():
    assert [next_counter(name, last) for name, last in (("j1939_tsc1", 7), ("e2e_5", 255), ("e2e_11", 14))] == [0, 0, 0]


def judged(modulus, values):
    counter = RollingCounter(modulus, max_jump=3)
    verdicts = [(counter.judge(value).value, counter.lost) for value in values]
    return [f"lost {lost}" if lost else name for name, lost in verdicts]


def test_the_sequence_of_a_counter():
    assert judged(16, (14, 15, 0, 1, 1, 2, 5, 9, 3, 6, 7, 12, 13, 14, 15)) == [
        *("new", "new", "new", "new", "repeated", "new", "lost 2", "jump", "jump", "new", "new"),
        *("jump", "jump", "resynchronised", "new"),
    ]


def test_a_value_beyond_the_modulus_is_invalid_and_changes_nothing():
    assert judged(15, (13, 14, 15, 0, -1, 1)) == ["new", "new", "invalid counter", "new", "invalid counter", "new"]
