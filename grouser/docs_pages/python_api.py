"""Writes docs/python_api.md from the public names of the package.

python -m grouser.docs_pages.python_api > docs/python_api.md
"""

import inspect
import sys

import grouser

_INTRODUCTION = """# Names of the Python package

`grouser.__all__`: what `import grouser` has. Units are SI where a description names no other. [python.md](python.md)
shows how they are used; on the documentation site (`make docs`) the description of each name, with its methods and
attributes, follows the table, and `help(grouser.Simulation)` prints the same.

This page is made from the package: `python -m grouser.docs_pages.python_api > docs/python_api.md`.

| name | kind | what it is |
|---|---|---|"""


def python_api_page() -> str:
    """Returns the text of docs/python_api.md."""
    rows = [f"| `{name}` | {_kind(name)} | {_summary(name)} |" for name in grouser.__all__ if name != "__version__"]
    return "\n".join([_INTRODUCTION, *rows, "| `__version__` | text | version of the package |", ""])


def _kind(name: str) -> str:
    value = getattr(grouser, name)
    if not inspect.isclass(value):
        return "function"
    return "error" if issubclass(value, Exception) else "class"


def _summary(name: str) -> str:
    """First sentence of a name's docstring."""
    paragraph = " ".join((inspect.getdoc(getattr(grouser, name)) or "").split("\n\n")[0].split())
    return paragraph.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.stdout.write(python_api_page())
