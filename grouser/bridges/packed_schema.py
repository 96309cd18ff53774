"""Fields of fixed places in mapping files, for the protocols that have them."""

import yaml

from grouser.bridges.mapping.data import Field
from grouser.bridges.packed_fields import FieldType, PackedField, PackedLayout
from grouser.physics.description.text.names import shortened
from grouser.physics.description.text.yaml_reader import Reader


def keys_of(node: yaml.Node) -> set[str]:
    """Keys of a mapping node that are words; empty for another node."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return {key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)}


def whole_number(reader: Reader, node: yaml.Node, name: str, low: int, high: int) -> int:
    """Reads a whole number, decimal or hexadecimal (0x...).

    Raises:
        MachineError: not one, or not from `low` to `high`.
    """
    text = reader.text(node, name)
    try:
        value = int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        raise reader.error(node, name, f"{shortened(text)} is no whole number; valid: {low} to {high}") from None
    if not low <= value <= high:
        raise reader.error(node, name, f"{text} is out of range; valid: {low} to {high} ({low:#x} to {high:#x})")
    return value


def read_layout(
    reader: Reader, nodes: dict[str, yaml.Node], node: yaml.Node, name: str, highest_length: int, filler: int = 0
) -> PackedLayout:
    """Reads the keys `fields` and `length` of a message: name: type, or name: {type: ..., bit: ...}.

    A field without `bit` begins where the one before it ends.

    Args:
        reader: of the file.
        nodes: of the mapping node that has the keys.
        node: that mapping node.
        name: of it, for messages.
        highest_length: of a message [bytes].
        filler: bit in gaps.
    """
    written = reader.required(nodes, "fields", node, name)
    fields = []
    next_bit = 0
    for field, entry in reader.entries(written, f"{name} fields"):
        label = f"field {field}"
        if isinstance(entry, yaml.MappingNode):
            parts = reader.mapping(entry, label, ("type", "bit"))
            text = reader.required(parts, "type", entry, label)
            if "bit" in parts:
                next_bit = whole_number(reader, parts["bit"], f"{label} bit", 0, 8 * highest_length - 1)
        else:
            text = entry
        try:
            packed = PackedField(field, next_bit, FieldType.parse(reader.text(text, label)))
        except ValueError as problem:
            raise reader.error(entry, label, str(problem), "such as i16") from None
        next_bit += packed.type.bits
        fields.append(packed)
    length = None
    if "length" in nodes:
        length = whole_number(reader, nodes["length"], f"{name} length", 1, highest_length)
    try:
        layout = PackedLayout(tuple(fields), length, filler)
    except ValueError as problem:
        raise reader.error(written, name, str(problem), "move the field, or make it shorter") from None
    if layout.length > highest_length:
        raise reader.error(
            written,
            name,
            f"its fields take {layout.length} bytes; valid: up to {highest_length}",
            "make it two messages",
        )
    return layout


def choose_field(reader: Reader, node: yaml.Node, fields: dict[str, Field], name: str) -> Field:
    """Reads the name of a field of a message."""
    return fields[reader.choice(node, name, tuple(fields))]
