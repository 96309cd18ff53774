"""Graphs in graphviz' language DOT, laid out and drawn as SVG."""

import shutil
import subprocess

from grouser.physics.base.errors import ParameterError


def svg_of(dot: str) -> str:
    """Draws a graph with the program `dot`, or where it is missing with the library in pygraphviz.

    Args:
        dot: the graph.

    Returns:
        The SVG.

    Raises:
        ParameterError: both are missing.
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
