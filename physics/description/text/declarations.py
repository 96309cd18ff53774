"""Declarations that no XML file here may have; for the process that expands xacro, which does without numpy."""

from grouser.physics.base.errors import MachineError


def refuse_declarations(text: bytes, file: str) -> None:
    """Refuses XML with a document type or entity declaration, before it is parsed.

    Raises:
        MachineError: there is such a declaration.
    """
    for declaration in (b"<!DOCTYPE", b"<!ENTITY"):
        place = text.find(declaration)
        if place >= 0:
            raise MachineError(
                f"{declaration.decode()} declarations are not read: entities can expand without bound",
                file=file,
                line=text.count(b"\n", 0, place) + 1,
                remedy="remove the declaration and write its values out, or use xacro properties",
            )
