"""The machines in the catalogue and the references of the experiments, as tests share them."""

import functools

import numpy as np

from grouser import load_machine
from grouser.catalogue import machine_file
from grouser.references.reader import load_references
from grouser.resources import share_path


@functools.cache
def shipped_machine(name, **options):
    """A machine of the catalogue; it is immutable, and loaded once in a process.

    Args:
        name: in the catalogue.
        options: of `load_machine`, by name.
    """
    return load_machine(machine_file(name), **options)


@functools.cache
def shipped_references(experiment):
    """The references that come with an experiment; immutable, and read once in a process."""
    return load_references(experiment)


def reference_case(experiment, case):
    """A case of the references that come with an experiment."""
    (found,) = (item for item in shipped_references(experiment).cases if item.name == case)
    return found


def reference_values(experiment, case):
    """The single values of a case by address."""
    return {value.address: value.expected for value in reference_case(experiment, case).values}


def reference_rows(experiment, case, names=None):
    """The first table of a case: rows by the value that they are at, in the order of the names or of the file."""
    table = reference_case(experiment, case).tables[0]
    columns = {column.address: column.values.tolist() for column in table.columns}
    rows = zip(*(columns[name] for name in names or columns), strict=True)
    return dict(zip(table.across.values.tolist(), rows, strict=True))


def reference_curve(file):
    """A curve that comes with the references, as an array with named columns."""
    return np.genfromtxt(share_path("config", "references", file), delimiter=",", names=True)
