"""What a codec makes of the bytes of one message."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Decoded:
    """The fields of one message, before any mapping.

    Attributes:
        values: by field, in the unit of the protocol's definition; without the fields that have none.
        errors: fields that carry the protocol's error code.
        absent: fields without a valid value: the protocol's code for "not available", a reserved one, no finite number.
        refusal: why the message is refused as a whole, in a few words without values; "": it is not. A refused message
            has no values.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    errors: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    refusal: str = ""


def refused(reason: str) -> Decoded:
    """A message that is refused as a whole.

    Args:
        reason: as `Decoded.refusal`.
    """
    return Decoded(refusal=reason)
