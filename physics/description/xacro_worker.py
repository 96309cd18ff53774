"""Expands one xacro file; run as a process of its own by `expand`.

A xacro file is a program: it may recurse without end, call ``sys.exit`` or ask for all memory, and the library keeps
its state in globals. In its own process none of that reaches the simulator.

Reads ``{"file": path, "arguments": {name: value}}`` as JSON from standard input; writes the XML to standard output,
or a message to standard error and exit status 1.
"""

import json
import resource
import sys
from pathlib import Path
from xml.dom.minidom import Document
from xml.parsers.expat import ExpatError

import xacro
import xacro.substitution_args

from grouser.physics.base.errors import MachineError
from grouser.physics.description.text.files import package_directory
from grouser.physics.description.text.xml_tree import refuse_declarations

MEMORY_MAX = 2 << 30


def expand(file: str, arguments: dict[str, str]) -> str:
    """Returns the expanded XML text of a xacro file.

    Raises:
        xacro.XacroException: as the library finds fault.
        ExpatError: the file or an included one is not well-formed.
        MachineError: the file or an included one holds a document type declaration.
    """
    read = xacro.parse

    def read_guarded(text: str | None, filename: str | None = None) -> Document:
        if filename is not None and Path(filename).is_file():
            refuse_declarations(Path(filename).read_bytes(), filename)
        return read(text, filename)

    def find_package(package: str) -> str:
        directory = package_directory(package, Path(file).absolute())
        if directory is None:
            raise LookupError(
                f"package '{package}' is not found in the ament index, in ROS_PACKAGE_PATH or around the file"
            )
        return str(directory)

    xacro.parse = read_guarded
    xacro.substitution_args._eval_find = find_package
    return xacro.process_file(file, mappings=arguments).toprettyxml(indent="  ")


def main() -> int:
    """Runs the worker; returns its exit status."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_MAX if hard == resource.RLIM_INFINITY else min(MEMORY_MAX, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    request = json.load(sys.stdin)
    try:
        expanded = expand(request["file"], request["arguments"]).encode("utf-8")
    except ExpatError as error:
        return _fail(f"not well-formed XML: {error}")
    except MemoryError:
        return _fail(f"it needs more than {MEMORY_MAX >> 30} GiB of memory")
    except RecursionError:
        return _fail("a macro, property or include uses itself without end")
    except MachineError as error:
        return _fail(str(error))
    except xacro.XacroException as error:
        return _fail(f"{error} ({type(error.exc).__name__})" if error.exc else str(error))
    sys.stdout.buffer.write(expanded)
    return 0


def _fail(problem: str) -> int:
    print(problem, file=sys.stderr)
    # The chain of macros and files that led there.
    xacro.print_location()
    return 1


if __name__ == "__main__":
    sys.exit(main())
