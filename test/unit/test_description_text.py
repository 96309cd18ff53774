"""Numbers, names and XML text: the lowest readers of the machine description."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text import numbers, xml_tree
from grouser.physics.description.text.names import closest


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), (" -2.5 ", -2.5), ("+.5", 0.5), ("3.", 3.0), ("1e-3", 1e-3), ("-1.5E+2", -150.0)]
)
def test_numbers_are_read(text, value):
    assert numbers.number(text) == value


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-Infinity", "1_000", "0x10", "1,5", "1e", "1e999", "١", "1 2", "--1", "1" * 500]
)
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError, match="finite number"):
        numbers.number(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_survives_its_own_text(value):
    assert numbers.number(repr(value)) == value


@given(st.text(max_size=30))
def test_a_number_is_finite_or_refused(text):
    try:
        value = numbers.number(text)
    except ValueError:
        return
    assert math.isfinite(value)
    assert value == float(text)


def test_vectors_have_their_count():
    assert numbers.numbers(" 1  2\t3\n", 3) == (1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="2 numbers where 3 are needed"):
        numbers.numbers("1 2", 3)
    with pytest.raises(ValueError, match="0 numbers where 3 are needed"):
        numbers.numbers("  ", 3)


def test_booleans():
    assert numbers.boolean("True") and numbers.boolean("1")
    assert not numbers.boolean("false") and not numbers.boolean(" 0 ")
    with pytest.raises(ValueError, match="neither true nor false"):
        numbers.boolean("yes")


def test_the_closest_name_is_suggested():
    assert closest("bom", ["boom", "stick"]) == "did you mean 'boom'?"
    assert closest("Boom", ["boom", "stick"]) == "did you mean 'boom'?"
    assert closest("xyz", ["boom", "stick"]) == "valid: boom, stick"
    assert closest("xyz", []) == "there is none to choose from"
    assert closest("9", (f"link_{index}" for index in range(100))).endswith("and 88 more")


def test_elements_know_their_lines():
    root = xml_tree.parse('<?xml version="1.0"?>\n<a x="1">\n  <!-- -->\n  <b/><c:d\n e="2"/>\n</a>', "file.urdf")
    assert (root.tag, root.line, root.attributes) == ("a", 2, {"x": "1"})
    assert [(child.tag, child.line) for child in root.children] == [("b", 4), ("c:d", 4)]


def test_lines_can_be_left_out():
    assert xml_tree.parse("<a/>", "file.xacro", has_lines=False).line is None
    with pytest.raises(MachineError) as caught:
        xml_tree.parse("<a>", "file.xacro", has_lines=False)
    assert caught.value.line is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<a>", 1),
        ("<a>\n<b>\n</a>", 3),
        ("<a/><b/>", 1),
        ("<a x='1' x='2'/>", 1),
        ("<a>&undefined;</a>", 1),
        ("plain text", 1),
        ("<a>\n\x00</a>", 2),
    ],
)
def test_broken_xml_is_refused_with_its_line(text, line):
    with pytest.raises(MachineError) as caught:
        xml_tree.parse(text, "file.urdf")
    assert caught.value.file == "file.urdf"
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:1/"> %x;]><a/>',
    ],
)
def test_document_types_are_refused_before_they_expand(text):
    with pytest.raises(MachineError, match="document type"):
        xml_tree.parse(text, "file.urdf")


def test_deep_nesting_is_refused():
    depth = xml_tree.DEPTH_MAX
    assert xml_tree.parse("<a>" * depth + "</a>" * depth, "file.urdf").tag == "a"
    with pytest.raises(MachineError, match="nested deeper"):
        xml_tree.parse("<a>" * 200_000 + "</a>" * 200_000, "file.urdf")


def test_an_unpaired_surrogate_is_refused():
    with pytest.raises(MachineError, match="invalid character"):
        xml_tree.parse("<a>\ud800</a>", "file.urdf")
