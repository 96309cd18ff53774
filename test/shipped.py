"""The machines in the catalogue, as tests share them."""

import functools

from grouser import load_machine
from grouser.catalogue import machine_file


@functools.cache
def shipped_machine(name, **options):
    """A machine of the catalogue; it is immutable, and loaded once in a process.

    Args:
        name: in the catalogue.
        options: of `load_machine`, by name.
    """
    return load_machine(machine_file(name), **options)
