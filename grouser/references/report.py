"""One HTML page on many experiments: verdicts first, then each with its sources, table and plot."""

import base64
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grouser.references.comparison import Comparison
from grouser.references.data import References
from grouser.references.words import cells, headings, summary

_STYLE = """
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 0.7em 0; } td, th { padding: 0.15em 0.7em; text-align: left; }
tr { border-bottom: 1px solid #ddd; } img { max-width: 100%; } .bad { color: #b00; font-weight: bold; }
.good { color: #060; } .note { color: #555; }
"""


@dataclass(frozen=True)
class Section:
    """One run.

    Attributes:
        experiment: its name.
        description: of the experiment.
        case: name of the case, or an empty text.
        parameters: those of the run that differ from the defaults.
        references: what it is compared with; None where there are none.
        comparisons: with them.
        picture: the plot as a PNG file; empty where the run failed.
        seconds: what it took [s].
        failure: message of an error that ended the run, or an empty text.
    """

    experiment: str
    description: str
    case: str
    parameters: Mapping[str, Any]
    references: References | None
    comparisons: Sequence[Comparison]
    picture: bytes
    seconds: float
    failure: str = ""

    @property
    def agrees(self) -> bool:
        """Whether it ran and all that was compared agrees, which has to be something."""
        return not self.failure and bool(self.comparisons) and all(item.agrees for item in self.comparisons)

    @property
    def verdict(self) -> str:
        """In words."""
        return f"failed: {self.failure}" if self.failure else summary(self.comparisons)


def report_page(sections: Sequence[Section], heading: str) -> str:
    """Returns the page.

    Args:
        sections: in their order.
        heading: version and date, for the first line.
    """
    wrong = sum(not section.agrees for section in sections)
    total = f"{len(sections) - wrong} of {len(sections)} runs agree with their references"
    rows = "".join(
        f'<tr><td><a href="#{_anchor(section)}">{html.escape(_title(section))}</a></td>'
        f'<td class="{"good" if section.agrees else "bad"}">{html.escape(section.verdict)}</td>'
        f"<td>{section.seconds:.1f} s</td></tr>\n"
        for section in sections
    )
    parts = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Reproduced results</title>",
        f"<style>{_STYLE}</style></head><body>\n<h1>Reproduced results</h1>\n<p>{html.escape(heading)}</p>",
        f"<p class='{'bad' if wrong else 'good'}'>{total}</p>\n<table>\n"
        f"<tr><th>run</th><th>verdict</th><th>time</th></tr>\n{rows}</table>",
        *(_section(section) for section in sections),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _title(section: Section) -> str:
    return f"{section.experiment}, {section.case}" if section.case else section.experiment


def _anchor(section: Section) -> str:
    return f"{section.experiment}-{section.case}"


def _section(section: Section) -> str:
    parts = [f'<h2 id="{_anchor(section)}">{html.escape(_title(section))}</h2>']
    parts.append(f"<p>{html.escape(section.description)}</p>")
    if section.parameters:
        given = ", ".join(f"{name} = {value}" for name, value in section.parameters.items())
        parts.append(f"<p class='note'>Parameters: {html.escape(given)}</p>")
    if section.references is not None:
        parts.append(
            f"<p class='note'>{section.references.heading.capitalize()}: {html.escape(section.references.source)}</p>"
        )
        if section.references.standing:
            parts.append(f"<p class='note'>{html.escape(section.references.standing)}</p>")
    parts.append(f"<p class='{'good' if section.agrees else 'bad'}'>{html.escape(section.verdict)}</p>")
    if section.comparisons and section.references is not None:
        names = "".join(f"<th>{name}</th>" for name in headings(section.references.heading))
        lines = "".join(
            f"<tr{'' if item.agrees else ' class=bad'}>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells(item))
            + "</tr>\n"
            for item in section.comparisons
        )
        parts.append(f"<table>\n<tr>{names}</tr>\n{lines}</table>")
    if section.picture:
        picture = base64.b64encode(section.picture).decode("ascii")
        parts.append(f"<img alt='plot of {html.escape(_title(section))}' src='data:image/png;base64,{picture}'>")
    return "\n".join(parts)
