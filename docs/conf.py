"""Sphinx's settings of the documentation site, for `make docs`.

The pages are plain Markdown, as GitHub shows them too. What a site needs beyond that is added here: the tree of
contents, from the links of the index pages, and the descriptions of the Python interface, from its docstrings.
"""

import inspect
import re

import grouser

project = "grouser"
author = "The grouser developers"
project_copyright = author
version = release = grouser.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4  # as GitHub makes them
nb_execution_mode = "off"  # notebooks have their outputs (tooling/notebooks.py)

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say units and shapes
autodoc_class_signature = "mixed"
napoleon_use_ivar = True  # attributes of data classes: their docstrings have the units

html_theme = "furo"
html_title = "grouser"
html_show_copyright = False

# Pages whose links are the tree of contents, from its root.
INDEX_PAGES = ("index", "tutorials", "how_to", "reference", "explanation", "maintainers")
_LINK = re.compile(r"^(?:[-*] |\| )\[[^\]]+\]\(([\w/]+)\.(?:md|ipynb)\)", re.MULTILINE)


def contents(text: str) -> list[str]:
    """Pages that an index page lists: the links at the beginning of its list items and rows of tables."""
    return list(dict.fromkeys(_LINK.findall(text)))


def _add_contents(app, name: str, source: list[str]) -> None:
    if name in INDEX_PAGES:
        source[0] += "\n".join(["\n\n```{toctree}", ":hidden:", "", *contents(source[0]), "```", ""])


def _add_descriptions(app, name: str, source: list[str]) -> None:
    if name == "python_api":
        source[0] += "\n## Descriptions\n"
        for public in grouser.__all__:
            if public != "__version__":
                source[0] += f"\n### {public}\n\n```{{eval-rst}}\n{_directive(public)}\n```\n"


def _directive(name: str) -> str:
    described = getattr(grouser, name)
    if not inspect.isclass(described):
        return f".. autofunction:: grouser.{name}"
    return f".. autoclass:: grouser.{name}\n   :members:\n   :show-inheritance:"


def setup(app) -> None:
    """Called by Sphinx: adds contents and descriptions to pages that it reads."""
    app.connect("source-read", _add_contents)
    app.connect("source-read", _add_descriptions)
