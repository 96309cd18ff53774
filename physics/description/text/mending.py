"""Faults of a file that do no harm: the reader mends them, and tells each kind once."""

from collections.abc import Sequence

from grouser.physics.description.text.xml_tree import Element

# Further subjects that are named; more are counted.
_NAMED = 5


class Mendings:
    """What was mended in a file, by kind."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[Element, str, str]]] = {}

    def add(self, element: Element, subject: str, kind: str, reason: str = "") -> None:
        """Notes a mended fault.

        Args:
            element: where it is.
            subject: of the sentence, for instance ``joint 'boom'``.
            kind: rest of the sentence, the same for all faults of the kind: what was wrong, and what is used instead.
            reason: what is told of the first fault in addition.
        """
        self._found.setdefault(kind, []).append((element, subject, reason))

    def warnings(self) -> list[str]:
        """Returns one sentence for each kind: the first place with file, line and element, and the other subjects."""
        return [_sentence(kind, found) for kind, found in self._found.items()]


def likewise(others: Sequence[str]) -> str:
    """Returns a remark for further subjects of a sentence, of which the first are named; empty for none."""
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f" (likewise {', '.join(others[:_NAMED])}{more})" if others else ""


def _sentence(kind: str, found: Sequence[tuple[Element, str, str]]) -> str:
    (element, subject, reason), *others = found
    ending = f": {reason}" if reason else ""
    return f"{element.place}: {subject} {kind}{ending}{likewise([other for _, other, _ in others])}"
