"""Graphs in graphviz' language DOT, laid out and drawn as SVG."""

import shutil
import subprocess

from grouser.physics.base.errors import ParameterError


def svg_of(dot: str) -> str:
    """Draws a graph, by the program `dot` where there is one, else by the library that pygraphviz brings.

    Args:
        dot: the graph.

    Returns:
        The SVG.

    Raises:
        ParameterError: there is neither.
    """
    if program := shutil.which("dot"):
        result = subprocess.run([program, "-Tsvg"], input=dot.encode(), capture_output=True, check=True)
        return result.stdout.decode()
    try:
        from pygraphviz import AGraph
    except ImportError as error:
        remedy = "to draw it needs graphviz: sudo apt install graphviz; a file of DOT text, circuit.dot, does without"
        raise ParameterError("output", "an SVG", remedy) from error
    return AGraph(string=dot).draw(format="svg", prog="dot").decode()
