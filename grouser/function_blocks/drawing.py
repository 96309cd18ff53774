"""A diagram as a picture, by graphviz: what is wired to what, from the measurements on the left to the commands."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from grouser.function_blocks.diagram import Constant, Diagram, Wire
from grouser.physics.base.errors import ParameterError

ENDINGS = ("svg", "png", "pdf", "dot")
_WAIT_MAX = 60.0  # [s]


def dot_text(diagram: Diagram) -> str:
    """The diagram in the language of graphviz."""
    lines = [
        "digraph {",
        "  rankdir=LR; nodesep=0.15; ranksep=0.7;",
        '  node [fontname="sans-serif", fontsize=10, shape=plain]; edge [arrowsize=0.5];',
    ]
    outside = dict[str, None]()
    for name, placed in diagram.blocks.items():
        block = placed.block
        inputs = {one: f" = {wire}" if isinstance(wire, Constant) else "" for one, wire in placed.wires.items()}
        lines.append(f"  {_quoted(f'block {name}')} [label={_table(name, block.type, inputs, tuple(block.outputs))}];")
        lines += _edges(diagram, f"block {name}", placed.wires, outside)
    for actuator, wire in diagram.commands.items():
        target = f"command {actuator}"
        lines.append(f"  {_quoted(target)} [label={_quoted(actuator)}, shape=rarrow, margin=0.1];")
        lines += _edges(diagram, target, {"": wire}, outside)
    lines += [f"  {_quoted(one)} [shape=rarrow, style=dashed, margin=0.1];" for one in outside]
    return "\n".join([*lines, "}"]) + "\n"


def draw(diagram: Diagram, file: str | Path) -> None:
    """Writes a picture: svg, png, pdf, or dot for graphviz.

    Raises:
        ParameterError: another ending, or graphviz is not there.
    """
    path = Path(file)
    ending = path.suffix.lower()[1:]
    if ending not in ENDINGS:
        raise ParameterError("file", str(file), f"a name that ends in {', '.join(ENDINGS)}")
    text = dot_text(diagram)
    if ending == "dot":
        path.write_text(text, encoding="utf-8")
        return
    program = shutil.which("dot")
    if program is None:
        raise ParameterError(
            "file", str(file), "a name that ends in dot, as graphviz is not there: apt install graphviz"
        )
    done = subprocess.run(
        [program, f"-T{ending}", "-o", str(path)],
        input=text,
        capture_output=True,
        text=True,
        timeout=_WAIT_MAX,
        check=False,
    )
    if done.returncode != 0:
        raise ParameterError("file", str(file), f"what graphviz can write: {done.stderr.strip()[:200]}")


def _edges(diagram: Diagram, target: str, wires: Mapping[str, Wire], outside: dict[str, None]) -> list[str]:
    lines = []
    for port, wire in wires.items():
        end = f"{_quoted(target)}:{_quoted(f'in {port}')}:w" if port else _quoted(target)
        if isinstance(wire, Constant):
            continue
        first, _, output = wire.partition(".")
        if first in diagram.blocks:
            block = diagram.blocks[first].block
            source = f"{_quoted(f'block {first}')}:{_quoted(f'out {output or next(iter(block.outputs))}')}:e"
            style = " [style=dashed]" if block.delayed else ""
        else:
            outside[wire] = None
            source, style = _quoted(wire), ""
        lines.append(f"  {source} -> {end}{style};")
    return lines


def _table(name: str, kind: str, inputs: Mapping[str, str], outputs: tuple[str, ...]) -> str:
    """Name and type above, ports below: inputs on the left, outputs on the right."""
    rows = []
    left = list(inputs.items())
    for number in range(max(len(left), len(outputs))):
        here = left[number] if number < len(left) else None
        there = outputs[number] if number < len(outputs) else None
        one = f'<td port="in {here[0]}" align="left">{_escaped(here[0] + here[1])}</td>' if here else "<td></td>"
        other = f'<td port="out {there}" align="right">{_escaped(there)}</td>' if there else "<td></td>"
        rows.append(f"<tr>{one}{other}</tr>")
    head = f'<tr><td colspan="2"><b>{_escaped(name)}</b></td></tr><tr><td colspan="2">{_escaped(kind)}</td></tr>'
    return f'<<table border="1" cellborder="0" cellspacing="2">{head}{"".join(rows)}</table>>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
