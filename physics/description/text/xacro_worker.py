"""Expands one xacro file, in a process of its own that `xacro` starts.

A xacro file is a program: it may recurse endlessly, call ``sys.exit`` or allocate all memory, and the library has
global state. The separate process keeps this away from the simulator.

Reads ``{"file": path, "arguments": {name: value}, "near": path, "packages": {name: folder}, "seconds": limit}`` as JSON
from standard input: "near" and "packages" as of `Packages`, the limit of processor time [s]. Writes
``{"text": XML, "defaults": {name: default}, "used": [name]}`` to standard output, or a message to standard error and
exit status 1.
"""

import json
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.dom.minidom import Document
from xml.parsers.expat import ExpatError, errors

import xacro
import xacro.substitution_args
from xacro.substitution_args import ArgException

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.declarations import refuse_declarations
from grouser.physics.description.text.packages import PackageNotFoundError, Packages

MEMORY_MAX = 2 << 30


class Arguments(dict[str, str]):
    """Values of the arguments by name, which xacro asks for; notes the names that the files declare or use.

    Attributes:
        defaults: declared names -> default; None for those whose value is given, as xacro does not evaluate it then.
        used: names of ``$(arg name)``.
    """

    def __init__(self, given: Mapping[str, str]):
        super().__init__(given)
        self.defaults: dict[str, str | None] = {}
        self.used: set[str] = set()

    def __contains__(self, name: object) -> bool:
        """xacro asks this for each ``<xacro:arg>``, and sets the default of names that are not there."""
        known = super().__contains__(name)
        self.defaults.setdefault(str(name), None)
        return known

    def __setitem__(self, name: str, value: str) -> None:
        self.defaults[name] = value
        super().__setitem__(name, value)

    def __getitem__(self, name: str) -> str:
        self.used.add(name)
        return super().__getitem__(name)


def expand(file: str, arguments: Arguments, packages: Packages) -> str:
    """Returns the expanded XML text of a xacro file.

    Raises:
        xacro.XacroException: an error in the xacro file.
        ExpatError: the file or an included one is not well-formed.
        MachineError: the file or an included one holds a document type declaration.
    """
    read = xacro.parse

    def read_guarded(text: str | None, filename: str | None = None) -> Document:
        if filename is not None and Path(filename).is_file():
            refuse_declarations(Path(filename).read_bytes(), filename)
        return read(text, filename)

    xacro.parse = read_guarded
    xacro.substitution_args._eval_find = lambda package: str(packages.folder(package))
    return xacro.process_file(file, mappings=arguments).toprettyxml(indent="  ")


def main() -> int:
    """Runs the worker; returns its exit status."""
    _limit(resource.RLIMIT_AS, MEMORY_MAX)
    request = json.load(sys.stdin)
    _limit(resource.RLIMIT_CPU, request["seconds"])
    arguments = Arguments(request["arguments"])
    try:
        packages = Packages(request["near"], request["packages"])
        expanded = expand(request["file"], arguments, packages)
    except ExpatError as error:
        unbound = error.code == errors.codes[errors.XML_ERROR_UNBOUND_PREFIX]
        remedy = '; add xmlns:xacro="http://www.ros.org/wiki/xacro" to its <robot>' if unbound else ""
        return _fail(f"not well-formed XML: {error}{remedy}")
    except MemoryError:
        return _fail(f"it needs more than {MEMORY_MAX >> 30} GiB of memory")
    except RecursionError:
        return _fail("a macro, property or include uses itself without end")
    except MachineError as error:
        return _fail(str(error))
    except xacro.XacroException as error:
        return _fail(_problem(error, arguments))
    answer = {"text": expanded, "defaults": arguments.defaults, "used": sorted(arguments.used)}
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))
    return 0


def _limit(kind: int, most: int) -> None:
    """Limits a resource, where the process has no lower limit already."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _problem(error: xacro.XacroException, arguments: Arguments) -> str:
    if isinstance(error.exc, PackageNotFoundError):
        return str(error.exc)
    if isinstance(error.exc, ArgException):
        declared = ", ".join(f"{name} = '{default}'" for name, default in arguments.defaults.items()) or "none"
        return f"the argument {error.exc} has no value here: give {error.exc}:=VALUE; declared before: {declared[:200]}"
    if isinstance(error.exc, OSError) and error.exc.filename is not None:
        _, uri, path = str(error.exc.filename).partition("package://")
        name, _, rest = path.partition("/")
        remedy = f": xacro does not read {uri}; write $(find {name})/{rest}" if uri else ""
        return f"{error.exc.filename}: {error.exc.strerror}{remedy}"
    return f"{error} ({type(error.exc).__name__})" if error.exc else str(error)


def _fail(problem: str) -> int:
    print(problem, file=sys.stderr)
    # The stack of macros and files.
    xacro.print_location()
    return 1


if __name__ == "__main__":
    sys.exit(main())
