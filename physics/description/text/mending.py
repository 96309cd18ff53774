"""Faults of a file that do no harm: the reader mends them, and tells each kind once."""

from grouser.physics.description.text.xml_tree import Element

# Further subjects that are named; more are counted.
_NAMED = 5


class Mendings:
    """What was mended in a file, by kind."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[Element, str]]] = {}

    def add(self, element: Element, subject: str, kind: str) -> None:
        """Notes a mended fault.

        Args:
            element: where it is.
            subject: of the sentence, for instance ``joint 'boom'``.
            kind: rest of the sentence, the same for all faults of the kind: what was wrong, and what is used instead.
        """
        self._found.setdefault(kind, []).append((element, subject))

    def warnings(self) -> list[str]:
        """Returns one sentence for each kind: the first place with file, line and element, and the other subjects."""
        return [_sentence(kind, found) for kind, found in self._found.items()]


def _sentence(kind: str, found: list[tuple[Element, str]]) -> str:
    (element, subject), *others = found
    more = [other for _, other in others]
    named = ", ".join(more[:_NAMED]) + (f" and {len(more) - _NAMED} more" if len(more) > _NAMED else "")
    return f"{element.place}: {subject} {kind}" + (f" (likewise {named})" if more else "")
